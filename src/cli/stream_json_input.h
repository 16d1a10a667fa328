// What a program that drives stet sends it, in stream-json: lines of JSON, and what they say.
//
// Everything here takes input as it comes: a line that makes no sense is an error with the reason,
// and memory is bounded by the longest line.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "protocol/live.h"

namespace stet::cli {

/// Cuts bytes into lines.
class LineCutter {
 public:
  /// A longer line is dropped.
  static constexpr std::size_t kMaxLine = std::size_t{20} << 20;

  /// Gets each line without its end; nothing in place of one that was too long.
  using Use = std::function<void(std::optional<std::string_view>)>;

  void Feed(std::string_view bytes, const Use& use);
  /// The input has ended: what is left is a line, too.
  void Finish(const Use& use);

 private:
  void Keep(std::string_view bytes);
  void End(const Use& use);

  std::string line_;
  bool too_long_ = false;
};

/// Somebody says something to the model.
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

}  // namespace stet::cli
