#include "agent/turn.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/asks.h"
#include "agent/extensions.h"
#include "agent/items.h"
#include "agent/model_call.h"
#include "agent/outbox.h"
#include "agent/reply_stream.h"
#include "agent/request.h"
#include "agent/room.h"
#include "agent/run/producers.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "base/loop.h"
#include "hook/extension/extensions.h"
#include "json/view.h"
#include "protocol/ids.h"
#include "provider/price.h"
#include "provider/provider.h"

namespace stet::agent {
namespace {

/// What the end of a turn is to its run; empty when it stops nothing.
std::string_view StopOf(std::string_view reason) {
  if (reason == ended::kMaxTurns || reason == ended::kBudget || reason == ended::kTimeout)
    return "budget-exhausted";
  return "";
}

std::int64_t TokensOf(const protocol::Attempt& attempt) {
  if (!attempt.usage) return 0;
  const protocol::Usage& usage = *attempt.usage;
  return usage.input + usage.output + usage.cache_read.value_or(0) + usage.cache_write.value_or(0);
}

}  // namespace

Turn::Turn(Workbench& bench, const CancelToken& cancel, const std::string& turn_id)
    : bench_(bench), cancel_(cancel), clock_(bench.loop) {
  stamp_.turn_id = turn_id.empty() ? protocol::NewTurnId(ProcessRandom()) : turn_id;
  if (bench.settings->limits.max_ms > 0) {
    clock_.Start(std::chrono::milliseconds(bench.settings->limits.max_ms), [this] {
      timed_out_ = true;
      cancel_.Cancel();
    });
  }
}

// The whole turn.

Async<Result<TurnOutcome>> Turn::Run() {
  TurnOutcome end;
  CO_RETURN_IF_ERROR(Begin());
  const Status ran = co_await RunSteps(end);
  if (!ran) co_return std::unexpected(ran.error());
  CO_RETURN_IF_ERROR(Finish(end));
  co_return end;
}

Status Turn::Begin() {
  protocol::Turn start;
  start.phase = protocol::phase::kStart;
  RETURN_IF_ERROR(AppendEvent(bench_.log, std::move(start), stamp_));
  RETURN_IF_ERROR(LiftStop(bench_, stamp_));
  PublishStart();
  return {};
}

void Turn::PublishStart() {
  protocol::RuntimeStart started;
  started.turn_id = *stamp_.turn_id;
  bench_.log.Publish(std::move(started));
}

Async<Status> Turn::RunSteps(TurnOutcome& end) {
  bool rests = stopped_ || cancel_.cancelled();
  if (rests) end.reason = stopped_ ? ended::kStopped : ended::kCancelled;
  while (!rests && !OverLimit(end)) {
    const Status stepped = co_await Step(end, rests);
    if (!stepped) co_return stepped;
  }
  if (end.reason == ended::kStopped) end.error = stop_reason_;
  if (timed_out_ && end.reason == ended::kCancelled) {
    end.reason = ended::kTimeout;
    end.error = fmt::format("stopped after {} s, as asked", bench_.settings->limits.max_ms / 1000);
  }
  co_return Status();
}

bool Turn::OverLimit(TurnOutcome& end) const {
  const Limits& limits = bench_.settings->limits;
  if (limits.max_steps > 0 && end.steps >= limits.max_steps) {
    end.reason = ended::kMaxTurns;
    end.error = fmt::format("stopped after {} steps, as asked", end.steps);
    return true;
  }
  if (limits.max_price > 0 && end.price >= limits.max_price) {
    end.reason = ended::kBudget;
    end.error = fmt::format("stopped, as asked: it has cost {}.{:06} USD", end.price / 1'000'000,
                            end.price % 1'000'000);
    return true;
  }
  if (limits.max_tokens > 0 && end.tokens >= limits.max_tokens) {
    end.reason = ended::kBudget;
    end.error = fmt::format("stopped, as asked: it has used {} tokens", end.tokens);
    return true;
  }
  return false;
}

Status Turn::Finish(TurnOutcome& end) {
  clock_.Cancel();
  protocol::Turn last;
  last.phase = protocol::phase::kEnd;
  last.reason = end.reason;
  last.steps = end.steps;
  stamp_.step_id.reset();
  if (const std::string_view kind = StopOf(end.reason); !kind.empty()) {
    protocol::Stop stop;
    stop.kind = kind;
    stop.reason = end.error.empty() ? end.reason : end.error;
    RETURN_IF_ERROR(AppendEvent(bench_.log, std::move(stop), stamp_));
  }
  return AppendEvent(bench_.log, std::move(last), stamp_);
}

Async<Result<TurnOutcome>> Turn::Resume(const Unfinished& unfinished) {
  TurnOutcome end;
  PublishStart();
  CO_ASSIGN_OR_RETURN(const protocol::Blocks blocks, LastMessage());
  Calls calls(bench_, stamp_, cancel_.token(), &unfinished);
  Status ran = co_await RunCalls(calls, blocks, end);
  if (ran) ran = co_await RunSteps(end);
  if (!ran) co_return std::unexpected(ran.error());
  CO_RETURN_IF_ERROR(Finish(end));
  co_return end;
}

/// The model's message that the leaf belongs to: results of its calls may stand behind it already.
Result<protocol::Blocks> Turn::LastMessage() const {
  const log::Index& index = bench_.log.index();
  for (log::Ordinal at = index.leaf(); at != log::kNone; at = index.entries()[at].parent) {
    ASSIGN_OR_RETURN(const protocol::Event event, bench_.log.EventAt(at));
    if (const auto* message = std::get_if<protocol::AssistantMessage>(&event.payload))
      return message->message.blocks;
  }
  return Fail(Code::kCorrupt, "the calls that wait have no message");
}

Async<Result<TurnOutcome>> Turn::Compact(CompactionWanted wanted) {
  TurnOutcome end;
  PublishStart();
  bench_.fixed_bytes = BytesOf(PartsOf(bench_));
  const Result<std::optional<Compacted>> done =
      co_await agent::Compact(bench_, stamp_, std::move(wanted), cancel_.token());
  clock_.Cancel();
  if (!done) co_return std::unexpected(done.error());
  if (*done) {
    end.reason = ended::kCompleted;
    end.text = fmt::format("Compacted: about {} tokens became {}{}.", (*done)->tokens_before,
                           (*done)->tokens_after,
                           (*done)->source == "log" ? ", by what the log says alone" : "");
  } else {
    end.reason = cancel_.cancelled() ? ended::kCancelled : ended::kError;
    end.error = cancel_.cancelled() ? "" : "there is too little to compact yet";
  }
  co_return end;
}

// One step.

/// One step, in the phases of a turn: what the model must hear, the context, the model call with
/// its message, its calls, and whether there is a next step.
Async<Status> Turn::Step(TurnOutcome& end, bool& rests) {
  BeginStep(end);
  Status told = co_await TellOwed();
  if (!told) co_return told;
  Result<std::optional<std::string>> failed = co_await PrepareContext();
  if (!failed) co_return std::unexpected(failed.error());
  if (*failed) {
    rests = true;
    end.reason = ended::kError;
    end.error = **std::move(failed);
    co_return Status();
  }
  // Calls outlives the reply: reads that it calls start while it streams.
  Calls calls(bench_, stamp_, cancel_.token());
  Result<provider::CallResult> asked = co_await AskAndKeep(calls, end);
  if (!asked) {
    // Without their message the reads that started early are stopped, and leave no trace.
    co_await calls.Abandon();
    co_return std::unexpected(asked.error());
  }
  // Policy or the user decides on each call, and each has its result when this returns.
  Status ran = co_await RunCalls(calls, asked->reply.content.blocks, end);
  if (!ran) co_return ran;
  PublishStepEnd(end, asked->reply.content);
  Status next = co_await DecideNext(*asked, end, rests);
  co_return next;
}

void Turn::BeginStep(TurnOutcome& end) {
  ++end.steps;
  stamp_.step_id = fmt::format("{}.{}", *stamp_.turn_id, end.steps);
  protocol::TurnStart begun;
  begun.turn_index = end.steps;
  bench_.log.Publish(std::move(begun));
}

void Turn::PublishStepEnd(const TurnOutcome& end, const protocol::AssistantContent& reply) {
  protocol::TurnEnd done;
  done.turn_index = end.steps;
  done.stop_reason = reply.stop_reason;
  done.usage = reply.usage;
  bench_.log.Publish(std::move(done));
}

/// What the model must hear before it is asked again. Messages of extensions that are under way
/// become owed events first, so that this step pays them as well.
Async<Status> Turn::TellOwed() {
  if (bench_.extensions != nullptr) co_await bench_.extensions->Settle();
  CO_RETURN_IF_ERROR(PayOwed(bench_, stamp_));
  CO_RETURN_IF_ERROR(TakeSteers());
  co_return PrepareRun(bench_, stamp_);
}

/// Appends what the user sent while the turn ran: the next request carries it.
Status Turn::TakeSteers() {
  const protocol::QueueItems steers = bench_.log.index().state().steers;
  for (const protocol::QueueItem& steer : steers) {
    NewItem item{.kind = item::kSteer, .origin = "user", .content = "", .hidden = false};
    item.content = "The user says, while you work: " + protocol::PlainText(steer.content);
    item.queue_item_id = steer.item_id;
    RETURN_IF_ERROR(AppendItem(bench_.log, std::move(item), stamp_));
  }
  return {};
}

/// The context is made to fit the window. Whatever changes it is an event first, so that the same
/// log gives the same request. Gives why the turn cannot go on, when an extension says so.
Async<Result<std::optional<std::string>>> Turn::PrepareContext() {
  const Status room = co_await MakeRoom(bench_, stamp_, cancel_.token());
  if (!room) co_return std::unexpected(room.error());
  CO_RETURN_IF_ERROR(PayOwed(bench_, stamp_));  // What a compaction found, or what ended during it.
  const Status transformed = co_await TransformContext(bench_, stamp_, cancel_.token());
  if (transformed) co_return std::nullopt;
  if (transformed.error().code != Code::kUnavailable)
    co_return std::unexpected(transformed.error());
  co_return "an extension that must be asked failed: " + transformed.error().message;
}

/// The model call: its start is in the log before the request, projected from the path, is sent.
/// The reply streams as transients of the message that it becomes, which is in the log before
/// anything about its calls.
Async<Result<provider::CallResult>> Turn::AskAndKeep(Calls& calls, TurnOutcome& end) {
  CO_ASSIGN_OR_RETURN(provider::Request request, BuildRequest());
  const std::string event_id = protocol::NewEventId(ProcessRandom());
  ReplyStream stream(bench_.log, calls, event_id);
  CallPurpose purpose;
  purpose.purpose = "turn";
  purpose.account = &bench_.account;
  purpose.toolset = bench_.tools.blob();
  purpose.stamp = stamp_;
  const auto asked_at = SystemClock().Steady();
  Result<provider::CallResult> asked =
      co_await AskModel(bench_.log, *bench_.model, request, purpose, stream, cancel_.token());
  bench_.conversation.TakeBack(std::move(request.entries));
  if (!asked) co_return asked;
  CO_RETURN_IF_ERROR(Keep(*asked, event_id));
  end.model_time +=
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - asked_at);
  end.price += provider::PriceOf(asked->attempts, bench_.model->model(), &asked->model).value_or(0);
  for (const protocol::Attempt& attempt : asked->attempts) end.tokens += TokensOf(attempt);
  const protocol::Blocks& blocks = asked->reply.content.blocks;
  if (HasText(blocks)) end.text = protocol::PlainText(blocks);
  end.stop_reason = asked->reply.content.stop_reason;
  co_return asked;
}

Result<provider::Request> Turn::BuildRequest() {
  RETURN_IF_ERROR(bench_.conversation.Update(bench_.log));
  RequestParts parts = PartsOf(bench_);
  parts.max_tokens = max_tokens_;
  return MakeRequest(parts, bench_.conversation, bench_.log);
}

/// An empty reply is not stored: there is nothing that a later request could carry.
Status Turn::Keep(const provider::CallResult& call, const std::string& event_id) {
  const protocol::Blocks& blocks = call.reply.content.blocks;
  if (!HasText(blocks) && !HasCalls(blocks)) {
    protocol::MessageCancelled gone;
    gone.event_id = event_id;
    gone.reason = call.reply.failure ? call.reply.failure->message : "empty";
    bench_.log.Publish(std::move(gone));
    return {};
  }
  protocol::AssistantMessage message;
  message.message = call.reply.content;
  if (call.reply.partial) message.partial = true;
  return AppendEvent(bench_.log, std::move(message), stamp_, event_id);
}

Async<Status> Turn::RunCalls(Calls& calls, const protocol::Blocks& blocks, TurnOutcome& end) {
  if (!HasCalls(blocks)) {
    co_await calls.Abandon();
    co_return Status();
  }
  const Status ran = co_await calls.Run(blocks);
  if (!ran) co_return ran;
  end.denials.insert(end.denials.end(), calls.denials().begin(), calls.denials().end());
  stopped_ = stopped_ || calls.stopped();
  const Status refused = co_await CheckRefusals(calls);
  if (!refused) co_return refused;
  if (calls.stopped()) stop_reason_ = calls.stop_reason();
  const Status checked = co_await CheckProgress(calls);
  co_return checked;
}

/// Counts the calls that the rules refused; those that the user refused do not count. Beyond a
/// limit the user is asked whether to go on; without a client that answers, the turn ends as
/// denied.
Async<Status> Turn::CheckRefusals(const Calls& calls) {
  const auto by_rules = static_cast<std::size_t>(std::ranges::count_if(
      calls.denials(), [](const Denial& denial) { return denial.rule != "user"; }));
  const bool ran = calls.findings().size() > calls.denials().size();
  if (!refusals_.TooMany(by_rules, ran) || cancel_.cancelled() || stopped_) co_return Status();
  if (!bench_.asks.present()) {
    denied_ = true;
    co_return Status();
  }
  const Result<bool> goes_on = co_await AskToGoOn(
      fmt::format("The rules refused call after call, the last by {}. Shall it go on?",
                  calls.denials().back().rule));
  if (!goes_on) co_return std::unexpected(goes_on.error());
  stopped_ = stopped_ || !*goes_on;
  co_return Status();
}

/// A turn that goes round in circles is never ended by us: the user is asked whether to go on;
/// where no client answers, the model is told.
Async<Status> Turn::CheckProgress(const Calls& calls) {
  const bool stalls = progress_.Stalls(calls.findings());
  if (progress_.moved()) stop_blocks_ = 0;
  if (!stalls || cancel_.cancelled() || stopped_) co_return Status();
  if (bench_.asks.present()) {
    const Result<bool> goes_on = co_await AskToGoOn(fmt::format(
        "The last {} steps brought nothing new. Shall it go on?", Progress::kStepsBeforeAsking));
    if (!goes_on) co_return std::unexpected(goes_on.error());
    stopped_ = stopped_ || !*goes_on;
    co_return Status();
  }
  co_return Remind(fmt::format(
      "Your last {} steps repeated calls that gave what they gave before. Do something else, or "
      "say what keeps you from going on.",
      Progress::kStepsBeforeAsking));
}

/// Asks the user whether the turn may go on. False for "Stop" and for a declined question.
Async<Result<bool>> Turn::AskToGoOn(std::string text) {
  protocol::QuestionAsk ask;
  ask.question_id = protocol::NewRequestId(ProcessRandom());
  ask.text = std::move(text);
  ask.options = Raw{R"(["Go on","Stop"])"};
  Result<QuestionReply> said =
      co_await bench_.asks.Question(std::move(ask), false, stamp_, cancel_.token());
  if (!said) co_return std::unexpected(said.error());
  const JsonView answer(*said ? (*said)->text : std::string_view());
  co_return answer.StringOr("") != "Stop" && !answer["declined"];
}

bool Turn::HasText(const protocol::Blocks& blocks) {
  return protocol::PlainText(blocks).find_first_not_of(" \t\r\n") != std::string::npos;
}

bool Turn::HasCalls(const protocol::Blocks& blocks) {
  return std::ranges::any_of(blocks, [](const protocol::Block& block) {
    return std::holds_alternative<protocol::ToolCallBlock>(block);
  });
}

}  // namespace stet::agent
