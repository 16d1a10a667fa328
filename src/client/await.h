// Await: the one way to wait for a call's answer, for code that has nothing else to do meanwhile:
// `-p`, the verbs of the command line, tests. A face that hears keys or a client uses its Inbox.
//
// Never on a thread that answers. Every call has a deadline of its own, so the wait ends.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "client/reply.h"

namespace stet::client {

/// Set once, waited for by one other thread.
class Arrival {
 public:
  void Set();
  void Wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

/// Await(session, &LiveSession::Send, send): calls it and waits for what it replies.
template <class Object, class Interface, class... Params, class... Arguments>
auto Await(Object& object, void (Interface::*call)(Params...), Arguments&&... arguments) {
  using ReplyOf = std::tuple_element_t<sizeof...(Params) - 1, std::tuple<Params...>>;
  struct Answer : Arrival {
    std::optional<Result<typename ReplyOf::Value>> value;
  };
  // Shared: the answering side may still be inside Set when this returns.
  const auto answer = std::make_shared<Answer>();
  (object.*call)(std::forward<Arguments>(arguments)...,
                 ReplyOf([answer](Result<typename ReplyOf::Value> value) {
                   answer->value.emplace(std::move(value));
                   answer->Set();
                 }));
  answer->Wait();
  return *std::move(answer->value);
}

}  // namespace stet::client
