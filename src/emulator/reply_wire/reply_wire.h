// Wires: a scripted reply as the events that a real server of the dialect sends, and its errors.
//
// Pure functions: the same exchange and reply give the same bytes. Nothing here fails. One dialect
// a file, wire_*.cc; this header joins them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/events.h"
#include "emulator/script.h"

namespace stet::emulator {

inline constexpr std::string_view kJson = "application/json";
/// When every reply was made, as it says: the same bytes each time.
inline constexpr std::int64_t kCreated = 1'760'000'000;

/// What a reply needs to know of its request.
struct Exchange {
  Dialect dialect = Dialect::kAnthropicMessages;
  std::int64_t number = 1;  // Of the request; ids are made of it.
  std::string model;
  bool include_usage = false;  // Chat completions: stream_options.include_usage.
  std::string stop_sequence;   // The first one of the request.
  Usage usage;
};

/// An error as a script or the emulator itself says it. Empty members are filled in by the status.
struct WireError {
  int status = 500;
  std::string type;
  std::string code;
  std::string message;
  std::optional<std::int64_t> retry_after;  // Seconds.
};

/// The whole stream of a reply, without its fault.
Events RenderReply(const Exchange& exchange, const Reply& reply);

/// The body of an error answer.
std::string RenderError(const Exchange& exchange, const WireError& error);

/// An error inside a stream, after `sequence` events; framed.
std::string RenderErrorEvent(const Exchange& exchange, const WireError& error, std::size_t sequence,
                             bool failed);

/// An event whose JSON breaks off; framed.
std::string BrokenEvent(const Exchange& exchange);

/// A sound event of `bytes` bytes (or the fewest possible) that a client may pass over; framed.
std::string GiantEvent(const Exchange& exchange, std::size_t bytes);

/// The script's stop or, when it has none, what follows from the blocks.
std::string StopOf(const Reply& reply);

/// `prefix` and a number of fixed width, so that ids sort.
std::string MakeId(std::string_view prefix, std::int64_t number);
std::string MakeId(std::string_view prefix, std::int64_t number, std::size_t part);

Framing FramingOf(const Reply& reply);

// One dialect each; what RenderReply and RenderError call.
Events AnthropicReply(const Exchange& exchange, const Reply& reply);
Events CompletionsReply(const Exchange& exchange, const Reply& reply);
Events ResponsesReply(const Exchange& exchange, const Reply& reply);
Events GoogleReply(const Exchange& exchange, const Reply& reply);

std::string AnthropicError(const Exchange& exchange, const WireError& error);
std::string OpenAiError(const WireError& error);
std::string GoogleError(const WireError& error);
/// The data of Responses' `error` or `response.failed`.
std::string ResponsesErrorEvent(const Exchange& exchange, const WireError& error,
                                std::size_t sequence, bool failed);

}  // namespace stet::emulator
