// A conversation at a terminal with the real program.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "emulator/emulator.h"
#include "tests/scenario/program.h"
#include "tests/scenario/pty.h"

namespace stet::scenario {

class InteractiveTest : public testing::Test {
 protected:
  InteractiveTest() { Write("README.md", "# hello\nint main is here\n"); }

  void Write(const std::string& name, std::string_view text) const {
    EXPECT_TRUE(ReplaceFile(program_.work() + "/" + name, text, Durable::kNo));
  }
  [[nodiscard]] std::string Read(const std::string& name) const {
    return ReadFile(program_.work() + "/" + name).value_or("(none)");
  }

  /// A scripted model is asked from now on.
  void Script(std::string_view script) {
    auto started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
                                emulator_->base_url() + "'\n" + more_settings_,
                            Durable::kNo));
  }

  [[nodiscard]] std::vector<std::string> Environment() const {
    return {"STET_HOME=" + program_.home(),
            "STET_IN_SANDBOX=1",  // Tests may run as root.
            std::string("PATH=") + std::getenv("PATH"),
            "TERM=xterm-256color",
            "TZ=UTC",
            "LC_ALL=C.UTF-8",
            "HOME=" + program_.work()};
  }

  std::unique_ptr<Pty> Start(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), std::getenv("STET_BIN"));
    auto pty = std::make_unique<Pty>(arguments, program_.work(), Environment());
    return pty;
  }
  /// Started, and the prompt is there.
  std::unique_ptr<Pty> Ready(std::vector<std::string> arguments = {}) const {
    std::unique_ptr<Pty> pty = Start(std::move(arguments));
    EXPECT_TRUE(pty->Shows("/help"));
    EXPECT_TRUE(pty->CursorRowIs(">", 2));
    return pty;
  }
  /// Leaves in order; the exit code is 0.
  static void Quit(Pty& pty) {
    pty.Type("\x04");
    EXPECT_EQ(pty.Exit(), 0) << pty.screen().Text();
  }

  Program program_;
  std::string more_settings_;
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace stet::scenario
