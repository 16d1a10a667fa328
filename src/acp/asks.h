// Asks: what a session asks, put to the client as requests, and what its answers mean.
//
// Requests may be answered in any order. An answer that cannot be understood is a no. Belongs to
// one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "protocol/ask.h"

namespace stet::acp {

/// A request to the client.
struct Outgoing {
  std::string_view method;
  Raw params;
};

class Asks {
 public:
  explicit Asks(std::string session_id) : session_id_(std::move(session_id)) {}

  // What asks it; nothing when that was asked before.

  /// `call` is the call as the client shall show it.
  std::optional<Outgoing> Ask(const protocol::PermissionAsk& ask, std::string_view call);
  /// As a form.
  std::optional<Outgoing> AskForm(const protocol::QuestionAsk& ask);
  /// Whether a plan shall be carried out, as a permission; the first option says yes.
  std::optional<Outgoing> AskPlan(const protocol::QuestionAsk& ask);

  /// It was asked by this request.
  void Sent(const std::string& id, std::int64_t request);
  /// What the client's answer to the ask means; nothing when it is not open.
  std::optional<protocol::AskAnswer> Take(const std::string& id, const Result<Raw>& said);
  /// Another client has answered, or the turn no longer asks: the request that is to be taken back.
  /// Nothing when it is not open.
  std::optional<std::int64_t> Withdraw(const std::string& id);
  /// The requests that are not answered.
  [[nodiscard]] std::vector<std::int64_t> open_requests() const;

 private:
  enum class As { kPermission, kForm, kPlan };
  struct Open {
    As as = As::kPermission;
    std::vector<protocol::AskOption> options;  // Of a question.
    std::int64_t request = 0;
  };

  /// False when that was asked before.
  bool Begin(const std::string& id, Open open);

  std::string session_id_;
  std::map<std::string, Open> open_;  // By the id of what is asked.
  std::set<std::string> asked_;
};

}  // namespace stet::acp
