// RequestMaker: makes the requests of a log again, and the one that would come next. Nothing is
// sent, and keys are not needed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/request.h"
#include "config/settings.h"
#include "context/conversation.h"
#include "log/log.h"
#include "protocol/work.h"
#include "provider/dialect.h"

namespace stet::lane {

/// A request that was sent for a turn, and what its server counted.
struct TurnCall {
  log::Ordinal at = log::kNone;  // Its start.
  std::int64_t ts = 0;
  protocol::ModelCall start;
  protocol::OptionalUsage usage;
};
/// The last ones, at most `count`, the oldest first. What cannot be read is passed over.
std::vector<TurnCall> LastTurnCalls(const log::Log& log, std::size_t count);

/// What the model's server read, of all kinds.
std::int64_t PromptTokens(const protocol::Usage& usage);

class RequestMaker {
 public:
  /// Both outlive it.
  RequestMaker(log::Log& log, const config::Settings& settings) : log_(log), settings_(settings) {}

  /// kNotFound when nothing was ever sent.
  Status Open();

  /// The request of the `model_call` start that is the event `at`, as it was sent.
  Result<provider::WireRequest> Make(const protocol::ModelCall& start, log::Ordinal at);
  /// What would follow the leaf, with the session's toolset.
  Result<provider::WireRequest> MakeNext(const std::string& model);

  /// The request that was made last. What it has of the conversation is lent: give it back.
  provider::Request Lend() { return agent::MakeRequest(parts_, conversation_, log_); }
  void TakeBack(provider::Request request) { conversation_.TakeBack(std::move(request.entries)); }

  /// As the configuration has it now.
  Result<const provider::Model*> ModelNamed(const std::string& name);
  [[nodiscard]] const agent::RequestParts& parts() const { return parts_; }
  [[nodiscard]] const context::Conversation& conversation() const { return conversation_; }
  context::Conversation TakeConversation() { return std::move(conversation_); }
  [[nodiscard]] const protocol::InstructionSnapshot& snapshot() const { return snapshot_; }

 private:
  Status ReadSnapshots();
  /// Those in force before the event.
  void UseSnapshot(log::Ordinal at);
  Status UseTools(const std::string& blob);
  Result<provider::WireRequest> Encode(const std::string& name, const std::string& dialect);

  log::Log& log_;
  const config::Settings& settings_;
  std::map<std::string, provider::Model> models_;
  agent::RequestParts parts_;
  std::string toolset_;       // The blob of the tools in parts_.
  std::string next_toolset_;  // Of the request that would come next; empty: it has no tools.
  context::Conversation conversation_;
  /// By where they stand: a session that was taken over from another device has new ones.
  std::map<log::Ordinal, protocol::InstructionSnapshot> snapshots_;
  protocol::InstructionSnapshot snapshot_;  // Of the request that was made last, else the last one.
};

}  // namespace stet::lane
