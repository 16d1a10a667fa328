// ReplyStream: a reply as it comes, shown as transients of the event that it will become; its calls
// are handed on as they are complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "agent/calls/calls.h"
#include "log/log.h"
#include "provider/stream.h"

namespace stet::agent {

class ReplyStream final : public provider::Sink {
 public:
  /// Both must outlive this.
  ReplyStream(log::Log& log, Calls& calls, std::string event_id);

  void On(const provider::StreamEvent& event) override;

 private:
  template <class T>
  void On(const T&) {}
  void On(const provider::MessageStart& start);
  void On(const provider::BlockStart& start);
  void On(const provider::TextDelta& delta);
  void On(const provider::ThinkingDelta& delta);
  void On(const provider::ToolCallDelta& delta);
  void On(const provider::BlockEnd& end);
  void On(const provider::Waiting& waiting);
  void On(const provider::Stalled& stalled);
  void On(const provider::Switched& change);
  void On(const provider::Restarted& restarted);

  void ShowCall(std::int64_t index, std::optional<std::string> name, std::string text);
  void ShowWait(std::string what, std::optional<std::int64_t> until,
                std::optional<std::int64_t> attempt = std::nullopt);

  log::Log& log_;
  Calls& calls_;
  std::string event_id_;
  std::unordered_map<std::int64_t, std::string> call_ids_;
};

}  // namespace stet::agent
