// Ask: what a turn waits for a client to answer, decoded once: a call that needs permission, or a
// question. Faces and lanes know asks by these types alone; the events are the log's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/event.h"
#include "protocol/live.h"

namespace stet::protocol {

using Ask = std::variant<PermissionAsk, QuestionAsk>;
using Asks = std::vector<Ask>;
using AskAnswer = std::variant<PermissionAnswer, QuestionAnswer>;

/// The id of the request or the question.
const std::string& AskId(const Ask& ask);

/// What an event says of an ask.
struct AskNews {
  std::string id;
  std::optional<Ask> asked;  // Absent: it was answered or withdrawn.
  std::string by;            // The client that answered; empty: none did.
};
/// Nothing for every event that is about no ask.
std::optional<AskNews> AskNewsIn(const Event& event);

/// Everything that a session waits for now.
Asks OpenAsks(const LiveState& state);

/// An option of a question, as a text or with more words.
struct AskOption {
  std::string label;
  std::string description;
};
std::vector<AskOption> OptionsOf(const QuestionAsk& ask);

// Answers. `scope` is once, session, project or always.
PermissionAnswer Allow(const std::string& request_id, std::string_view scope);
/// `message` is for the model.
PermissionAnswer Deny(const std::string& request_id, std::string_view message);
QuestionAnswer Say(const std::string& question_id, std::string_view text);
/// The question is not answered, and why.
QuestionAnswer Decline(const std::string& question_id, std::string_view why);

}  // namespace stet::protocol
