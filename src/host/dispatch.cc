#include "host/dispatch.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/opening.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/fs.h"
#include "base/text_width.h"
#include "host/host.h"
#include "host/local_device.h"
#include "host/local_models.h"
#include "host/local_sessions.h"
#include "host/projects.h"
#include "host/session_store.h"
#include "host/task_view.h"
#include "host/turns.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "protocol/device.h"
#include "protocol/ids.h"
#include "protocol/models.h"
#include "protocol/requests.h"
#include "protocol/run_report.h"
#include "protocol/turn_report.h"
#include "tool/in_thread.h"

namespace stet::host {
namespace {

using protocol::SessionRef;
using protocol::Text;
using Reply = Result<std::string>;

struct NoParams {
  STET_FIELDS(NoParams, (protocol::OptionalText, unused))
};
struct PathParams {
  STET_FIELDS(PathParams, (Text, path))
};
struct ProjectParams {
  STET_FIELDS(ProjectParams, (Text, project_id))
};
struct ListParams {
  STET_FIELDS(ListParams, (protocol::OptionalText, project_id), (protocol::OptionalText, text),
              (protocol::OptionalInt, limit))
};
struct FolderParams {
  STET_FIELDS(FolderParams, (Text, cwd))
};
struct CountParams {
  STET_FIELDS(CountParams, (std::int64_t, count))
};
struct TurnParams {
  STET_FIELDS(TurnParams, (Text, turn_id))
};
struct QueueParams {
  STET_FIELDS(QueueParams, (Text, queue), (protocol::QueueItems, items))
};
struct FilesParams {
  STET_FIELDS(FilesParams, (protocol::OptionalText, target), (bool, restore))
};
struct CloneParams {
  STET_FIELDS(CloneParams, (Text, session_id), (protocol::OptionalText, at))
};
struct BlobParams {
  STET_FIELDS(BlobParams, (Text, session_id), (Text, name))
};
struct Blob {
  STET_FIELDS(Blob, (Text, name), (Text, base64))
};
struct CommandParams {
  STET_FIELDS(CommandParams, (Text, name), (Text, text))
};

/// One request on its way.
struct Call {
  Host& host;
  Caller caller;
  std::string params;
};

template <class T>
std::string Member(std::string_view name, const T& value) {
  std::string out = fmt::format("{{\"{}\":", name);
  EncodeValue(out, value);
  return out += '}';
}

template <class T>
Reply Encoded(const Result<T>& value) {
  if (!value) return std::unexpected(value.error());
  return Encode(*value);
}
Reply Encoded(const Status& status) {
  if (!status) return std::unexpected(status.error());
  return "{}";
}

template <class Params>
Result<Params> Read(const Call& call) {
  Result<Params> read = Decode<Params>(call.params);
  if (!read) return std::unexpected(std::move(read).error().While("the request's params"));
  return read;
}

Result<std::shared_ptr<Hosted>> SessionOf(const Call& call) {
  ASSIGN_OR_RETURN(const SessionRef ref, Read<SessionRef>(call));
  return call.host.Find(ref.session_id);
}

/// The environment that a local client hands over.
Result<std::optional<Environment>> EnvironmentOf(const Call& call) {
  ASSIGN_OR_RETURN(protocol::Environment read, Read<protocol::Environment>(call));
  if (!read.environment) return std::nullopt;
  if (!call.caller.local)
    return Fail(Code::kDenied, "only a client on the unix socket hands its environment over");
  return Environment(*std::move(read.environment));
}

/// Has `work` done with the session's lane, which is woken for it.
template <class Params, class Work>
Async<Reply> OnLane(Call call, Work work) {
  CO_ASSIGN_OR_RETURN(const Params params, Read<Params>(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  const Result<Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return work(**lane, params, call);
}

/// Has `work` done away from the loop: it reads files.
template <class Params, class Work>
Async<Reply> Aside(Call call, Work work) {
  CO_ASSIGN_OR_RETURN(const Params params, Read<Params>(call));
  const config::Roots roots = call.host.options().roots;
  const CancelToken never;
  auto body = [roots, params, work](const CancelToken&) -> Reply { return work(roots, params); };
  co_return co_await tool::InThread<std::string>(call.host.loop(), never, std::move(body));
}

constexpr std::size_t kListed = 200;
constexpr std::size_t kMostListed = 1000;

Reply ListSessions(const config::Roots& roots, const ListParams& params) {
  ASSIGN_OR_RETURN(std::vector<protocol::SessionSummary> sessions, SessionStore(roots).List());
  if (params.project_id) {
    ASSIGN_OR_RETURN(const protocol::Projects projects, Projects(roots).List());
    const auto found =
        std::ranges::find(projects, *params.project_id, &protocol::Project::project_id);
    if (found == projects.end())
      return Fail(Code::kNotFound, fmt::format("there is no project {}", *params.project_id));
    std::erase_if(sessions, [&](const protocol::SessionSummary& session) {
      return session.project_id != found->path;
    });
  }
  if (params.text) {
    const std::string wanted = FoldedText(*params.text);
    std::erase_if(sessions, [&](const protocol::SessionSummary& session) {
      return !FoldedText(session.title).contains(wanted) &&
             !FoldedText(session.first_prompt).contains(wanted) &&
             !FoldedText(session.last_prompt).contains(wanted);
    });
  }
  const auto limit = static_cast<std::size_t>(
      std::max<std::int64_t>(params.limit.value_or(static_cast<std::int64_t>(kListed)), 0));
  sessions.resize(std::min({sessions.size(), limit, kMostListed}));
  return Member("sessions", sessions);
}

/// It must fit into a frame; looked at before it is read.
Reply ReadBlob(const config::Roots& roots, const BlobParams& params) {
  constexpr std::uint64_t kLargest = (std::uint64_t{7} << 20);
  if (!protocol::IsSessionId(params.session_id))
    return Fail(Code::kInvalid, "that cannot name a session");
  const log::Blobs blobs(log::Paths{SessionStore(roots).DirOf(params.session_id)}.blobs());
  const Result<FileStat> file = log::Blobs::IsName(params.name)
                                    ? StatFile(blobs.PathOf(params.name))
                                    : Fail(Code::kInvalid, "that cannot name a blob");
  if (!file) return std::unexpected(file.error());
  if (file->size > kLargest)
    return Fail(Code::kFull,
                fmt::format("the blob has {} bytes, and a frame carries blobs up to {}: export the "
                            "session to have it",
                            file->size, kLargest));
  ASSIGN_OR_RETURN(const std::string bytes, blobs.Get(params.name));
  Blob blob;
  blob.name = params.name;
  AppendBase64(blob.base64, bytes);
  return Encode(blob);
}

Reply LatestSession(const config::Roots& roots, const FolderParams& params) {
  ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> sessions,
                   SessionStore(roots).List());
  const auto found = std::ranges::find(sessions, params.cwd, &protocol::SessionSummary::cwd);
  if (found == sessions.end())
    return Fail(Code::kNotFound, fmt::format("there is no session of {} to continue", params.cwd));
  return Member("sessionId", found->session_id);
}

/// What loosens the rules answers questions before they are asked.
Status MayLoosen(const Call& call, std::string_view mode, std::string_view allowed) {
  if ((mode.empty() && allowed.empty()) || call.caller.May(protocol::right::kApprove)) return {};
  return Fail(Code::kDenied, "modes and rules need the right approve");
}

Async<Reply> OpenSession(Call call) {
  CO_ASSIGN_OR_RETURN(protocol::Attach attach, Read<protocol::Attach>(call));
  CO_RETURN_IF_ERROR(MayLoosen(call, attach.mode, attach.allowed));
  CO_ASSIGN_OR_RETURN(std::optional<Environment> environment, EnvironmentOf(call));
  const Result<std::shared_ptr<Hosted>> session =
      co_await call.host.Open(std::move(attach), std::move(environment));
  if (!session) co_return std::unexpected(session.error());
  const Result<Lane*> lane = co_await (*session)->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return Encode((*lane)->State());
}

/// Of one that sleeps: what its log says.
Async<Reply> SessionState(Call call) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  if (Lane* lane = session->lane()) co_return Encode(lane->State());
  co_return Encoded(session->StateAsleep());
}

Async<Reply> SendMessage(Call call) {
  CO_ASSIGN_OR_RETURN(const protocol::Send send, Read<protocol::Send>(call));
  CO_ASSIGN_OR_RETURN(std::optional<Environment> environment, EnvironmentOf(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  if (environment) session->SetEnvironment(*std::move(environment));
  const Result<Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return Encoded((*lane)->Send(send, call.caller.client_id));
}

Async<Reply> RunCommand(Call call) {
  CO_ASSIGN_OR_RETURN(const CommandParams params, Read<CommandParams>(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  const Result<Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  const Result<std::string> shown = co_await (*lane)->RunCommand(params.name, params.text);
  if (!shown) co_return std::unexpected(shown.error());
  co_return Member("text", *shown);
}

Async<Reply> RecentEvents(Call call) {
  CO_ASSIGN_OR_RETURN(const CountParams params, Read<CountParams>(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  CO_ASSIGN_OR_RETURN(
      const std::vector<std::string> lines,
      session->Recent(static_cast<std::size_t>(std::max<std::int64_t>(params.count, 0))));
  std::string out = "{\"events\":[";
  for (const std::string& line : lines) (out += line) += ',';
  if (out.back() == ',') out.pop_back();
  co_return out += "]}";
}

Async<Reply> DeleteSession(Call call) {
  CO_ASSIGN_OR_RETURN(const SessionRef ref, Read<SessionRef>(call));
  CO_RETURN_IF_ERROR(co_await call.host.Release(ref.session_id));
  co_return Encoded(SessionStore(call.host.options().roots).Remove(ref.session_id));
}

Async<Reply> StopHost(Call call) {
  call.host.loop().Post([&host = call.host] { host.Stop(); });
  co_return "{}";
}

/// Answers of a client are by that client, whatever it says.
template <class Answer>
Async<Reply> AnswerAsked(Call call) {
  return OnLane<Answer>(std::move(call), [](Lane& lane, Answer answer, const Call& from) {
    if (answer.by.empty() || !from.caller.local) answer.by = from.caller.client_id;
    return Encoded(lane.Answer(answer));
  });
}

Status IsExpected(Lane& lane, const protocol::MoveLeaf& move) {
  if (!move.expected_leaf || move.expected_leaf == lane.log().leaf_id()) return {};
  return Fail(Code::kConflict, "the leaf has moved since: look again");
}

struct TaskParams {
  STET_FIELDS(TaskParams, (Text, session_id), (Text, task_id))
};

/// The lane knows its own tasks; those of a session that sleeps, or that another process works on,
/// are in its folder.
Async<Reply> TasksFor(Call call) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  const auto reply = [](const Result<protocol::TaskRows>& rows) -> Reply {
    if (!rows) return std::unexpected(rows.error());
    return Member("tasks", *rows);
  };
  if (Lane* lane = session->lane()) co_return reply(lane->Tasks());
  co_return co_await Aside<SessionRef>(
      std::move(call), [reply](const config::Roots& roots, const auto& ref) {
        return reply(TasksIn(SessionStore(roots).DirOf(ref.session_id)));
      });
}

Async<Reply> TaskOutputFor(Call call) {
  CO_ASSIGN_OR_RETURN(const TaskParams params, Read<TaskParams>(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  if (Lane* lane = session->lane()) co_return Encoded(lane->TaskOutput(params.task_id));
  co_return co_await Aside<TaskParams>(
      std::move(call), [](const config::Roots& roots, const auto& task) {
        return Encoded(TaskOutputIn(SessionStore(roots).DirOf(task.session_id), task.task_id));
      });
}

Async<Reply> StopTaskFor(Call call) {
  CO_ASSIGN_OR_RETURN(const TaskParams params, Read<TaskParams>(call));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
  if (Lane* lane = session->lane()) co_return Encoded(lane->StopTask(params.task_id));
  co_return co_await Aside<TaskParams>(
      std::move(call), [](const config::Roots& roots, const auto& task) -> Reply {
        const std::string dir = SessionStore(roots).DirOf(task.session_id);
        return std::unexpected(WhyNotStopped(dir, task.task_id));
      });
}

using Handler = Async<Reply> (*)(Call);
struct Method {
  std::string_view name;
  std::string_view right;
  Handler run;
};

using namespace protocol::right;

constexpr auto kMethods = std::to_array<Method>({
    {"config.get", kView,
     [](Call call) {
       return Aside<NoParams>(std::move(call), [](const config::Roots& roots, const NoParams&) {
         return Encoded(MakeLocalDevice(roots)->Config());
       });
     }},
    {"host.keep", kAdmin,
     [](Call call) -> Async<Reply> {
       call.host.Keep();
       co_return "{}";
     }},
    {"host.status", kView,
     [](Call call) -> Async<Reply> { co_return Encode(call.host.Describe()); }},
    {"host.stop", kAdmin, StopHost},
    {"models.list", kView,
     [](Call call) {
       return Aside<NoParams>(std::move(call), [](const config::Roots& roots, const NoParams&) {
         return Encoded(MakeLocalModels(roots)->List());
       });
     }},
    {"projects.browse", kAdmin,
     [](Call call) {
       return Aside<PathParams>(std::move(call),
                                [](const config::Roots& roots, const auto& params) {
                                  return Encoded(Projects(roots).Browse(params.path));
                                });
     }},
    {"projects.list", kView,
     [](Call call) {
       return Aside<NoParams>(std::move(call),
                              [](const config::Roots& roots, const NoParams&) -> Reply {
                                ASSIGN_OR_RETURN(const auto projects, Projects(roots).List());
                                return Member("projects", projects);
                              });
     }},
    {"projects.register", kAdmin,
     [](Call call) {
       return Aside<PathParams>(std::move(call),
                                [](const config::Roots& roots, const auto& params) {
                                  return Encoded(Projects(roots).Register(params.path));
                                });
     }},
    {"projects.remove", kAdmin,
     [](Call call) {
       return Aside<ProjectParams>(std::move(call),
                                   [](const config::Roots& roots, const auto& params) {
                                     return Encoded(Projects(roots).Remove(params.project_id));
                                   });
     }},
    {"session.answer", kApprove, AnswerAsked<protocol::PermissionAnswer>},
    {"session.answerQuestion", kApprove, AnswerAsked<protocol::QuestionAnswer>},
    {"session.blob", kView, [](Call call) { return Aside<BlobParams>(std::move(call), ReadBlob); }},
    {"session.branch", kSend,
     [](Call call) {
       return OnLane<protocol::MoveLeaf>(std::move(call),
                                         [](Lane& lane, const auto& move, const Call&) -> Reply {
                                           RETURN_IF_ERROR(IsExpected(lane, move));
                                           return Encoded(lane.Branch(move.target.value_or("")));
                                         });
     }},
    {"session.cancel", kSend,
     [](Call call) {
       return OnLane<NoParams>(std::move(call),
                               [](Lane& lane, const NoParams&, const Call&) -> Reply {
                                 lane.Cancel();
                                 return "{}";
                               });
     }},
    {"session.change", kSend,
     [](Call call) {
       return OnLane<protocol::Change>(
           std::move(call), [](Lane& lane, const auto& change, const Call& from) -> Reply {
             RETURN_IF_ERROR(MayLoosen(from, change.mode.value_or(""), ""));
             return Encoded(lane.Change(change));
           });
     }},
    {"session.clone", kSend,
     [](Call call) {
       return Aside<CloneParams>(
           std::move(call), [](const config::Roots& roots, const auto& params) -> Reply {
             ASSIGN_OR_RETURN(const std::string id,
                              MakeLocalSessions(roots)->Clone(params.session_id, params.at));
             return Member("sessionId", id);
           });
     }},
    {"session.command", kSend, RunCommand},
    {"session.context", kView,
     [](Call call) {
       return Aside<SessionRef>(std::move(call), [](const config::Roots& roots, const auto& ref) {
         return Encoded(MakeLocalSessions(roots)->Context(ref.session_id, {}));
       });
     }},
    {"session.cost", kView,
     [](Call call) {
       return Aside<SessionRef>(std::move(call), [](const config::Roots& roots, const auto& ref) {
         return Encoded(MakeLocalSessions(roots)->Cost(ref.session_id));
       });
     }},
    {"session.delete", kAdmin, DeleteSession},
    {"session.describe", kView,
     [](Call call) {
       return Aside<SessionRef>(std::move(call), [](const config::Roots& roots, const auto& ref) {
         return Encoded(SessionStore(roots).Describe(ref.session_id));
       });
     }},
    {"session.files", kSend,
     [](Call call) {
       return OnLane<FilesParams>(
           std::move(call), [](Lane& lane, const auto& params, const Call&) -> Reply {
             ASSIGN_OR_RETURN(const auto files, lane.FilesSince(params.target, params.restore));
             return Member("files", files);
           });
     }},
    {"session.mark", kSend,
     [](Call call) {
       return OnLane<protocol::Mark>(std::move(call),
                                     [](Lane& lane, const auto& mark, const Call&) -> Reply {
                                       ASSIGN_OR_RETURN(const std::string text, lane.Mark(mark));
                                       return Member("text", text);
                                     });
     }},
    {"session.permissions", kSend,
     [](Call call) {
       return OnLane<NoParams>(std::move(call), [](Lane& lane, const NoParams&, const Call&) {
         return Encoded(lane.Permissions());
       });
     }},
    {"session.recent", kView, RecentEvents},
    {"session.report", kView,
     [](Call call) {
       return OnLane<TurnParams>(std::move(call),
                                 [](Lane& lane, const auto& params, const Call&) -> Reply {
                                   const auto report = lane.Report(params.turn_id);
                                   if (!report)
                                     return Fail(Code::kNotFound, "of that turn nothing is known");
                                   return Encode(*report);
                                 });
     }},
    {"session.rewind", kSend,
     [](Call call) {
       return OnLane<protocol::MoveLeaf>(std::move(call),
                                         [](Lane& lane, const auto& move, const Call&) -> Reply {
                                           RETURN_IF_ERROR(IsExpected(lane, move));
                                           return Encoded(lane.Rewind(move.target));
                                         });
     }},
    {"session.rewriteQueue", kSend,
     [](Call call) {
       return OnLane<QueueParams>(std::move(call), [](Lane& lane, const auto& params, const Call&) {
         return Encoded(lane.RewriteQueue(params.queue, params.items));
       });
     }},
    {"session.run", kView,
     [](Call call) {
       return Aside<SessionRef>(std::move(call), [](const config::Roots& roots, const auto& ref) {
         return Encoded(MakeLocalSessions(roots)->Run(ref.session_id));
       });
     }},
    {"session.send", kSend, SendMessage},
    {"session.state", kView, SessionState},
    {"session.task.output", kView, TaskOutputFor},
    {"session.task.stop", kSend, StopTaskFor},
    {"session.tasks", kView, TasksFor},
    {"session.tree", kView,
     [](Call call) {
       return Aside<SessionRef>(std::move(call), [](const config::Roots& roots, const auto& ref) {
         return Encoded(MakeLocalSessions(roots)->Tree(ref.session_id));
       });
     }},
    {"session.turns", kView,
     [](Call call) -> Async<Reply> {
       CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, SessionOf(call));
       CO_ASSIGN_OR_RETURN(const protocol::TurnRows turns, session->Turns());
       co_return Member("turns", turns);
     }},
    {"sessions.latest", kView,
     [](Call call) { return Aside<FolderParams>(std::move(call), LatestSession); }},
    {"sessions.list", kView,
     [](Call call) { return Aside<ListParams>(std::move(call), ListSessions); }},
    {"sessions.open", kSend, OpenSession},
    {"sessions.search", kView,
     [](Call call) { return Aside<ListParams>(std::move(call), ListSessions); }},
});
static_assert(std::ranges::is_sorted(kMethods, {}, &Method::name));

/// What a session's log says of a request: those that change something, and those that fail.
class Asked {
 public:
  Asked(Host& host, const Method& method, const Caller& caller, const std::string& params)
      : method_(method), client_id_(caller.client_id), began_(SystemClock().Steady()) {
    if (!Diagnostics::Enabled(Level::kInfo)) return;
    const Result<SessionRef> ref = Decode<SessionRef>(params);
    if (ref && protocol::IsSessionId(ref->session_id))
      file_ = log::Paths{SessionStore(host.options().roots).DirOf(ref->session_id)}.diagnostics();
  }

  void Note(const Reply& reply) const {
    if (file_.empty() || (reply && method_.right == kView)) return;
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began_);
    STET_LOG_IN(file_, kInfo, "request method={} client={} ms={} code={} error=\"{}\"",
                method_.name, client_id_, took.count(), reply ? "ok" : CodeName(reply.error().code),
                reply ? "" : reply.error().message);
  }

 private:
  const Method& method_;
  std::string client_id_;
  std::chrono::steady_clock::time_point began_;
  std::string file_;  // Empty: of no session.
};

}  // namespace

Async<Result<std::string>> Dispatch(Host& host, Caller caller, std::string method,
                                    std::string params) {
  const auto found = std::ranges::lower_bound(kMethods, method, {}, &Method::name);
  if (found == kMethods.end() || found->name != method)
    co_return Fail(Code::kUnsupported, fmt::format("there is no method {}", method));
  if (!caller.May(found->right))
    co_return Fail(Code::kDenied, fmt::format("{} needs the right {}", method, found->right));
  const Asked asked(host, *found, caller, params);
  Call call{.host = host, .caller = std::move(caller), .params = std::move(params)};
  Reply reply = co_await found->run(std::move(call));
  asked.Note(reply);
  co_return reply;
}

}  // namespace stet::host
