// ScriptedTest: the real program in a project of its own, with a scripted model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "tests/scenario/program.h"

namespace stet::scenario {

class ScriptedTest : public testing::Test {
 protected:
  ScriptedTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(MakeDirs(program_.home()));
  }

  /// `more` are settings beside the model's.
  void Script(std::string_view script, const std::string& more = "") {
    auto started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    Configure(more);
  }
  void Configure(const std::string& more) {
    const std::string model =
        "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
        emulator_->base_url() + "'\n";
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml", model + more, Durable::kNo));
  }

  Ran Stet(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--cwd", project_});
    return program_.Run(std::move(arguments));
  }
  std::string Request(std::size_t number) {
    const std::vector<emulator::RequestRecord> requests = emulator_->Requests();
    return number < requests.size() ? requests[number].body.text : "";
  }
  /// The logs of all sessions.
  std::string Log() {
    std::string all;
    const Result<std::vector<DirEntry>> sessions = ListDir(program_.home() + "/sessions");
    if (!sessions) {
      ADD_FAILURE() << sessions.error().Text();
      return all;
    }
    for (const DirEntry& session : *sessions)
      all += ReadFile(program_.SessionDir(session.name) + "/events.jsonl").value_or("");
    return all;
  }

  Program program_;
  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace stet::scenario
