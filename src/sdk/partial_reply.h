// PartialReply: a reply as it comes, as the events of Anthropic's stream, whatever the model's own
// dialect is. What is shown is well formed: every block that starts stops, and every message ends.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/event.h"
#include "protocol/transient.h"

namespace stet::sdk {

class PartialReply {
 public:
  /// The stream's events that this transient makes, as JSON.
  std::vector<std::string> Take(const protocol::Transient& transient);
  /// The message is in the log: its end.
  std::vector<std::string> Take(const protocol::Event& event,
                                const protocol::AssistantMessage& message);

 private:
  template <class T>
  void On(const T&) {}
  void On(const protocol::MessageStart& start);
  void On(const protocol::TextDelta& delta);
  void On(const protocol::ThinkingDelta& delta);
  void On(const protocol::ToolCallDelta& delta);
  void On(const protocol::BlockEnd& end);
  void On(const protocol::MessageCancelled& cancelled);

  /// The block's number in what is shown; `start` is its empty content.
  std::int64_t Open(std::int64_t block, std::string_view start);
  void Delta(std::int64_t shown, std::string_view type, std::string_view member,
             std::string_view text);
  void Stop(std::int64_t block);
  void End(std::string_view stop_reason, const protocol::OptionalUsage& usage);

  std::string event_id_;  // Of the message that comes; empty: none does.
  // Blocks without anything to show have no number here: by their number in the reply.
  std::map<std::int64_t, std::int64_t> shown_;
  std::set<std::int64_t> open_;
  std::vector<std::string> out_;
};

}  // namespace stet::sdk
