// RequestFacts: what the emulator needs to know of a model request, whatever its dialect.
//
// Reading takes any bytes: what is missing or of a wrong kind is absent. The facts hold a view of
// the body, which must outlive them.
#pragma once

#include <string>
#include <string_view>

#include "emulator/script.h"

namespace stet::emulator {

struct RequestFacts {
  Dialect dialect = Dialect::kAnthropicMessages;
  std::string model;
  bool stream = false;
  bool include_usage = false;
  bool has_tool_result = false;  // After the last thing the model said.
  std::string last_user;         // The texts of the last user message that has any.
  std::string stop_sequence;     // The first one.
  std::string_view body;
};

/// The dialect that is spoken at `path` (without its query), if any.
std::optional<Dialect> DialectAt(std::string_view path);

/// `target` is the path with its query.
RequestFacts ReadFacts(Dialect dialect, std::string_view target, std::string_view body);

/// Why `when` does not hold for the `call`-th request; empty when it does.
std::string Mismatch(const When& when, const RequestFacts& facts, std::int64_t call);

}  // namespace stet::emulator
