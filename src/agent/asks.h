// Asks: the permissions and questions that a session's turn waits for the user to answer.
// Everything asked and answered is in the log before it counts, so any client can answer, and what
// is open still waits after a restart.
//
// Belongs to the session's lane, on its loop.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/own_events.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "log/log.h"
#include "protocol/live.h"

namespace stet::agent {

/// What a client is asked about a call.
struct WantedPermission {
  protocol::PermissionAsk ask;
  std::string args_hash;
  /// The rule that a wider scope than `once` grants when the client has edited the arguments: the
  /// ask's own speaks of the call as it was asked. Nothing: that call may not run.
  std::function<std::optional<std::string>(const Raw& args)> rule_for_edit;
};

struct Permitted {
  protocol::PermissionAnswer answer;
  std::string by;                      // The client that said it.
  std::optional<std::string> granted;  // The rule that allows from now on, as the log has it.
};
/// What was said to a request: nothing when it was withdrawn.
using PermissionReply = std::optional<Permitted>;
using QuestionReply = std::optional<Raw>;

class Asks {
 public:
  /// Answers are proved by the key of `own`.
  Asks(Loop& loop, log::Log& log, OwnEvents own = {})
      : loop_(loop), log_(log), own_(std::move(own)) {}

  /// Whether a client has said that it answers. Without one nothing may be asked.
  [[nodiscard]] bool present() const { return present_; }
  void set_present(bool present) { present_ = present; }

  /// Appends `asked` (unless the ask has an id: then it stands in the log already, and a transient
  /// `wait` for the user says that it is open again), and waits. Cancel withdraws it. Fails when
  /// the log cannot be written.
  Async<Result<PermissionReply>> Permission(WantedPermission wanted, protocol::Stamp stamp,
                                            CancelToken cancel);
  /// The same for a question; `reopened` says that it stands in the log.
  Async<Result<QuestionReply>> Question(protocol::QuestionAsk ask, bool reopened,
                                        protocol::Stamp stamp, CancelToken cancel);

  /// kNotFound when nothing of that name is open; kConflict, naming the client, when another answer
  /// was taken already. The same answer by the same client once more, as after a reply that was
  /// lost, changes nothing.
  /// `by` is the client that answers, as its host knows it.
  Status Answer(const protocol::PermissionAnswer& answer, const std::string& by);
  Status Answer(const protocol::QuestionAnswer& answer, const std::string& by);

  [[nodiscard]] protocol::PermissionAsks permissions() const;
  [[nodiscard]] protocol::QuestionAsks questions() const;

 private:
  struct OpenPermission {
    WantedPermission wanted;
    protocol::Stamp stamp;
    Pending<PermissionReply> reply;
  };
  struct OpenQuestion {
    protocol::QuestionAsk ask;
    protocol::Stamp stamp;
    Pending<QuestionReply> reply;
  };

  Status Append(protocol::Payload payload, const protocol::Stamp& stamp);
  static std::optional<std::string> RuleOf(const WantedPermission& wanted,
                                           const protocol::PermissionAnswer& answer);
  [[nodiscard]] std::optional<Status> AnsweredBefore(const std::string& id, const std::string& by,
                                                     const std::string& said) const;
  void TellReopened(const std::string& what);

  Loop& loop_;
  log::Log& log_;
  OwnEvents own_;
  bool present_ = false;
  std::map<std::string, OpenPermission> permissions_;
  std::map<std::string, OpenQuestion> questions_;
  struct Answered {
    std::string by;
    std::string said;
  };
  std::map<std::string, Answered> answered_;
};

}  // namespace stet::agent
