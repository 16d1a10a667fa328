// A call that may run: it starts in its turn, is executed, and is finished with what the tool gave.
#include <algorithm>

#include <fmt/format.h>

#include "agent/asks.h"
#include "agent/calls/one.h"
#include "agent/hooks.h"
#include "agent/settings.h"
#include "base/hash.h"
#include "tool/project/look.h"

namespace stet::agent {

/// A read waits only until fewer than kMaxSideBySide run. Every other call runs alone: it waits for
/// all before it, and all behind it wait for it.
Async<Status> Calls::StartInTurn(OnePtr one) {
  const bool alone = !one->tool->reads_only() || one->intent.effects;
  Status room = co_await Await(alone ? 0 : kMaxSideBySide - 1);
  if (!room) co_return room;
  const Status kept = co_await TakeCheckpoint(*one);
  if (!kept && kept.error().code == Code::kCancelled)
    co_return Answer(one->block, NotRun("the turn was cancelled"));
  // What a person allowed runs all the same: its result says that it cannot be undone.
  if (!kept && one->by == kByPolicy) {
    bench_.settings->sandbox.shared->KeptBack(one->intent.command);
    co_return Answer(one->block, NotRun("what it changes could not be put back: " +
                                        kept.error().message + ". Try again: the user is asked"));
  }
  Result<Boxed> box = co_await FindBox(*one);
  // Behind everything that was waited for.
  const GoesOn allowed = StillAllowed(*one);
  if (!allowed) co_return std::unexpected(allowed.error());
  if (!*allowed) co_return Status();
  if (!box) co_return Answer(one->block, NotRun(box.error().message));
  one->box = *std::move(box);
  if (!kept) one->box.note += "(It cannot be undone: " + kept.error().message + ".)\n";
  Start(one);
  // `tool_started` is appended here, before the loop begins Execute. A tool that only asks the user
  // has no effect yet and gets it with its result: if the process dies now, its question still
  // waits instead of counting as interrupted.
  if (one->tool->asks_user())
    one->in_log = true;
  else
    CO_RETURN_IF_ERROR(Announce(*one));
  if (!alone) {
    side_by_side_.push_back(one);
    co_return Status();
  }
  Status ended = co_await Await(0);
  if (ended) ended = co_await TellHooks(*one);
  co_return ended;
}

/// What the call is kept in, for the project as it is now.
Async<Result<Boxed>> Calls::FindBox(const One& one) {
  const std::shared_ptr<const SessionSettings> settings = bench_.settings.shared();
  const Allowed allowed{.mode = settings->rules.mode,
                        .claim = one.decision.box,
                        .by_policy = one.by == kByPolicy && !one.decision.outward};
  std::vector<std::string> guarded;
  if (MayWriteInABox(settings->sandbox, one.intent, allowed)) {
    const auto project =
        co_await tool::LookAtProject(bench_.workspace, bench_.loop, one.cancel.token());
    if (!project) co_return std::unexpected(project.error());
    auto places = tool::GuardedPlaces(bench_.workspace, **project);
    if (!places) co_return std::unexpected(places.error());
    guarded = *std::move(places);
    auto held = HeldFiles(one);
    if (!held) co_return std::unexpected(held.error());
    guarded.insert(guarded.end(), held->begin(), held->end());
  }
  co_return BoxFor(settings->sandbox, one.intent, allowed, guarded);
}

/// The user may have taken long to answer, and hooks and the calls before it to end: the mode may
/// be `plan` since, or a gate shut. What changes a decision is an event, so a log that stands where
/// it stood says that nothing has changed.
Calls::GoesOn Calls::StillAllowed(const One& one) {
  if (bench_.log.last_seq() == one.decided_at) return true;
  const policy::Decision now = DecisionNow(one);
  if (now.verdict != policy::Verdict::kDeny) return true;
  RETURN_IF_ERROR(
      Deny(one, now,
           fmt::format("it was allowed, but not any more: {} (rule: {})", now.reason, now.rule)));
  return false;
}

/// Waits until at most so many run.
Async<Status> Calls::Await(std::size_t at_most) {
  while (running_.size() > at_most) {
    const OnePtr first = running_.front();
    co_await first->ended;
    running_.erase(running_.begin());
  }
  co_return status_;
}

/// Leaves the call to the loop, which begins Execute when the caller waits for something.
void Calls::Start(const OnePtr& one) {
  one->started.tool_call_id = one->block.tool_call_id;
  one->started.tool = one->block.tool_name;
  one->started.args_hash = FastHashHex(one->args.text);
  if (one->args.text != one->block.args.text) one->started.args = one->args;
  one->started.effects = one->intent.effects;
  one->started.sandbox = BoxText(one->box);
  one->started.decision.rule = one->decision.rule;
  one->started.decision.by = one->by;
  running_.push_back(one);
  bench_.loop.Spawn(Execute(one));
}

/// Appends `tool_started`, now that the message is in the log; from here on what the call does is
/// appended at once. Execute has not begun yet, or only reads.
Status Calls::Announce(One& one) {
  one.in_log = true;
  RETURN_IF_ERROR(AppendEvent(bench_.log, one.started, stamp_));
  protocol::ToolExecutionStart shown;
  shown.tool_call_id = one.block.tool_call_id;
  shown.tool_name = one.block.tool_name;
  shown.args = one.args;
  bench_.log.Publish(std::move(shown));
  if (one.outcome) return AppendOutcome(one);
  return {};
}

Async<void> Calls::Execute(OnePtr one) {
  one->began = SystemClock().Steady();
  // Once the log could not be written nothing more may run: its effects would leave no trace.
  if (status_) {
    tool::Call call = MakeCall(*one);
    std::optional<tool::Outcome> changed = Changed(*one);
    tool::Outcome outcome;
    if (changed)
      outcome = *std::move(changed);
    else
      outcome = co_await one->tool->Run(one->args, call);
    co_await SeeWhatChanged(*one, outcome);
    Finish(*one, std::move(outcome));
  }
  one->ended.Set(true);
}

/// The result to give when the call would no longer do what was decided on: the user may have taken
/// long to answer, and a path may lead elsewhere since. Nothing: it may run.
std::optional<tool::Outcome> Calls::Changed(const One& one) const {
  const Result<tool::Intent> now = one.tool->Intend(one.args, bench_.workspace);
  if (!now) return NotRun(now.error().message);
  if (now->reads == one.intent.reads && now->writes == one.intent.writes) return std::nullopt;
  return NotRun("its path leads elsewhere now than when it was allowed. Look again");
}

tool::Call Calls::MakeCall(One& one) {
  const auto show_terminal = [this, &one](const std::string& terminal_id) {
    protocol::ToolExecutionUpdate update;
    update.tool_call_id = one.block.tool_call_id;
    update.terminal_id = terminal_id;
    bench_.log.Publish(std::move(update));
  };
  const auto put_blob = [this](std::string_view bytes) {
    return bench_.log.blobs().Put(
        bench_.redactor.empty() ? bytes : bench_.redactor.Clean(std::string(bytes)));
  };
  const auto ask = [this, &one](std::string text, Raw options) {
    return AskUser(one, std::move(text), std::move(options));
  };
  return {
      .tool_call_id = one.block.tool_call_id,
      .loop = bench_.loop,
      .workspace = bench_.workspace,
      .files = *bench_.files,
      .checkpoints = *bench_.checkpoints,
      .cancel = one.cancel.token(),
      .record_write =
          [this](protocol::FileFact fact) {
            return AppendEvent(bench_.log, std::move(fact), stamp_);
          },
      .record_task = [this, &one](protocol::Task task) { return RecordTask(one, std::move(task)); },
      .put_blob = put_blob,
      .get_blob = [this](std::string_view name) { return bench_.log.blobs().Get(name); },
      .update = [this, &one](std::string_view text) { ShowOutput(one, text); },
      .ask = ask,
      .planning = bench_.settings->rules.mode == policy::Mode::kPlan,
      .sandbox = one.box.chosen ? &*one.box.chosen : nullptr,
      .sandbox_note = one.box.note,
      .editor = bench_.editor,
      .show_terminal = show_terminal,
      .decided = &one.intent};
}

Status Calls::RecordTask(const One& one, protocol::Task task) {
  if (task.phase == protocol::phase::kStart) {
    bench_.checkpoints->TaskBegan(one.block.tool_call_id);
    NotifyHooks(bench_, stamp_, hook::OnTaskCreated(task.task_id, one.intent.summary));
  }
  if (task.name) task.name = bench_.redactor.Clean(*std::move(task.name));
  return AppendEvent(bench_.log, std::move(task), stamp_);
}

void Calls::ShowOutput(const One& one, std::string_view text) {
  if (!one.in_log) return;  // Clients do not know the call yet.
  protocol::ToolExecutionUpdate update;
  update.tool_call_id = one.block.tool_call_id;
  update.partial = bench_.redactor.Clean(std::string(text));
  bench_.log.Publish(std::move(update));
}

/// For tools that ask. What a process before this one asked is not asked twice: its answer counts,
/// or it goes on waiting under the id that clients know.
Async<Result<Raw>> Calls::AskUser(const One& one, std::string text, Raw options) {
  if (!bench_.asks.present())
    co_return Fail(Code::kUnavailable, "nobody is there to ask: decide yourself, and say so");
  bool reopened = false;
  if (earlier_ != nullptr) {
    const auto before = std::ranges::find(earlier_->questions, one.block.tool_call_id,
                                          &protocol::Question::question_id);
    reopened = before != earlier_->questions.end();
    if (reopened && before->phase == protocol::phase::kAnswered && before->answer)
      co_return *before->answer;
  }
  protocol::QuestionAsk ask;
  ask.question_id = one.block.tool_call_id;
  ask.text = std::move(text);
  ask.options = std::move(options);
  NotifyHooks(bench_, stamp_, hook::OnNotification("question", ask.text));
  Result<QuestionReply> said =
      co_await bench_.asks.Question(std::move(ask), reopened, stamp_, cancel_);
  if (!said) co_return std::unexpected(said.error());
  if (!*said) co_return Fail(Code::kCancelled, "the turn was cancelled");
  co_return **std::move(said);
}

/// Keeps what the tool gave. Of a call that started before its message is in the log, Announce
/// appends it.
void Calls::Finish(One& one, tool::Outcome outcome) {
  one.took =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - one.began);
  bench_.redactor.Clean(outcome.content);
  const bool only_hides = one.box.chosen && one.box.chosen->profile.takes_nothing_else();
  if (!outcome.kept_back.empty() && outcome.is_error && one.by == kByPolicy && !only_hides)
    bench_.settings->sandbox.shared->KeptBack(one.intent.command);
  one.outcome = std::move(outcome);
  if (!one.in_log) return;
  if (Status appended = AppendOutcome(one); !appended && status_) status_ = std::move(appended);
}

}  // namespace stet::agent
