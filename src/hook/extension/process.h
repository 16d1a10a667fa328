// ExtensionProcess: an extension's program, which speaks JSON-RPC on its standard streams
// (rpc/json/lines.h).
//
// Started when it is first needed, and again after it has ended, with a growing wait between
// starts. Whatever it does, a request ends within its time: one that exits, hangs, talks nonsense,
// floods us or writes a line without an end is ended, and everything that waits for it fails.
// It runs under a guard (base/guard/guard.h): what it starts ends with it, and with us. Belongs to
// the session's lane, on its loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/fd.h"
#include "base/loop.h"
#include "base/subprocess/subprocess.h"
#include "json/json.h"
#include "rpc/json/lines.h"

namespace stet::hook {

struct ExtensionStart {
  std::vector<std::string> command;
  std::string folder;                    // It runs here.
  std::vector<std::string> environment;  // "K=V" each.
  std::chrono::milliseconds timeout{10'000};
};

class ExtensionProcess {
 public:
  /// Of one line, and of what waits to be read by it.
  static constexpr std::size_t kMaxLine = std::size_t{1} << 20;
  static constexpr std::size_t kMaxUnread = std::size_t{4} << 20;
  /// Of what it may write between two things that we tell it.
  static constexpr std::size_t kMaxUnasked = std::size_t{16} << 20;

  /// What it asks of us: gives the result, or an error. `told` hears for people what goes wrong.
  struct Listener {
    std::function<Result<Raw>(std::string_view method, const Raw& params)> asked;
    std::function<void(std::string text)> told;
    /// Asked first of every process; its result is not looked at.
    std::function<Raw()> activation;
  };

  ExtensionProcess(Loop& loop, ExtensionStart start, Listener listener);
  ~ExtensionProcess();
  ExtensionProcess(const ExtensionProcess&) = delete;
  ExtensionProcess& operator=(const ExtensionProcess&) = delete;

  /// The result of a request. kUnavailable when it cannot be started now or ends meanwhile,
  /// kTimeout (and it is ended), kCancelled, kInvalid with its own words when it answers with an
  /// error.
  Async<Result<Raw>> Ask(std::string method, Raw params, std::chrono::milliseconds timeout,
                         CancelToken cancel);
  /// Tells it something that has no answer; starts it if need be. What it does not read is dropped.
  void Tell(std::string_view method, const Raw& params);

  /// Asks it to end, and ends it.
  Async<void> Close();
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  Status Start();
  std::shared_ptr<rpc::JsonLines> MakeLine();
  void End(std::string_view why);
  void Write(const std::string& line);
  void Feed();
  void Read();

  Loop& loop_;
  ExtensionStart start_;
  Listener listener_;
  std::optional<Subprocess> process_;
  Fd in_;  // Copies: the process closes its own when they have come to their end.
  Fd out_;
  Fd err_;
  std::unique_ptr<FdWatch> watch_in_;
  std::unique_ptr<FdWatch> watch_out_;
  std::unique_ptr<FdWatch> watch_err_;
  std::unique_ptr<FdWatch> watch_exit_;
  std::shared_ptr<rpc::JsonLines> line_;  // Of the process that runs, or ran last.
  std::string unsent_;
  std::size_t unasked_ = 0;
  int failures_ = 0;  // In a row.
  std::chrono::steady_clock::time_point not_before_;
  bool closed_ = false;
};

}  // namespace stet::hook
