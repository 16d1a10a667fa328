// The lines that stet writes in stream-json, in the shapes that the SDKs of other agents read: one
// JSON object each, given without its end. Pure.
//
// Lines that stand for an event or a turn carry a UUID made from its id, the same whenever it is
// told, and `event_id` for `--at`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"
#include "protocol/turn_report.h"

namespace stet::sdk {

/// A permission mode as others spell it.
std::string_view ModeNameForOthers(std::string_view mode);

/// Anthropic's usage object; zeros for what is unknown.
void WriteUsage(JsonWriter& writer, const protocol::OptionalUsage& usage);

class StreamLines {
 public:
  explicit StreamLines(std::string session_id) : session_id_(std::move(session_id)) {}

  [[nodiscard]] std::string Init(const protocol::LiveState& state) const;
  /// One line per block.
  [[nodiscard]] std::vector<std::string> Assistant(const protocol::Event& event,
                                                   const protocol::AssistantMessage& message) const;
  [[nodiscard]] std::string ToolResult(const protocol::Event& event,
                                       const protocol::ToolResult& result) const;
  /// A message of the user's, repeated.
  [[nodiscard]] std::string Replay(const protocol::Event& event,
                                   const protocol::UserMessage& message) const;
  /// What a hook or an extension says to people.
  [[nodiscard]] std::string Notice(const protocol::Transient& transient,
                                   const protocol::Notice& notice) const;
  /// An attempt to ask the model failed and is made again later.
  [[nodiscard]] std::string Retry(const protocol::Transient& transient,
                                  const protocol::Wait& wait) const;
  [[nodiscard]] std::string Denied(const protocol::DenialRow& denial) const;
  /// One event of Anthropic's stream, `event` being its JSON. `name` is unique in the session.
  [[nodiscard]] std::string StreamEvent(std::string_view event, std::string_view name) const;

 private:
  void End(JsonWriter& writer, std::string_view name) const;

  std::string session_id_;
};

}  // namespace stet::sdk
