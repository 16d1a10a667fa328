// Asks: what a session asks, put to the client as requests, and what its answers mean.
//
// Requests are told apart by their ids and may be answered in any order. An answer that cannot be
// understood is a no. Belongs to one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acp/message.h"
#include "protocol/live.h"

namespace stet::acp {

using Answer = std::variant<protocol::PermissionAnswer, protocol::QuestionAnswer>;

/// The session that a request of ours is about; empty when the id is none of ours.
std::string SessionOfRequest(std::string_view request_id);

/// Nobody answers, and why.
protocol::QuestionAnswer Declined(const std::string& question_id, std::string_view why);

class Asks {
 public:
  explicit Asks(std::string session_id) : session_id_(std::move(session_id)) {}

  // The line that asks; nothing when that was asked before.

  /// `call` is the call as the client shall show it.
  std::optional<std::string> Ask(const protocol::PermissionAsk& ask, std::string_view call);
  /// As a form.
  std::optional<std::string> AskForm(const protocol::QuestionAsk& ask);
  /// Whether a plan shall be carried out, as a permission; the first option says yes.
  std::optional<std::string> AskPlan(const protocol::QuestionAsk& ask);

  /// Nothing when no such request is open.
  std::optional<Answer> Take(const Response& response);
  /// Somebody else has answered, or nobody shall: the line that takes the request back. Nothing
  /// when it is not open.
  std::optional<std::string> Withdraw(const std::string& id);

 private:
  enum class As { kPermission, kForm, kPlan };
  struct Open {
    As as = As::kPermission;
    std::string id;
    std::vector<std::string> labels;  // Of a question's options.
  };

  /// The id of the request; nothing when that was asked before.
  std::optional<std::string> Begin(Open open);

  std::string session_id_;
  std::map<std::string, Open> open_;  // By the id of the request.
  std::set<std::string> asked_;
};

}  // namespace stet::acp
