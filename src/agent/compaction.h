// Compaction: what a model no longer has room for becomes a summary, and what is certain of it. A
// `compact` event says so; the old events stay in the log, and a rewind to before it takes it back.
//
// It always works: a summariser that fails, refuses, says nothing or repeats itself is replaced by
// what the log says without a model. At most two model calls; after three failures in a row the
// model is asked only when the user wants a compaction, until one by it succeeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"
#include "run/capsule/capsule.h"

namespace stet::agent {

struct ContextRules;

/// Why there is a compaction, as the log spells it.
namespace trigger {
inline constexpr std::string_view kManual = "manual";
inline constexpr std::string_view kAuto = "auto";
inline constexpr std::string_view kPredictive = "predictive";
inline constexpr std::string_view kReactive = "reactive";
}  // namespace trigger

struct CompactionWanted {
  std::string_view trigger;
  std::string focus;      // What the user wants kept above all; may be empty.
  bool smallest = false;  // Keep nothing and ask no model: the last one did not help.
  std::optional<std::string> client_message_id = {};  // Of the client that asked for it.
};

struct Compacted {
  std::int64_t tokens_before = 0;  // Of the whole request, estimated.
  std::int64_t tokens_after = 0;
  std::string source;  // model, memory or log: where the summary is from.
};

/// The lane is at rest or between two steps. Nothing when there is too little to leave out, when
/// hooks object, and when it is cancelled. Fails only when the log cannot be written.
Async<Result<std::optional<Compacted>>> Compact(Workbench& bench, const protocol::Stamp& stamp,
                                                CompactionWanted wanted, CancelToken cancel);

/// The state of the run as it would cross a compaction at the leaf; `trace_id` is the turn's. Reads
/// the files that were read in part.
run::Capsule CapsuleNow(const log::Log& log, const run::State& state, std::string trace_id);

/// How much room there is, in tokens.
struct Room {
  std::int64_t window = 0;
  std::int64_t fixed = 0;                        // Instructions and tools, estimated.
  std::int64_t threshold = 0;                    // From here on the conversation is compacted.
  std::int64_t most = 0;                         // Beyond it a reply has no room.
  [[nodiscard]] std::int64_t available() const;  // For the conversation, below the threshold.
};
Room RoomOf(const Workbench& bench);
/// How long a summary may be.
std::int64_t SummaryTokens(const Room& room);
/// The same of a model, without what is fixed.
Room RoomFor(const provider::Model& model, const ContextRules& rules);

/// Of the next request, as the conversation stands; the conversation is up to date.
std::int64_t TokensNow(const Workbench& bench);

}  // namespace stet::agent
