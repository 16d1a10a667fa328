// Plan: one answer, built whole before its first byte is sent: the bytes, how they are cut and
// paced, and what happens to the connection after them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/reply_wire/reply_wire.h"

namespace stet::emulator {

struct Plan {
  enum class After {
    kKeep,   // The connection serves the next request.
    kClose,  // It is closed in order.
    kReset,
    kHold,  // It stays open, silent, until the client leaves.
  };

  std::string bytes;              // With HTTP's own.
  std::vector<std::size_t> ends;  // Where each write ends; the last one is the end of `bytes`.
  int first_byte_ms = 0;
  int pause_ms = 0;
  After after = After::kKeep;
  std::string outcome = "sent";  // What the record says when all was sent.
  bool complete = false;         // The reply's own end is in it.
};

/// The plan of a scripted reply, with its fault.
Plan MakePlan(const Exchange& exchange, const Reply& reply);

/// An error answer that no reply scripted.
Plan MakeErrorPlan(const Exchange& exchange, const WireError& error);

/// An answer with a length: status, headers and body.
std::string HttpAnswer(int status, std::string_view content_type, std::string_view body,
                       const Headers& headers = {});

}  // namespace stet::emulator
