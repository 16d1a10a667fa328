// What a host does for the methods of a session that is worked on: its lane does it.
#include <fmt/format.h>

#include "base/environment.h"
#include "host/handler.h"
#include "host/lane.h"
#include "host/session_store.h"
#include "log/log.h"
#include "log/paths.h"
#include "protocol/methods.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::Nothing;

/// A mode or a rule may loosen policy, which answers questions before they are asked: it needs the
/// same right as an answer.
Status MayLoosen(const Caller& caller, std::string_view mode, std::string_view allowed) {
  if ((mode.empty() && allowed.empty()) || caller.May(protocol::right::kApprove)) return {};
  return Fail(Code::kDenied, "modes and rules need the right approve");
}

/// The environment that a local client hands over.
Result<std::optional<Environment>> HandedOver(const Caller& caller,
                                              protocol::OptionalTexts variables) {
  if (!variables) return std::nullopt;
  if (!caller.local)
    return Fail(Code::kDenied, "only a client on the unix socket hands its environment over");
  return Environment(*std::move(variables));
}

Status IsExpected(Lane& lane, const protocol::MoveLeaf& move) {
  if (!move.expected_leaf || move.expected_leaf == lane.log().leaf_id()) return {};
  return Fail(Code::kConflict, "the leaf has moved since: look again");
}

Async<Result<protocol::LiveState>> OpenSession(Asked<method::SessionsOpen> asked) {
  protocol::Attach& attach = asked.params;
  CO_RETURN_IF_ERROR(MayLoosen(asked.caller, attach.mode, attach.allowed));
  CO_ASSIGN_OR_RETURN(std::optional<Environment> environment,
                      HandedOver(asked.caller, std::exchange(attach.environment, std::nullopt)));
  const Result<std::shared_ptr<Hosted>> session =
      co_await asked.host.Open(std::move(attach), std::move(environment));
  if (!session) co_return std::unexpected(session.error());
  const Result<Lane*> lane = co_await (*session)->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return (*lane)->State();
}

/// Of one that sleeps: what its log says.
Async<Result<protocol::LiveState>> StateOf(Asked<method::SessionState> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  if (Lane* lane = session->lane()) co_return lane->State();
  co_return session->StateAsleep();
}

Async<Result<protocol::Accepted>> SendTo(Asked<method::SessionSend> asked) {
  CO_ASSIGN_OR_RETURN(
      std::optional<Environment> environment,
      HandedOver(asked.caller, std::exchange(asked.params.environment, std::nullopt)));
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  if (environment) session->SetEnvironment(*std::move(environment));
  const Result<Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  co_return (*lane)->Send(asked.params, asked.caller.client_id);
}

Async<Result<protocol::Said>> RunCommandOf(Asked<method::SessionCommand> asked) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session,
                      asked.host.Find(asked.params.session_id));
  const Result<Lane*> lane = co_await session->Wake();
  if (!lane) co_return std::unexpected(lane.error());
  Result<std::string> shown =
      co_await (*lane)->RunCommand(asked.params.name, asked.params.text, asked.caller.client_id);
  if (!shown) co_return std::unexpected(shown.error());
  protocol::Said said;
  said.text = *std::move(shown);
  co_return said;
}

Async<Result<Nothing>> DeleteOne(Asked<method::SessionDelete> asked) {
  SessionStore store(asked.host.options().roots);
  CO_ASSIGN_OR_RETURN(const SessionPlace place, store.Locate(asked.params.session_id));
  // A root goes with its children.
  const std::vector<std::string> dirs = store.TreeDirs(place);
  for (const std::string& dir : dirs) {
    const std::string id(log::Paths{dir}.session_id());
    CO_RETURN_IF_ERROR(co_await asked.host.Release(id));
  }
  CO_RETURN_IF_ERROR(store.Remove(place.session_id));
  co_return Nothing();
}

Result<protocol::TurnReport> ReportOf(Lane& lane, const protocol::TurnRef& turn, const Caller&) {
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
        [](Lane& lane, const protocol::PermissionAnswer& answer, const Caller& from) {
          return lane.Answer(answer, from.client_id);
        }),
    On<method::SessionAnswerQuestion>(
        [](Lane& lane, const protocol::QuestionAnswer& answer, const Caller& from) {
          return lane.Answer(answer, from.client_id);
        }),
    On<method::SessionBranch>(
        [](Lane& lane, const protocol::MoveLeaf& move, const Caller&) -> Result<protocol::Moved> {
          RETURN_IF_ERROR(IsExpected(lane, move));
          return lane.Branch(move.target.value_or(""));
        }),
    On<method::SessionCancel>([](Lane& lane, const protocol::CancelParams& params, const Caller&) {
      lane.Cancel(params.turn_id.value_or(""));
      return Status();
    }),
    On<method::SessionChange>(
        [](Lane& lane, const protocol::Change& change, const Caller& from) -> Status {
          RETURN_IF_ERROR(MayLoosen(from, change.mode.value_or(""), ""));
          return lane.Change(change);
        }),
    On<method::SessionCommand>(
        [](Asked<method::SessionCommand> asked) { return RunCommandOf(std::move(asked)); }),
    On<method::SessionDelete>(
        [](Asked<method::SessionDelete> asked) { return DeleteOne(std::move(asked)); }),
    On<method::SessionFiles>([](Lane& lane, const protocol::FilesParams& params,
                                const Caller&) -> Result<protocol::FileList> {
      protocol::FileList list;
      ASSIGN_OR_RETURN(list.files, lane.FilesSince(params.target, params.restore));
      return list;
    }),
    On<method::SessionMark>(
        [](Lane& lane, const protocol::Mark& mark, const Caller& from) -> Result<protocol::Said> {
          protocol::Said said;
          ASSIGN_OR_RETURN(said.text, lane.Mark(mark, from.client_id));
          return said;
        }),
    On<method::SessionPermissions>(
        [](Lane& lane, const protocol::SessionRef&, const Caller&) { return lane.Permissions(); }),
    On<method::SessionReport>([](Lane& lane, const protocol::TurnRef& turn, const Caller& from) {
      return ReportOf(lane, turn, from);
    }),
    On<method::SessionRewind>(
        [](Lane& lane, const protocol::MoveLeaf& move, const Caller&) -> Result<protocol::Moved> {
          RETURN_IF_ERROR(IsExpected(lane, move));
          return lane.Rewind(move.target);
        }),
    On<method::SessionRewriteQueue>(
        [](Lane& lane, const protocol::QueueParams& params, const Caller&) {
          return lane.RewriteQueue(params.queue, params.items);
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
