// ExpectCauses: fails the test when a session has a break of a cached prefix without a known
// cause.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "context/prefix.h"
#include "log/log.h"

namespace stet::test {

/// `dir` is the session's folder. A session that cannot be opened passes.
inline void ExpectCauses(const std::string& dir) {
  const Result<std::unique_ptr<log::Log>> log = log::Log::Open(dir, {.mode = log::Mode::kRead});
  if (!log) return;
  EXPECT_TRUE((*log)->Read(0, [&](const log::Entry& entry, std::string_view line) {
    if (entry.type != protocol::kTypeNumber<protocol::ModelCall>) return true;
    const Result<protocol::Event> event = protocol::DecodeEvent(line);
    if (!event) return true;
    const auto* call = std::get_if<protocol::ModelCall>(&event->payload);
    if (call == nullptr || !call->prefix) return true;
    EXPECT_NE(call->prefix->cause, context::cause::kUnexplained) << line;
    return true;
  }));
}

}  // namespace stet::test
