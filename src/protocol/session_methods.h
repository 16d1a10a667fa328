// The methods of a host that are about sessions.
#pragma once

#include "protocol/live.h"
#include "protocol/method.h"
#include "protocol/params.h"
#include "protocol/requests.h"
#include "protocol/run_report.h"
#include "protocol/services.h"
#include "protocol/session.h"
#include "protocol/turn_report.h"
#include "protocol/wire.h"

namespace stet::protocol {

/// What a method of one session may fail with: there is none of that name, or its log cannot be
/// read.
inline constexpr Errors kSessionErrors = {Code::kNotFound, Code::kCorrupt, Code::kTooNew};
/// One whose lane is woken for it: also what opening it may fail with.
inline constexpr Errors kLaneErrors =
    kSessionErrors | Errors{Code::kAuth, Code::kConflict, Code::kUnsupported, Code::kCancelled};

namespace method {

using namespace right;

// Of one session, by its whole id.

struct SessionAnswer : Takes<PermissionAnswer, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.answer",
      .right = kApprove,
      .help =
          "Answers a call that waits; the same answer of the same client once more changes "
          "nothing, conflict says who else answered.",
      .errors = kLaneErrors,
      .repeatable = true,
      .http = {"POST", "/sessions/{id}/answers"}};
};
struct SessionAnswerQuestion : Takes<QuestionAnswer, Nothing> {
  static constexpr MethodInfo kInfo = {.name = "session.answerQuestion",
                                       .right = kApprove,
                                       .help = "Answers a question, as session.answer does.",
                                       .errors = kLaneErrors,
                                       .repeatable = true};
};
struct SessionBlob : Takes<BlobParams, Blob> {
  static constexpr MethodInfo kInfo = {
      .name = "session.blob",
      .right = kView,
      .help = "What an event names by its hash; full above 7 MB, which no frame carries.",
      .errors = kSessionErrors,
      .repeatable = true};
};
struct SessionBranch : Takes<MoveLeaf, Moved> {
  static constexpr MethodInfo kInfo = {.name = "session.branch",
                                       .right = kSend,
                                       .help = "Goes on from another leaf.",
                                       .errors = kLaneErrors};
};
struct SessionCancel : Takes<CancelParams, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.cancel",
      .right = kSend,
      .help = "Ends the turn that runs or waits; with a turnId only that one.",
      .errors = kLaneErrors,
      .http = {"POST", "/sessions/{id}/cancel"}};
};
struct SessionChange : Takes<Change, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.change",
      .right = kSend,
      .help =
          "Changes model, effort, mode or title, or forgets a grant; modes and grants need the "
          "right approve.",
      .errors = kLaneErrors};
};
struct SessionClone : Takes<CloneParams, SessionRef> {
  static constexpr MethodInfo kInfo = {
      .name = "session.clone",
      .right = kSend,
      .help = "Copies the session, up to an event if one is named.",
      .errors = kSessionErrors};
};
struct SessionCommand : Takes<CommandParams, Said> {
  static constexpr MethodInfo kInfo = {
      .name = "session.command",
      .right = kSend,
      .help = "Runs an extension's command, and gives what to show.",
      .errors = kLaneErrors | Errors{Code::kTimeout}};
};
struct SessionContext : Takes<SessionRef, ContextReport> {
  static constexpr MethodInfo kInfo = {.name = "session.context",
                                       .right = kView,
                                       .help = "What would be sent to the model next.",
                                       .errors = kLaneErrors,
                                       .repeatable = true};
};
struct SessionCost : Takes<SessionRef, CostReport> {
  static constexpr MethodInfo kInfo = {.name = "session.cost",
                                       .right = kView,
                                       .help = "What the session's model calls came to.",
                                       .errors = kSessionErrors,
                                       .repeatable = true};
};
struct SessionDelete : Takes<SessionRef, Nothing> {
  static constexpr MethodInfo kInfo = {.name = "session.delete",
                                       .right = kAdmin,
                                       .help = "Moves the session to the trash.",
                                       .errors = kLaneErrors};
};
struct SessionDescribe : Takes<SessionRef, SessionSummary> {
  static constexpr MethodInfo kInfo = {.name = "session.describe",
                                       .right = kView,
                                       .help = "What a list of sessions shows of it.",
                                       .errors = kSessionErrors,
                                       .repeatable = true};
};
struct SessionFiles : Takes<FilesParams, FileList> {
  static constexpr MethodInfo kInfo = {
      .name = "session.files",
      .right = kSend,
      .help = "The files that were written after an event; with restore, puts them back.",
      .errors = kLaneErrors};
};
struct SessionMark : Takes<Mark, Said> {
  static constexpr MethodInfo kInfo = {.name = "session.mark",
                                       .right = kSend,
                                       .help = "Pins, snips, raises gates and clears findings.",
                                       .errors = kLaneErrors};
};
struct SessionOffer : Takes<Offer, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.offer",
      .right = kSend,
      .help = "What the client does for the session from now on; on a unix socket only.",
      .errors = kSessionErrors | Errors{Code::kUnsupported}};
};
struct SessionPermissions : Takes<SessionRef, PermissionReport> {
  static constexpr MethodInfo kInfo = {.name = "session.permissions",
                                       .right = kSend,
                                       .help = "The rules that the session works under.",
                                       .errors = kLaneErrors,
                                       .repeatable = true};
};
struct SessionRecent : Takes<RecentParams, EventList> {
  static constexpr MethodInfo kInfo = {.name = "session.recent",
                                       .right = kView,
                                       .help = "The end of the path.",
                                       .errors = kSessionErrors,
                                       .repeatable = true};
};
struct SessionReport : Takes<TurnRef, TurnReport> {
  static constexpr MethodInfo kInfo = {.name = "session.report",
                                       .right = kView,
                                       .help = "How one of the latest turns went.",
                                       .errors = kLaneErrors,
                                       .repeatable = true};
};
struct SessionRewind : Takes<MoveLeaf, Moved> {
  static constexpr MethodInfo kInfo = {.name = "session.rewind",
                                       .right = kSend,
                                       .help = "Goes back to an earlier rest point.",
                                       .errors = kLaneErrors};
};
struct SessionRewriteQueue : Takes<QueueParams, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.rewriteQueue",
      .right = kSend,
      .help = "What remains of a queue, in order; of an item only the words may change.",
      .errors = kLaneErrors};
};
struct SessionRun : Takes<SessionRef, RunReport> {
  static constexpr MethodInfo kInfo = {.name = "session.run",
                                       .right = kView,
                                       .help = "Where the run stands.",
                                       .errors = kSessionErrors,
                                       .repeatable = true};
};
struct SessionSend : Takes<Send, Accepted> {
  static constexpr MethodInfo kInfo = {
      .name = "session.send",
      .right = kSend,
      .help =
          "Sends; accepted when its event is in the log. The same message of the same client under "
          "the same clientMessageId once more changes nothing and is known; another is a "
          "conflict.",
      .errors = kLaneErrors,
      .http = {"POST", "/sessions/{id}/messages", 202}};
};
struct SessionState : Takes<SessionRef, LiveState> {
  static constexpr MethodInfo kInfo = {.name = "session.state",
                                       .right = kView,
                                       .help = "Where the session stands.",
                                       .errors = kSessionErrors,
                                       .repeatable = true,
                                       .http = {"GET", "/sessions/{id}"}};
};
struct SessionSubscribe : Takes<Subscribe, Subscribed> {
  static constexpr MethodInfo kInfo = {
      .name = "session.subscribe",
      .right = kView,
      .help = "The session as it happens: everything since the anchor, then what is live.",
      .errors = kSessionErrors | Errors{Code::kUnsupported},
      .http = {"GET", "/sessions/{id}/events"}};
};
struct SessionTaskOutput : Takes<TaskOutputParams, TaskOutput> {
  static constexpr MethodInfo kInfo = {
      .name = "session.task.output",
      .right = kView,
      .help =
          "What a task wrote, from an offset on, at most 1 MB at once; without one, the end of it.",
      .errors = kSessionErrors,
      .repeatable = true};
};
struct SessionTaskStop : Takes<TaskRef, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.task.stop",
      .right = kSend,
      .help =
          "Stops a task; its end follows as an event. conflict when it has ended, busy naming "
          "the process when another one runs it.",
      .errors = kLaneErrors};
};
struct SessionTasks : Takes<SessionRef, TaskList> {
  static constexpr MethodInfo kInfo = {
      .name = "session.tasks",
      .right = kView,
      .help = "What runs in the background, and what has run there.",
      .errors = kSessionErrors,
      .repeatable = true};
};
struct SessionTree : Takes<SessionRef, protocol::SessionTree> {
  static constexpr MethodInfo kInfo = {.name = "session.tree",
                                       .right = kView,
                                       .help = "The session's events as a tree.",
                                       .errors = kSessionErrors,
                                       .repeatable = true};
};
struct SessionTurns : Takes<SessionRef, TurnList> {
  static constexpr MethodInfo kInfo = {
      .name = "session.turns",
      .right = kView,
      .help = "The turns that the model is shown, the newest first.",
      .errors = kSessionErrors,
      .repeatable = true};
};
struct SessionUnsubscribe : Takes<SessionRef, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "session.unsubscribe",
      .right = kView,
      .help = "Nothing more of the session is told; what was offered is withdrawn.",
      .errors = {Code::kUnsupported}};
};

// Of the sessions.

struct SessionsLatest : Takes<FolderParams, SessionRef> {
  static constexpr MethodInfo kInfo = {.name = "sessions.latest",
                                       .right = kView,
                                       .help = "The newest session of a folder.",
                                       .errors = {Code::kNotFound},
                                       .repeatable = true};
};
struct SessionsList : Takes<ListParams, SessionList> {
  static constexpr MethodInfo kInfo = {
      .name = "sessions.list",
      .right = kView,
      .help =
          "The newest sessions; of a project, or those whose title, first or last prompt has "
          "the text. Child sessions only with all, each behind its root.",
      .errors = {Code::kNotFound, Code::kCorrupt},
      .repeatable = true,
      .http = {"GET", "/sessions"}};
};
struct SessionsOpen : Takes<Attach, LiveState> {
  static constexpr MethodInfo kInfo = {
      .name = "sessions.open",
      .right = kSend,
      .help = "Makes a session, or opens one for work; a mode or rules need the right approve.",
      .errors = kLaneErrors,
      .http = {"POST", "/sessions", 201}};
};
struct SessionsSearch : Takes<ListParams, SessionList> {
  static constexpr MethodInfo kInfo = {.name = "sessions.search",
                                       .right = kView,
                                       .help = "As sessions.list, with a text.",
                                       .errors = {Code::kNotFound, Code::kCorrupt},
                                       .repeatable = true};
};

}  // namespace method
}  // namespace stet::protocol
