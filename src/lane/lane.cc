#include "lane/lane.h"

#include <fmt/format.h>

#include "agent/items.h"
#include "agent/settings.h"
#include "agent/task_rows.h"
#include "lane/arrival.h"
#include "lane/client_editor.h"
#include "lane/live_state.h"
#include "lane/moves.h"
#include "lane/parts.h"
#include "lane/queues.h"
#include "lane/restore.h"
#include "lane/sent_content.h"
#include "lane/tools.h"
#include "lane/turns.h"
#include "lane/work.h"

namespace stet::lane {
namespace {

/// A rule for a tool that there is not protects nothing, and nobody would notice.
Status CheckRuleTools(const agent::Workbench& bench) {
  const policy::Rules& rules = bench.settings->rules;
  for (const auto* some : {&rules.allow, &rules.ask, &rules.deny, &rules.hard})
    RETURN_IF_ERROR(policy::CheckTools(*some, bench.tools.box().known()));
  return {};
}

}  // namespace

// Opening.

Lane::Lane(LaneSetup setup)
    : parts_(std::make_unique<LaneParts>(std::move(setup))),
      work_(std::make_unique<LaneWork>(*parts_)),
      notes_(parts_->setup.notes) {}

Lane::~Lane() = default;

Result<std::unique_ptr<Lane>> Lane::Open(LaneSetup setup) {
  std::unique_ptr<Lane> lane(new Lane(std::move(setup)));
  RETURN_IF_ERROR(lane->Prepare());
  return lane;
}

/// Makes the parts out of what the log has, and settles what it was left in the middle of.
Status Lane::Prepare() {
  LaneSetup& setup = parts_->setup;
  agent::Workbench& bench = parts_->bench;
  agent::Unfinished unfinished;
  protocol::TaskRows earlier;
  bench.run.TrustFrom(bench.own.since);
  if (!setup.fresh) {
    ASSIGN_OR_RETURN(unfinished, agent::ReadUnfinished(bench.log, bench.own));
    ASSIGN_OR_RETURN(earlier, agent::ReadTasks(bench.log));
  }
  parts_->tasks = std::make_unique<LaneTasks>(bench, *work_, earlier);
  parts_->marks = std::make_unique<LaneMarks>(bench, *work_);
  parts_->side = std::make_unique<SideWork>(bench, *work_);
  RETURN_IF_ERROR(AddTools({bench, *parts_->tasks, *parts_->marks}, setup, unfinished));
  RETURN_IF_ERROR(parts_->hooks.OpenExtensions(setup));
  RETURN_IF_ERROR(CheckRuleTools(bench));
  ASSIGN_OR_RETURN(const std::vector<std::string> notes, OpenToolset(bench, setup, unfinished));
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  bench.settings.Grant(unfinished.grants);
  parts_->instructions = std::make_unique<LaneInstructions>(bench, std::move(setup.instructions),
                                                            std::move(unfinished.snapshot));
  if (setup.arrived) {
    ASSIGN_OR_RETURN(std::string said, TakeIn(bench.log));
    notes_.push_back(std::move(said));
  }
  if (!setup.fresh) {
    const bool keeps = setup.keep_waiting && setup.answers && !setup.arrived;
    RETURN_IF_ERROR(work_->Settle(std::move(unfinished), keeps));
    const bool waits = work_->life() == LaneLife::kWaiting;
    RETURN_IF_ERROR(parts_->tasks->NoteLost(earlier, !waits));
    ASSIGN_OR_RETURN(const bool told,
                     waits ? Result<bool>(false) : parts_->instructions->TellAppended());
    if (told)
      notes_.emplace_back(
          "the session keeps its instructions: what was appended to them is told to the model as "
          "an addition");
  }
  // Last: what runs for them refers to the lane, which is gone when one of the above fails.
  parts_->hooks.OpenHooks(setup);
  work_->GoOn();
  return {};
}

log::Log& Lane::log() { return parts_->bench.log; }
bool Lane::working() const { return work_->working(); }
bool Lane::resting() const {
  return !work_->working() && !looking_ && parts_->tasks->running() == 0 &&
         !parts_->side->pending() && !parts_->hooks.starting();
}

protocol::LiveState Lane::State() const {
  protocol::LiveState state = LiveStateOf(*parts_, *work_);
  state.notes = notes_;
  return state;
}

// Send: a message begins a turn, or is queued for the one that runs. Either is in the log before
// the client hears that it was accepted.

Result<protocol::Accepted> Lane::Send(const protocol::Send& send, const std::string& client_id) {
  if (send.client_message_id) {
    const auto before = log().index().FindKey(log::Key::kClientMessage, *send.client_message_id);
    if (before) {
      RETURN_IF_ERROR(IsSentAgain(log(), *before, send, client_id));
      // The client lost our reply and sent it again.
      protocol::Accepted known;
      known.what = "known";
      return known;
    }
  }
  if (looking_) RETURN_IF_ERROR(AtRest());
  RETURN_IF_ERROR(work_->Recover());
  if (send.how == "continue") return Continue();
  if (send.how == "next") return Next();
  if (send.how == "compact") return Compact(send);
  if (!send.how.empty() && send.how != "send" && send.how != "steer")
    return Fail(Code::kInvalid, fmt::format("there is no way {} to send", send.how));
  if (!SaysSomething(send)) return Fail(Code::kInvalid, "there is nothing to send");
  if (work_->life() == LaneLife::kWaiting && !parts_->asks.permissions().empty()) {
    // What the turn before asked is still open: a new message is not taken for its answer.
    return Fail(Code::kBusy,
                "a question of the turn before waits for its answer: answer it, or "
                "cancel it first");
  }
  return working() ? Enqueue(send, client_id) : Start(send, client_id);
}

Result<protocol::Accepted> Lane::Start(const protocol::Send& send, const std::string& client_id) {
  protocol::UserMessage message;
  message.client_message_id = send.client_message_id;
  message.source = "user";
  ASSIGN_OR_RETURN(message.message.blocks, ContentOf(parts_->bench, send));
  const bool first = log().index().state().user_messages == 0;
  RETURN_IF_ERROR(work_->BeginWithMessage(std::move(message), client_id));
  if (first) parts_->side->MakeTitle(send.text);
  return Started();
}

Result<protocol::Accepted> Lane::Enqueue(const protocol::Send& send, const std::string& client_id) {
  const bool steer = send.how == "steer";
  protocol::QueueItem item;
  item.client_message_id = send.client_message_id;
  item.client_id = client_id;
  ASSIGN_OR_RETURN(item.content, ContentOf(parts_->bench, send));
  protocol::Accepted accepted;
  accepted.what = steer ? "steered" : "queued";
  ASSIGN_OR_RETURN(accepted.item_id, AddToQueue(log(), steer, std::move(item)));
  return accepted;
}

/// Goes on: with the turn that did not come to its end, else with what is queued.
Result<protocol::Accepted> Lane::Continue() {
  if (working()) return Fail(Code::kBusy, "a turn is under way");
  const log::SessionState& state = log().index().state();
  if (!work_->unfinished() && state.steers.empty()) {
    if (!state.follow_ups.empty()) return Next();
    return Fail(Code::kNotFound, "there is nothing to go on with: the last turn came to its end");
  }
  RETURN_IF_ERROR(work_->Begin([this](const protocol::Stamp& stamp) -> Status {
    const log::Index& index = log().index();
    const bool unanswered =
        index.leaf() != log::kNone &&
        index.entries()[index.leaf()].type == protocol::kTypeNumber<protocol::UserMessage>;
    if (unanswered) return {};
    agent::NewItem item{.kind = agent::item::kRuntimeNotice, .content = ""};
    item.content = "The turn before was interrupted. Go on with what the user asked for.";
    return agent::AppendItem(log(), std::move(item), stamp);
  }));
  return Started();
}

Result<protocol::Accepted> Lane::Next() {
  if (working()) return Fail(Code::kBusy, "a turn is under way");
  ASSIGN_OR_RETURN(const bool taken, work_->BeginWithFollowUp());
  if (!taken) return Fail(Code::kNotFound, "there is nothing to go on with");
  return Started();
}

Result<protocol::Accepted> Lane::Compact(const protocol::Send& send) {
  RETURN_IF_ERROR(work_->AtRest());
  RETURN_IF_ERROR(parts_->instructions->Ensure());
  RETURN_IF_ERROR(agent::KeepToolset(parts_->bench, {}));
  agent::CompactionWanted wanted{.trigger = agent::trigger::kManual, .focus = send.text};
  wanted.client_message_id = send.client_message_id;
  work_->BeginCompaction(std::move(wanted));
  return Started();
}

protocol::Accepted Lane::Started() const {
  protocol::Accepted accepted;
  accepted.what = "started";
  accepted.turn_id = work_->turn_id();
  return accepted;
}

// What else clients ask for.

void Lane::Cancel(const std::string& turn_id) { work_->Cancel(turn_id); }
Status Lane::Answer(const protocol::PermissionAnswer& answer, const std::string& client_id) {
  return parts_->asks.Answer(answer, client_id);
}
Status Lane::Answer(const protocol::QuestionAnswer& answer, const std::string& client_id) {
  return parts_->asks.Answer(answer, client_id);
}
void Lane::ExpectAnswers() { parts_->asks.set_present(true); }

void Lane::FindSecrets() {
  if (!parts_->setup.find_redactor) return;
  // Where the vault cannot be read now, what was known of it stays.
  if (Result<agent::Redactor> redactor = parts_->setup.find_redactor())
    parts_->bench.redactor = *std::move(redactor);
}

void Lane::UseServices(std::shared_ptr<client::Services> services) {
  agent::Workbench& bench = parts_->bench;
  bench.editor =
      services ? MakeClientEditor(bench.loop, bench.log.header().session_id, std::move(services))
               : nullptr;
}

Status Lane::RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                          const std::string& client_id) {
  return lane::RewriteQueue(log(), queue, items, client_id);
}
Status Lane::Change(const protocol::Change& change) {
  RETURN_IF_ERROR(parts_->changes.Change(change));
  return working() ? Status() : parts_->changes.Apply();
}

Result<protocol::PermissionReport> Lane::Permissions() const {
  return parts_->changes.Permissions();
}
Result<protocol::Moved> Lane::Rewind(const std::optional<std::string>& target) {
  RETURN_IF_ERROR(AtRest());
  ASSIGN_OR_RETURN(protocol::Moved moved, RewindLeaf(log(), target));
  work_->Moved();
  return moved;
}

Result<protocol::Moved> Lane::Branch(const std::string& leaf) {
  RETURN_IF_ERROR(AtRest());
  ASSIGN_OR_RETURN(protocol::Moved moved, BranchLeaf(log(), leaf));
  work_->Moved();
  RETURN_IF_ERROR(SettleLeaf(log()));
  return moved;
}

Async<Result<protocol::FileRows>> Lane::FilesSince(protocol::FilesParams wanted) {
  CO_RETURN_IF_ERROR(AtRest());
  const bool running = wanted.restore && parts_->tasks->running() > 0;
  if (running && !wanted.stop_tasks.value_or(false))
    co_return Fail(Code::kBusy,
                   fmt::format("what runs in the background may change files meanwhile: {}. Stop "
                               "it first (`stet tasks stop`, or --stop-tasks)",
                               parts_->tasks->Describe()));
  looking_.emplace(parts_->bench.loop);
  // The model hears of the end of what is stopped here with the next message, not at once.
  work_->HoldBack(true);
  if (running) parts_->tasks->StopAll();
  Result<protocol::FileRows> rows = co_await lane::FilesSince(parts_->bench, std::move(wanted));
  work_->HoldBack(false);
  std::exchange(looking_, std::nullopt)->Set(true);
  co_return rows;
}

Status Lane::AtRest() const {
  if (looking_) return Fail(Code::kBusy, "files are looked at or put back just now: try again");
  return work_->AtRest();
}

Result<std::vector<protocol::Event>> Lane::Recent(std::size_t count) const {
  return RecentEvents(parts_->bench.log, count);
}
Result<protocol::TurnRows> Lane::Turns() const { return ReadTurns(parts_->bench.log); }
Result<std::string> Lane::Mark(const protocol::Mark& mark, const std::string& client_id) {
  return parts_->marks->Mark(mark, client_id);
}

Async<Result<std::string>> Lane::RunCommand(std::string name, std::string text,
                                            std::string client_id) {
  const Result<hook::CommandReply> reply =
      co_await parts_->hooks.RunCommand(std::move(name), std::move(text));
  if (!reply) co_return std::unexpected(reply.error());
  if (!reply->prompt.empty()) {
    protocol::Send send;
    send.how = "send";
    send.text = reply->prompt;
    CO_RETURN_IF_ERROR(Send(send, client_id));
  }
  co_return reply->text;
}

Result<protocol::RunReport> Lane::Run() {
  RETURN_IF_ERROR(parts_->bench.run.Update(log()));
  return parts_->bench.run.state().Report();
}

std::optional<protocol::TurnReport> Lane::Report(const std::string& turn_id) const {
  return parts_->reports.Find(turn_id);
}
Result<protocol::TaskRows> Lane::Tasks() const { return parts_->tasks->Rows(); }
Status Lane::StopTask(const std::string& task_id) { return parts_->tasks->Stop(task_id); }
Result<protocol::TaskOutput> Lane::TaskOutput(const std::string& task_id,
                                              const protocol::TaskRange& range) const {
  return parts_->tasks->Output(task_id, range);
}

// Closing: all that appends ends before the log is closed: the turn, side work, hooks, and last the
// tasks, whose ends are recorded.

Async<Status> Lane::Close(bool sleeps) {
  parts_->hooks.Cancel();
  if (const std::optional<Pending<bool>> looking = looking_) (void)co_await *looking;
  co_await work_->End();
  co_await parts_->side->Stop();
  co_await parts_->hooks.TellEnd(sleeps);
  parts_->tasks->StopAll();
  co_return log().Close();
}

}  // namespace stet::lane
