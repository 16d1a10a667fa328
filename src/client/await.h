// Await: the one way to wait for a call's answer, for code that has nothing else to do meanwhile:
// `-p`, the verbs of the command line, tests. A face that hears keys or a client uses its Inbox.
//
// Never on a thread that answers. Every call has a deadline of its own, so the wait ends.
#pragma once

#include <future>
#include <memory>
#include <tuple>
#include <utility>

#include "client/reply.h"

namespace stet::client {

/// Await(session, &LiveSession::Send, send): calls it and waits for what it replies.
template <class Object, class Interface, class... Params, class... Arguments>
auto Await(Object& object, void (Interface::*call)(Params...), Arguments&&... arguments) {
  using ReplyOf = std::tuple_element_t<sizeof...(Params) - 1, std::tuple<Params...>>;
  using Answer = Result<typename ReplyOf::Value>;
  // The answering side may still be inside set_value when this returns: it holds the promise, too.
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = promise->get_future();
  (object.*call)(std::forward<Arguments>(arguments)...,
                 ReplyOf([promise](Answer answer) { promise->set_value(std::move(answer)); }));
  return future.get();
}

}  // namespace stet::client
