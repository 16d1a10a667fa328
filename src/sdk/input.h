// What a program that drives stet sends it, in stream-json: lines of JSON, and what they say. A
// line that makes no sense is an error with the reason.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "json/json.h"
#include "protocol/live.h"

namespace stet::sdk {

/// A longer line is dropped.
inline constexpr std::size_t kMaxInputLine = std::size_t{20} << 20;

/// The user says something to the model.
struct UserInput {
  protocol::Send send;
  bool starts_turn = true;  // False: it goes with the next one that does.
  std::string problem;      // Why it cannot be sent; empty: it can.
};

struct ControlRequest {
  std::string id;
  std::string subtype;
  Raw request;
};

/// The answer to a request of ours.
struct ControlResponse {
  std::string id;
  Raw response;
  std::optional<std::string> error;
};

/// Something that we need not know.
struct OtherInput {};

using Input = std::variant<UserInput, ControlRequest, ControlResponse, OtherInput>;

/// What a line says. kInvalid when it is no JSON object with a type, or lacks what its type needs.
Result<Input> ReadInput(std::string_view line);

}  // namespace stet::sdk
