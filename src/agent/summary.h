// Summaries: what a model makes of a conversation that no longer fits, or nothing when it fails.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"
#include "context/retelling.h"

namespace stet::agent {

struct SummaryWanted {
  std::string focus;  // What the user wants kept above all; may be empty.
  std::size_t max_bytes = 0;
  bool fits = true;  // The conversation itself still fits into the model's window.
  std::string purpose = "compaction";
};

struct Summary {
  std::string text;
  std::string model;  // The model that wrote it.
};

/// Asks the model for the summary of what `told` tells: at most twice. Nothing when there is none
/// that can be used: the model failed, refused, said nothing, repeated itself, or said what the
/// last summary said. Fails only when the log cannot be written.
Async<Result<std::optional<Summary>>> AskForSummary(Workbench& bench, const protocol::Stamp& stamp,
                                                    const context::Retelling& told,
                                                    SummaryWanted wanted, CancelToken cancel);

/// `reply` as a summary of at most `max_bytes`; empty when it is none.
std::string SummaryFrom(std::string_view reply, std::string_view earlier, std::size_t max_bytes);

}  // namespace stet::agent
