// JsonLines: one side of JSON-RPC 2.0 over lines: cuts bytes into messages, hands requests of the
// other side to its handlers, and hands answers to the callers of Ask. It knows no descriptor and
// no method: bytes are fed to it, and lines that it writes are handed out.
//
// Feed and Finish are for one thread, on which handlers and answers are called; everything else is
// for any thread. Each request is answered once: by the other side, or with why it was not.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/line_cutter.h"
#include "base/loop.h"
#include "rpc/json/rpc.h"

namespace stet::rpc {

struct JsonLinesOptions {
  std::size_t max_line = std::size_t{1} << 20;
  std::size_t max_waiting = 1024;  // Requests of ours; more are refused with kBusy.
  Reading reading = Reading::kStrict;
  /// Before the number of a request of ours: its id is then a string, which is not taken for an id
  /// of the other side. Empty: the number alone. Letters, digits and - only.
  std::string_view id_prefix = {};
};

class JsonLines {
 public:
  /// kInvalid with the other side's words when it answers with an error.
  using Done = std::function<void(Result<Raw>)>;

  struct Handlers {
    /// To be answered once with Reply or Refuse, now or later.
    std::function<void(Request)> asked;
    std::function<void(Notification)> told;
    /// What is no message; the handler may answer it. `too_long`: a line without an end.
    std::function<void(const Fault&, bool too_long)> fault;
  };

  /// `write` takes a line without its end, from any thread.
  JsonLines(JsonLinesOptions options, Handlers handlers, std::function<void(std::string)> write)
      : options_(options),
        handlers_(std::move(handlers)),
        write_(std::move(write)),
        cutter_(options.max_line) {}
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  void Feed(std::string_view bytes);
  /// The input has ended: what is left is a line, too.
  void Finish();

  /// Gives the request's number, for Drop. When the request cannot be sent, calls `done` before it
  /// returns and gives 0.
  std::int64_t Ask(std::string_view method, const Raw& params, Done done);
  /// The same, waited for on `loop`. kTimeout, kCancelled; the answer is then passed over.
  Async<Result<Raw>> Await(Loop& loop, std::string method, Raw params,
                           std::chrono::milliseconds timeout, CancelToken cancel);
  /// Stops waiting for an answer. False when it came already, or there is no such request.
  bool Drop(std::int64_t number);
  /// A request's id, as JSON.
  [[nodiscard]] Raw IdOf(std::int64_t number) const;
  void Tell(std::string_view method, const Raw& params);

  void Reply(const Raw& id, std::string_view result);
  /// `data` is a JSON value; empty: none.
  void Refuse(const Raw& id, std::int64_t code, std::string_view message,
              std::string_view data = "");

  /// Nothing more is read or asked: callers that wait, or ask from now on, get `why`.
  void End(const Error& why);

 private:
  void TakeLine(std::optional<std::string_view> line);
  void TakeResponse(const Response& response);
  [[nodiscard]] bool ended();

  const JsonLinesOptions options_;
  const Handlers handlers_;
  const std::function<void(std::string)> write_;
  LineCutter cutter_;
  bool told_long_ = false;  // Of the line that comes now.
  std::mutex mutex_;
  std::int64_t last_ = 0;
  std::map<std::int64_t, Done> waiting_;
  std::optional<Error> end_;
};

}  // namespace stet::rpc
