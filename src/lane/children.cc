#include "lane/children.h"

#include "agent/unfinished.h"
#include "base/random.h"
#include "lane/lane.h"
#include "log/log.h"
#include "protocol/ids.h"
#include "run/ledger.h"

namespace stet::lane {
namespace {

/// The client that a child's prompt comes from.
constexpr std::string_view kParentClient = "parent";

Status SendTo(Lane& lane, std::string_view how, std::string text) {
  protocol::Send send;
  send.how = how;
  send.text = std::move(text);
  RETURN_IF_ERROR(lane.Send(send, std::string(kParentClient)));
  return {};
}

/// What the model said last on the path to the leaf.
Result<std::string> LastText(const log::Log& log) {
  const log::Index& index = log.index();
  for (log::Ordinal at = index.leaf(); at != log::kNone; at = index.entries()[at].parent) {
    if (index.entries()[at].type != protocol::kTypeNumber<protocol::AssistantMessage>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    const auto* message = std::get_if<protocol::AssistantMessage>(&event.payload);
    std::string text = message == nullptr ? "" : protocol::PlainText(message->message.blocks);
    if (!text.empty()) return text;
  }
  return std::string();
}

/// From the log alone: a child may have ended in an earlier process.
Result<agent::ChildEnd> EndOf(const log::Log& log) {
  agent::ChildEnd end;
  ASSIGN_OR_RETURN(const agent::Unfinished opening, agent::ReadUnfinished(log));
  end.reason = opening.last_end;
  ASSIGN_OR_RETURN(end.text, LastText(log));
  run::Ledger ledger;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    if (entries[at].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    ASSIGN_OR_RETURN(const protocol::Event call, log.EventAt(at));
    ledger.Fold(call);
  }
  end.cost = ledger.Report("").total;
  return end;
}

}  // namespace

Async<Result<std::string>> LaneChildren::Open(agent::ChildSpec spec) {
  ChildOpening opening{.parent_id = spec.parent_id,
                       .child_id = protocol::NewSessionId(ProcessRandom())};
  protocol::Header& header = opening.header.emplace();
  header.kind = std::move(spec.kind);
  header.agent_id = std::move(spec.agent_id);
  header.task_id = std::move(spec.task_id);
  header.parent_tool_call_id = std::move(spec.tool_call_id);
  opening.cwd = std::move(spec.cwd);
  opening.model = std::move(spec.model);
  opening.mode = std::move(spec.mode);
  opening.tools = std::move(spec.tools);
  const std::string child_id = opening.child_id;
  const Result<Lane*> lane = co_await lanes_.OpenChild(std::move(opening));
  if (!lane) co_return std::unexpected(lane.error());
  CO_RETURN_IF_ERROR(SendTo(**lane, "send", std::move(spec.prompt)));
  co_return child_id;
}

Async<Status> LaneChildren::Send(std::string child_id, std::string text) {
  const Result<Lane*> lane = co_await lanes_.Wake(std::move(child_id));
  if (!lane) co_return std::unexpected(lane.error());
  co_return SendTo(**lane, "send", std::move(text));
}

Async<Status> LaneChildren::Continue(std::string parent_id, std::string child_id) {
  ChildOpening opening{.parent_id = std::move(parent_id), .child_id = std::move(child_id)};
  const Result<Lane*> lane = co_await lanes_.OpenChild(std::move(opening));
  if (!lane) co_return std::unexpected(lane.error());
  co_return SendTo(**lane, "continue", "");
}

Async<Result<agent::ChildEnd>> LaneChildren::Await(std::string child_id, CancelToken cancel) {
  Result<Lane*> lane = co_await lanes_.Wake(child_id);
  // A follow-up may have begun by the time that the end of a turn is heard here.
  while (lane && (*lane)->working()) {
    const Pending<bool> ended(loop_);
    const log::Subscription heard = (*lane)->log().Subscribe([ended](const log::Published& what) {
      if (what.transient != nullptr &&
          std::holds_alternative<protocol::RuntimeEnd>(what.transient->transient))
        ended.Set(true);
    });
    const CancelRegistration cancelled = cancel.OnCancel([ended] { ended.Set(false); });
    const bool heard_end = co_await ended;
    if (!heard_end) co_return Fail(Code::kCancelled, "the child was not waited for");
    lane = co_await lanes_.Wake(child_id);
  }
  if (!lane) co_return std::unexpected(lane.error());
  Result<agent::ChildEnd> end = EndOf((*lane)->log());
  if ((*lane)->resting()) CO_RETURN_IF_ERROR(co_await lanes_.Close(std::move(child_id), true));
  co_return end;
}

void LaneChildren::Cancel(const std::string& child_id) {
  if (Lane* lane = lanes_.Find(child_id)) lane->Cancel();
}

}  // namespace stet::lane
