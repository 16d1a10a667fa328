// How a session hears the answers of its hold and of its files: for the files of acp/session.
#pragma once

#include <utility>

#include "acp/session/session.h"

namespace stet::acp {

/// Of a step of the opening: an error ends the opening, and a step that comes behind its end does
/// nothing.
template <class F>
auto Session::Step(F next) {
  return aside_.Then([this, next = std::move(next)](auto answer) mutable {
    if (opening_) next(std::move(answer));
  });
}

template <class F>
auto Session::Then(F next) {
  return inbox_.Then([this, next = std::move(next)](auto answer) mutable {
    if (life_ == Life::kOpen) next(std::move(answer));
  });
}

template <class F>
void Session::WithState(F next) {
  hold_->State(Then([this, next = std::move(next)](Result<protocol::LiveState> state) mutable {
    Status known = state ? Status() : Status(std::unexpected(state.error()));
    if (state) state_ = *std::move(state);
    next(std::move(known));
  }));
}

}  // namespace stet::acp
