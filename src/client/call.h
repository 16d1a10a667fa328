// Call: one method of the wire, asked by its type. Everything that a client asks of a host in
// another process goes through here, so params and replies are encoded and decoded in one place.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "client/connection.h"
#include "protocol/method.h"

namespace stet::client {

struct CallOptions {
  std::chrono::milliseconds within{30'000};
  std::optional<bool> repeatable = {};  // Absent: as the method's table says.
};

template <protocol::IsMethod M>
using Replied = Result<typename M::Reply>;

template <protocol::IsMethod M>
Request RequestOf(const typename M::Params& params, const CallOptions& options) {
  return {.method = std::string(M::kInfo.name),
          .params = Encode(params),
          .repeatable = options.repeatable.value_or(M::kInfo.repeatable),
          .within = options.within};
}

/// kInvalid when the host's answer is no reply to M.
template <protocol::IsMethod M>
Replied<M> ReadReply(const Result<Raw>& answer) {
  if (!answer) return std::unexpected(answer.error());
  Replied<M> read = Decode<typename M::Reply>(answer->text);
  if (!read) return std::unexpected(std::move(read).error().While("reading the host's answer"));
  return read;
}

/// `done` hears the reply, once, never inside this call, with the guarantees of Connection::Ask.
template <protocol::IsMethod M>
void Call(Connection& connection, const typename M::Params& params, const CallOptions& options,
          std::function<void(Replied<M>)> done) {
  connection.Ask(
      RequestOf<M>(params, options),
      [done = std::move(done)](const Result<Raw>& answer) { done(ReadReply<M>(answer)); });
}

}  // namespace stet::client
