// An editor as tests have it: texts that it has open, what it was asked to write, and a terminal in
// which commands really run.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/fs.h"
#include "base/loop.h"
#include "base/subprocess/subprocess.h"
#include "tool/editor.h"

namespace stet::tool {

class FakeEditor final : public Editor {
 public:
  [[nodiscard]] bool reads() const override { return can_read; }
  [[nodiscard]] bool writes() const override { return can_write; }
  [[nodiscard]] bool runs() const override { return can_run; }

  Async<Result<std::string>> Read(std::string path, CancelToken) override {
    asked.push_back("read " + path);
    if (read_error) co_return std::unexpected(*read_error);
    if (on_read) on_read();
    const auto open = texts.find(path);
    if (open != texts.end()) co_return open->second;
    co_return ReadFile(path);
  }
  /// As an editor does: into its text, and to the disk.
  Async<Status> Write(std::string path, std::string text, CancelToken) override {
    asked.push_back("write " + path);
    if (write_error) co_return std::unexpected(*write_error);
    texts[path] = text;
    co_return ReplaceFile(path, text, Durable::kNo);
  }

  Async<Result<std::string>> OpenTerminal(TerminalCommand command) override {
    commands.push_back(command);
    if (open_error) co_return std::unexpected(*open_error);
    co_return "term_1";
  }
  Async<Result<TerminalEnd>> AwaitTerminal(std::string, std::chrono::milliseconds within,
                                           CancelToken cancel) override {
    waits.push_back(within);
    if (on_wait) on_wait();
    if (cancel.cancelled()) co_return Fail(Code::kCancelled, "cancelled");
    if (wait_error) co_return std::unexpected(*std::exchange(wait_error, std::nullopt));
    co_return end;
  }
  Async<Result<TerminalOutput>> ReadTerminal(std::string) override { co_return output; }
  Async<Status> KillTerminal(std::string id) override {
    asked.push_back("kill " + id);
    co_return Status();
  }
  void ReleaseTerminal(const std::string& id) override { asked.push_back("release " + id); }

  bool can_read = true;
  bool can_write = true;
  bool can_run = false;
  std::map<std::string, std::string> texts;  // Not saved, by path.
  std::optional<Error> read_error;
  std::optional<Error> write_error;
  std::optional<Error> open_error;
  std::optional<Error> wait_error;  // The next time.
  std::function<void()> on_read;
  std::function<void()> on_wait;
  TerminalEnd end{.exit_code = 0, .signal = ""};
  TerminalOutput output;
  std::vector<std::string> asked;
  std::vector<TerminalCommand> commands;
  std::vector<std::chrono::milliseconds> waits;
};

}  // namespace stet::tool
