// What a host does for the methods of a session that is worked on: its lane does it.
#include <fmt/format.h>

#include "base/environment.h"
#include "base/fs.h"
#include "host/folder_right.h"
#include "host/handler.h"
#include "lane/lane.h"
#include "log/log.h"
#include "log/paths.h"
#include "protocol/methods.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::Nothing;

/// What loosens how a session is confined answers questions before they are asked: it needs the
/// same right as an answer. Without it, a session stays as its log has it or as those have it who
/// hold it, and a copy gets nothing but what its origin's log forbids. Folders beyond the projects
/// that the device knows need the right admin, whichever way they are named.
Status StayConfined(Host& host, const Caller& caller, protocol::Attach& attach) {
  const bool makes = !attach.session_id;
  if (!attach.add_dirs.empty() && !caller.May(protocol::right::kAdmin))
    return Fail(Code::kDenied, "more folders need the right admin");
  if (!caller.May(protocol::right::kApprove)) {
    if (!attach.mode.empty() || !attach.allowed.empty() ||
        (!makes && (!attach.disallowed.empty() || attach.tools)))
      return Fail(Code::kDenied, "modes, rules and tools need the right approve");
    if (!makes) attach.cwd.clear();
  }
  if (!makes && attach.cwd.empty()) return {};
  return MayName(host.options().roots, caller, attach.cwd);
}

/// What makes no sense is refused before there is a session for it.
Status MakesSense(const protocol::Attach& attach) {
  if (!attach.session_id && attach.cwd.empty())
    return Fail(Code::kInvalid, "cwd is missing: a new session needs its folder");
  if (attach.session_id || attach.cwd.empty()) return {};
  const Result<FileStat> folder = StatFile(attach.cwd);
  if (folder && folder->is_dir) return {};
  return Fail(Code::kInvalid, fmt::format("there is no folder {}", attach.cwd));
}

Status IsWholePath(const std::string& folder) {
  if (folder.empty() || (folder.starts_with('/') && !folder.contains('\0'))) return {};
  return Fail(Code::kInvalid, fmt::format("{} is not a whole path", folder));
}

/// The environment that a local client hands over.
Result<std::optional<Environment>> HandedOver(const Caller& caller,
                                              protocol::OptionalTexts variables) {
  if (!variables) return std::nullopt;
  if (!caller.local)
    return Fail(Code::kDenied, "only a client on the unix socket hands its environment over");
  return Environment(*std::move(variables));
}

Status IsExpected(lane::Lane& lane, const protocol::MoveLeaf& move) {
  if (!move.expected_leaf || move.expected_leaf == lane.log().leaf_id()) return {};
  return Fail(Code::kConflict, "the leaf has moved since: look again");
}

/// A client that may not view learns which session it has opened, and nothing that was said in it.
protocol::LiveState StateFor(const Caller& caller, protocol::LiveState state) {
  if (caller.May(protocol::right::kView)) return state;
  protocol::LiveState known;
  known.session_id = std::move(state.session_id);
  known.model = std::move(state.model);
  known.mode = std::move(state.mode);
  known.cwd = std::move(state.cwd);
  return known;
}

Async<Result<protocol::LiveState>> OpenSession(Asked<method::SessionsOpen> asked) {
  protocol::Attach& attach = asked.params;
  CO_RETURN_IF_ERROR(IsWholePath(attach.cwd));
  for (const std::string& folder : attach.add_dirs) CO_RETURN_IF_ERROR(IsWholePath(folder));
  CO_RETURN_IF_ERROR(StayConfined(asked.host, asked.caller, attach));
  CO_RETURN_IF_ERROR(MakesSense(attach));
  CO_ASSIGN_OR_RETURN(std::optional<Environment> environment,
                      HandedOver(asked.caller, std::exchange(attach.environment, std::nullopt)));
  const Result<std::shared_ptr<Hosted>> session =
      co_await asked.host.Open(std::move(attach), std::move(environment), asked.caller);
  if (!session) co_return std::unexpected(session.error());
  asked.line.Hold((*session)->id());
  const Result<lane::Lane*> lane = co_await (*session)->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return StateFor(asked.caller, (*lane)->State());
}

/// Of one that sleeps: what its log says.
Async<Result<protocol::LiveState>> StateOf(Asked<method::SessionState> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  if (lane::Lane* lane = session->lane()) co_return lane->State();
  co_return session->StateAsleep();
}

Async<Result<protocol::Accepted>> SendTo(Asked<method::SessionSend> asked) {
  CO_ASSIGN_OR_RETURN(
      std::optional<Environment> environment,
      HandedOver(asked.caller, std::exchange(asked.params.environment, std::nullopt)));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  if (environment) session->SetEnvironment(*std::move(environment));
  CO_RETURN_IF_ERROR(co_await asked.host.EndLeftOptions(session->id(), asked.caller.client_id));
  const Result<lane::Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return (*lane)->Send(asked.params, asked.caller.client_id);
}

Async<Result<protocol::Said>> RunCommandOf(Asked<method::SessionCommand> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  CO_RETURN_IF_ERROR(co_await asked.host.EndLeftOptions(session->id(), asked.caller.client_id));
  const Result<lane::Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  Result<std::string> shown =
      co_await (*lane)->RunCommand(asked.params.name, asked.params.text, asked.caller.client_id);
  if (!shown) co_return std::unexpected(shown.error());
  protocol::Said said;
  said.text = *std::move(shown);
  co_return said;
}

Async<Result<protocol::FileList>> FilesOf(Asked<method::SessionFiles> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  CO_RETURN_IF_ERROR(co_await asked.host.EndLeftOptions(session->id(), asked.caller.client_id));
  const Result<lane::Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  protocol::FileList list;
  CO_ASSIGN_OR_RETURN(list.files, co_await (*lane)->FilesSince(asked.params));
  co_return list;
}

Async<Result<Nothing>> DeleteOne(Asked<method::SessionDelete> asked) {
  store::SessionStore store(asked.host.options().roots);
  CO_ASSIGN_OR_RETURN(const store::SessionPlace place, store.Locate(asked.params.session_id));
  // A root goes with its children.
  const std::vector<std::string> dirs = store.TreeDirs(place);
  // A client that has one of them open would be left with a session that is gone: none is touched.
  for (const std::string& dir : dirs) {
    const std::string id(log::Paths{dir}.session_id());
    if (const auto client = asked.host.HeardBy(id, asked.caller.client_id))
      co_return Fail(Code::kBusy,
                     fmt::format("session {} is open in {}: close it there first", id, *client));
  }
  for (const std::string& dir : dirs) {
    const std::string id(log::Paths{dir}.session_id());
    CO_RETURN_IF_ERROR(co_await asked.host.Release(id));
  }
  CO_RETURN_IF_ERROR(store.Remove(place.session_id));
  co_return Nothing();
}

Result<protocol::TurnReport> ReportOf(lane::Lane& lane, const protocol::TurnRef& turn,
                                      const Caller&) {
  std::optional<protocol::TurnReport> report = lane.Report(turn.turn_id);
  if (!report)
    return Fail(
        Code::kNotFound,
        fmt::format("no report on turn {}: only turns since the session was opened have one",
                    turn.turn_id));
  return *std::move(report);
}

constexpr auto kSessionHandlers = HandlersOf(
    protocol::SessionMethods(),
    On<method::SessionAnswer>(
        [](lane::Lane& lane, const protocol::PermissionAnswer& answer, const Caller& from) {
          return lane.Answer(answer, from.client_id);
        }),
    On<method::SessionAnswerQuestion>(
        [](lane::Lane& lane, const protocol::QuestionAnswer& answer, const Caller& from) {
          return lane.Answer(answer, from.client_id);
        }),
    On<method::SessionBranch>([](lane::Lane& lane, const protocol::MoveLeaf& move,
                                 const Caller&) -> Result<protocol::Moved> {
      RETURN_IF_ERROR(IsExpected(lane, move));
      return lane.Branch(move.target.value_or(""));
    }),
    On<method::SessionCancel>(
        [](lane::Lane& lane, const protocol::CancelParams& params, const Caller&) {
          lane.Cancel(params.turn_id.value_or(""));
          return Status();
        }),
    On<method::SessionChange>(
        [](lane::Lane& lane, const protocol::Change& change, const Caller& from) -> Status {
          if ((change.mode || change.forget) && !from.May(protocol::right::kApprove))
            return Fail(Code::kDenied, "modes and rules need the right approve");
          return lane.Change(change);
        }),
    On<method::SessionCommand>(
        [](Asked<method::SessionCommand> asked) { return RunCommandOf(std::move(asked)); }),
    On<method::SessionDelete>(
        [](Asked<method::SessionDelete> asked) { return DeleteOne(std::move(asked)); }),
    On<method::SessionFiles>(
        [](Asked<method::SessionFiles> asked) { return FilesOf(std::move(asked)); }),
    On<method::SessionMark>([](lane::Lane& lane, const protocol::Mark& mark,
                               const Caller& from) -> Result<protocol::Said> {
      protocol::Said said;
      ASSIGN_OR_RETURN(said.text, lane.Mark(mark, from.client_id));
      return said;
    }),
    On<method::SessionPermissions>([](lane::Lane& lane, const protocol::SessionRef&,
                                      const Caller&) { return lane.Permissions(); }),
    On<method::SessionReport>([](lane::Lane& lane, const protocol::TurnRef& turn,
                                 const Caller& from) { return ReportOf(lane, turn, from); }),
    On<method::SessionRewind>([](lane::Lane& lane, const protocol::MoveLeaf& move,
                                 const Caller&) -> Result<protocol::Moved> {
      RETURN_IF_ERROR(IsExpected(lane, move));
      return lane.Rewind(move.target);
    }),
    On<method::SessionRewriteQueue>(
        [](lane::Lane& lane, const protocol::QueueParams& params, const Caller& from) {
          return lane.RewriteQueue(params.queue, params.items, from.client_id);
        }),
    On<method::SessionSend>(
        [](Asked<method::SessionSend> asked) { return SendTo(std::move(asked)); }),
    On<method::SessionState>(
        [](Asked<method::SessionState> asked) { return StateOf(std::move(asked)); }),
    On<method::SessionsOpen>(
        [](Asked<method::SessionsOpen> asked) { return OpenSession(std::move(asked)); }));

}  // namespace

std::span<const Handler> SessionHandlers() { return kSessionHandlers; }

}  // namespace stet::host
