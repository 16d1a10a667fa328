// Asked: a request of the client's, which is answered exactly once.
//
// Answering, and destroying it, is for any thread.
#pragma once

#include <string_view>
#include <utility>

#include "acp/message.h"
#include "json/view.h"

namespace stet::acp {

class Asked {
 public:
  /// `line` outlives it.
  Asked(rpc::JsonLines& line, Request request) : line_(&line), request_(std::move(request)) {}
  /// What was not answered is refused: the session, or the connection, has ended.
  ~Asked() { Refuse(Error(Code::kCancelled, "it was given up: the session or the input ended")); }
  Asked(Asked&& from) noexcept
      : line_(std::exchange(from.line_, nullptr)), request_(std::move(from.request_)) {}
  Asked& operator=(Asked&& from) noexcept {
    std::swap(line_, from.line_);
    std::swap(request_, from.request_);
    return *this;
  }

  [[nodiscard]] const Raw& id() const { return request_.id; }
  [[nodiscard]] JsonView params() const { return JsonView(request_.params.text); }

  // Answered once: what comes later is passed over.

  /// `result` is a JSON value.
  void Answer(std::string_view result) {
    if (rpc::JsonLines* line = std::exchange(line_, nullptr)) line->Reply(request_.id, result);
  }
  void Refuse(const Error& error) {
    if (rpc::JsonLines* line = std::exchange(line_, nullptr)) RefuseWith(*line, request_.id, error);
  }

 private:
  rpc::JsonLines* line_;  // Null: it was answered.
  Request request_;
};

}  // namespace stet::acp
