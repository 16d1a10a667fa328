// RunningEmulator: `stet emulator` as a process of its own, from construction to destruction.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "emulator/raw_client_fixture.h"

namespace stet::scenario {

inline constexpr std::chrono::seconds kPatience{30};

/// `stet emulator`, running.
class RunningEmulator {
 public:
  explicit RunningEmulator(std::string_view script, std::vector<std::string> more = {}) {
    const std::string path = dir_.Sub("script.json");
    EXPECT_TRUE(ReplaceFile(path, script, Durable::kNo));
    SpawnOptions options;
    options.argv = {
        std::getenv("STET_BIN"), "emulator",      "--script", path, "--record", record(),
        "--port-file",           dir_.Sub("port")};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    Result<Subprocess> started = Subprocess::Start(std::move(options));
    EXPECT_TRUE(started) << started.error().Text();
    process_.emplace(*std::move(started));
    AwaitPort();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string base_url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  [[nodiscard]] std::string record() const { return dir_.Sub("record.jsonl"); }

  void SetScript(std::string_view script) const {
    emulator::RawClient client(port_);
    client.Request("POST", "/emulator/script", script);
    EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 200 ")) << script;
  }

  [[nodiscard]] std::string Ask(const emulator::Endpoint& endpoint) const {
    emulator::RawClient client(port_);
    client.Post(endpoint);
    return client.ReadAnswer();
  }

  [[nodiscard]] std::string Requests() const {
    emulator::RawClient client(port_);
    client.Request("GET", "/emulator/requests", "");
    return emulator::RawClient::BodyOf(client.ReadAnswer());
  }

  /// Sends `signal` and gives the exit code and the output.
  Finished End(int signal) {
    process_->Kill(signal);
    const Deadline deadline = Deadline::After(kPatience);
    while (!process_->Reap() && !deadline.Passed()) {
      pollfd one{.fd = process_->pidfd(), .events = POLLIN, .revents = 0};
      ::poll(&one, 1, deadline.PollTimeout());
    }
    process_->ReadOutput();
    return process_->TakeFinished();
  }

 private:
  /// The port file appears before the line on standard output, which we wait for.
  void AwaitPort() {
    pollfd one{.fd = process_->stdout_fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&one, 1, Deadline::After(kPatience).PollTimeout()), 1);
    const Result<std::string> text = ReadFile(dir_.Sub("port"));
    ASSERT_TRUE(text) << text.error().Text();
    port_ = static_cast<std::uint16_t>(std::stoi(*text));
  }

  TempDir dir_;
  std::optional<Subprocess> process_;
  std::uint16_t port_ = 0;
};

}  // namespace stet::scenario
