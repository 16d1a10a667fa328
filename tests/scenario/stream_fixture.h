// StreamTest: the real program in stream-json against the emulator, and a client that talks to it
// line by line.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "json/view.h"
#include "tests/scenario/program.h"

namespace stet::scenario {

/// A JSON line that keeps its text.
struct StreamLine {
  std::string text;
  [[nodiscard]] JsonView json() const { return JsonView(text); }
  [[nodiscard]] std::string type() const { return json()["type"].StringOr(""); }
};
using StreamLines = std::vector<StreamLine>;

/// The lines of a whole output; fails the test when one is torn or no JSON.
inline StreamLines LinesOf(std::string_view out) {
  EXPECT_TRUE(out.empty() || out.ends_with('\n')) << "the last line is torn";
  StreamLines lines;
  while (!out.empty()) {
    const std::size_t end = std::min(out.find('\n'), out.size());
    lines.push_back({std::string(out.substr(0, end))});
    EXPECT_TRUE(CheckJson(lines.back().text)) << lines.back().text;
    out.remove_prefix(std::min(end + 1, out.size()));
  }
  return lines;
}

inline StreamLines OfType(const StreamLines& lines, std::string_view type) {
  StreamLines some;
  for (const StreamLine& line : lines) {
    if (line.type() == type) some.push_back(line);
  }
  return some;
}

inline std::string UserLine(std::string_view text) {
  std::string content;
  AppendJsonString(content, text);
  return fmt::format(R"({{"type":"user","message":{{"role":"user","content":{}}}}})", content);
}

inline std::string RequestLine(std::string_view id, std::string_view request) {
  return fmt::format(R"({{"type":"control_request","request_id":"{}","request":{}}})", id, request);
}

inline std::string ResponseLine(std::string_view id, std::string_view response) {
  return fmt::format(
      R"({{"type":"control_response","response":{{"subtype":"success","request_id":"{}","response":{}}}}})",
      id, response);
}

/// The running program, and the client's side of its pipes.
class Talk {
 public:
  explicit Talk(SpawnOptions options) {
    std::signal(SIGPIPE, SIG_IGN);  // A program that has ended is an error of write(2).
    options.stdin_from = StdinFrom::kPipe;
    Result<Subprocess> started = Subprocess::Start(std::move(options));
    EXPECT_TRUE(started) << started.error().Text();
    if (started) process_.emplace(*std::move(started));
  }

  void Say(std::string_view line) {
    const std::string text = fmt::format("{}\n", line);
    std::size_t said = 0;
    while (said < text.size()) {
      pollfd one{.fd = process_->stdin_fd(), .events = POLLOUT, .revents = 0};
      ASSERT_EQ(::poll(&one, 1, Deadline::After(kPatience).PollTimeout()), 1)
          << line.substr(0, 200);
      const ssize_t done = ::write(one.fd, text.data() + said, text.size() - said);
      ASSERT_GT(done, 0) << line.substr(0, 200);
      said += static_cast<std::size_t>(done);
    }
  }
  void CloseInput() { process_->CloseInput(); }
  void Kill(int signal) { process_->Kill(signal); }
  /// The client does not read any more.
  void CloseOutput() {
    const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_GE(::dup2(nothing.get(), process_->stdout_fd()), 0);
  }

  /// The next line; fails the test when none comes.
  StreamLine Next() {
    const Deadline deadline = Deadline::After(kPatience);
    while (true) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        StreamLine line{buffer_.substr(0, end)};
        buffer_.erase(0, end + 1);
        EXPECT_TRUE(CheckJson(line.text)) << line.text;
        return line;
      }
      pollfd one{.fd = process_->stdout_fd(), .events = POLLIN, .revents = 0};
      char bytes[65536];
      const ssize_t got = ::poll(&one, 1, deadline.PollTimeout()) == 1
                              ? ::read(process_->stdout_fd(), bytes, sizeof bytes)
                              : 0;
      if (got <= 0) {
        process_->ReadOutput();
        ADD_FAILURE() << "no line came; before: " << buffer_ << process_->TakeFinished().err;
        return {"null"};
      }
      buffer_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  /// The next line of that type; those before it are passed over.
  StreamLine Next(std::string_view type) {
    while (true) {
      StreamLine line = Next();
      if (line.type() == type || testing::Test::HasFailure()) return line;
    }
  }
  /// The next thing that is asked, whose id is given.
  StreamLine NextAsk(std::string& id) {
    StreamLine line = Next("control_request");
    EXPECT_EQ(line.json()["request"]["subtype"].StringOr(""), "can_use_tool") << line.text;
    id = line.json()["request_id"].StringOr("");
    return line;
  }

  /// Closes its input and gives how it ended; `out` is what was not read before.
  Finished End() {
    CloseInput();
    const Deadline deadline = Deadline::After(kPatience);
    while (!process_->Reap() && !deadline.Passed()) {
      process_->ReadOutput();
      pollfd some[] = {{.fd = process_->pidfd(), .events = POLLIN, .revents = 0},
                       {.fd = process_->stdout_fd(), .events = POLLIN, .revents = 0}};
      ::poll(some, process_->stdout_fd() < 0 ? 1 : 2, deadline.PollTimeout());
    }
    process_->ReadOutput();
    Finished finished = process_->TakeFinished();
    finished.out = std::exchange(buffer_, "") + finished.out;
    return finished;
  }

 private:
  static constexpr std::chrono::seconds kPatience{60};

  std::optional<Subprocess> process_;
  std::string buffer_;
};

class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(ReplaceFile(project_ + "/README.md", "# hello\n", Durable::kNo));
  }

  /// The model answers as the script says.
  void Play(std::string_view script, const std::string& api = "anthropic-messages",
            const std::string& suffix = "") {
    Result<std::unique_ptr<emulator::Emulator>> started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='" + api + "'\nbaseUrl='" +
                                emulator_->base_url() + suffix + "'\nimages=true\n",
                            Durable::kNo));
  }

  [[nodiscard]] std::vector<std::string> Arguments(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--cwd", project_, "--output-format", "stream-json"});
    return more;
  }
  /// With a prompt, to its end.
  Ran Run(std::vector<std::string> more) { return program_.Run(Arguments(std::move(more))); }
  /// With these lines as its input.
  Ran Feed(const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--input-format", "stream-json"});
    return program_.Run(Arguments(std::move(more)), input);
  }
  Talk Start(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--input-format", "stream-json"});
    return Talk(program_.Options(Arguments(std::move(more))));
  }
  [[nodiscard]] bool Sound() const {
    return program_.Run({"sessions", "verify", "--all"}).exit_code == 0;
  }

  Program program_;
  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace stet::scenario
