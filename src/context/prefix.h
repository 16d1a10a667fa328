// Prefix: what is remembered of a request, and how far the next one begins with the same.
//
// A server that has read a prompt need not read it again as long as the next one begins with it. A
// Print keeps a hash of every part of a request in the order of the prompt; two prints tell where
// two requests begin to differ, and the events between them tell why. Pure values and functions;
// nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/log.h"
#include "provider/dialect.h"
#include "provider/model.h"

namespace stet::context {

struct PrintPart {
  std::uint64_t hash = 0;
  std::uint32_t size = 0;  // Bytes.
  provider::PartKind kind = provider::PartKind::kMessage;
  bool mark = false;

  /// Whether a server reads the same. Where the marks stand is no part of that.
  [[nodiscard]] bool Same(const PrintPart& other) const {
    return hash == other.hash && size == other.size && kind == other.kind;
  }
};

struct Print {
  std::string model;  // Full name.
  provider::Dialect dialect = provider::Dialect::kOffline;
  std::vector<PrintPart> parts;

  [[nodiscard]] std::int64_t bytes() const;
};

/// Costs one pass over the body.
Print PrintOf(const provider::Model& model, const provider::WireRequest& wire);

/// How many parts the two begin with in common.
std::size_t CommonParts(const std::vector<PrintPart>& one, const std::vector<PrintPart>& other);

struct Comparison {
  std::size_t equal_parts = 0;
  std::int64_t equal_bytes = 0;  // Of those parts.
  bool extends = false;          // All of the earlier request stands at the beginning of the later.
  /// Of the first part that differs, the earlier in the prompt of the two.
  provider::PartKind differs = provider::PartKind::kMessage;
};
Comparison Compare(const Print& before, const Print& after);

// Causes of a break, as the log names them.
namespace cause {
inline constexpr std::string_view kModel = "model";
inline constexpr std::string_view kEffort = "effort";
inline constexpr std::string_view kOutput = "output";
inline constexpr std::string_view kInstructions = "instructions";
inline constexpr std::string_view kToolChoice = "tool_choice";
inline constexpr std::string_view kCompaction = "compaction";
inline constexpr std::string_view kSnip = "snip";
inline constexpr std::string_view kReplacement = "replacement";
inline constexpr std::string_view kRewind = "rewind";
inline constexpr std::string_view kBranch = "branch";
inline constexpr std::string_view kDamage = "damage";
inline constexpr std::string_view kUnexplained = "unexplained";
}  // namespace cause

/// Why `after` does not extend `before`: what differs first; where the tools do, the cause of the
/// last `toolset` from the event `since` on; within the conversation, the last event from there on
/// that changes what a model is shown. Reads no event but that `toolset`.
std::string CauseOf(const Comparison& comparison, const log::Log& log, std::size_t since);

}  // namespace stet::context
