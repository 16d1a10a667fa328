// ReplyStream: a reply as it comes, shown as transients of the event that it will become; its calls
// are handed on as they are complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "agent/calls.h"
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
  void Take(const T&) {}
  void Take(const provider::MessageStart& start);
  void Take(const provider::BlockStart& start);
  void Take(const provider::TextDelta& delta);
  void Take(const provider::ThinkingDelta& delta);
  void Take(const provider::ToolCallDelta& delta);
  void Take(const provider::BlockEnd& end);
  void Take(const provider::Waiting& waiting);
  void Take(const provider::Stalled& stalled);
  void Take(const provider::Switched& change);
  void Take(const provider::Restarted& restarted);

  void ShowCall(std::int64_t index, std::optional<std::string> name, std::string text);
  void ShowWait(std::string what, std::optional<std::int64_t> until,
                std::optional<std::int64_t> attempt = std::nullopt);

  log::Log& log_;
  Calls& calls_;
  std::string event_id_;
  std::unordered_map<std::int64_t, std::string> call_ids_;
};

}  // namespace stet::agent
