// What follows a step: the same request made smaller, another step, or the end of the turn.
#include <algorithm>

#include <fmt/format.h>

#include "agent/call_text.h"
#include "agent/compaction.h"
#include "agent/items.h"
#include "agent/outbox.h"
#include "agent/room.h"
#include "agent/turn.h"
#include "provider/provider.h"

namespace stet::agent {
namespace {

constexpr int kMaxContinuations = 3;
constexpr int kMaxOutputReminders = 3;
constexpr int kMaxGateReminders = 3;

/// What a reply may have instead of the limit that cut it; nothing when it had the most there is,
/// or the most that the user lets it have.
std::optional<std::int64_t> RaisedLimit(const provider::Model& model) {
  if (model.known || model.max_output_set || model.max_output <= 0) return std::nullopt;
  const std::int64_t raised = std::min(model.max_output * 4, model.context_window / 2);
  if (raised <= model.max_output) return std::nullopt;
  return raised;
}

}  // namespace

/// Whether there is a next step: the same request made smaller, one that goes on, or none.
Async<Status> Turn::DecideNext(const provider::CallResult& asked, TurnOutcome& end, bool& rests) {
  Result<bool> smaller = co_await RecoverRoom(asked);
  if (!smaller) co_return std::unexpected(smaller.error());
  if (*smaller) {
    --end.steps;  // The refused request does not count as a step.
    co_return Status();
  }
  CO_RETURN_IF_ERROR(Recover(asked, end, rests));
  if (!rests || end.reason != ended::kCompleted) co_return Status();
  Status heard = co_await AskStopHooks(end, rests);
  co_return heard;
}

/// True when the server refused the request as too large and the conversation has been compacted:
/// the caller asks again. Tried at most twice in a row without an answer.
Async<Result<bool>> Turn::RecoverRoom(const provider::CallResult& call) {
  constexpr int kTries = 2;
  const auto& failure = call.reply.failure;
  const bool refused = failure && (failure->kind == provider::FailureKind::kOverflow ||
                                   failure->kind == provider::FailureKind::kTooLarge);
  const bool full = !failure && call.reply.content.stop_reason == provider::stop::kOverflow;
  if (!failure) {
    overflows_ = 0;
    LearnTokens(bench_, call.reply.content.usage);
  }
  if ((!refused && !full) || cancel_.cancelled() || overflows_ >= kTries) co_return false;
  ++overflows_;
  CompactionWanted wanted{
      .trigger = trigger::kReactive, .focus = "", .smallest = overflows_ == kTries};
  const Result<std::optional<Compacted>> done =
      co_await agent::Compact(bench_, stamp_, std::move(wanted), cancel_.token());
  if (!done) co_return std::unexpected(done.error());
  // A reply that merely filled the window is in the log: the turn goes on behind it.
  co_return refused && done->has_value();
}

/// Whether the model rests, goes on, or is asked to.
Status Turn::Recover(const provider::CallResult& call, TurnOutcome& end, bool& rests) {
  if (cancel_.cancelled() || stopped_) {
    rests = true;
    end.reason = cancel_.cancelled() ? ended::kCancelled : ended::kStopped;
    return {};
  }
  if (denied_) {
    rests = true;
    end.reason = ended::kDenied;
    // What could be allowed, and how, is for those who show the denials to say.
    end.error = fmt::format(
        "stopped: the rules refused {} calls, and nobody is there to ask whether to go on",
        end.denials.size());
    return {};
  }
  if (bench_.output && bench_.output->value) {
    rests = true;
    end.reason = ended::kCompleted;
    return {};
  }
  if (HasCalls(call.reply.content.blocks)) {
    continuations_ = 0;
    return {};
  }
  ASSIGN_OR_RETURN(const bool goes_on, GoOnAfter(call));
  if (goes_on) return {};
  rests = true;
  Rest(call, end);
  return {};
}

/// True when the model must be asked again: it was told something, or something waits to be told.
Result<bool> Turn::GoOnAfter(const provider::CallResult& call) {
  const protocol::Blocks& blocks = call.reply.content.blocks;
  const std::string stop = call.reply.content.stop_reason.value_or("");
  const bool failed = call.reply.failure.has_value();
  const bool cut =
      !failed && (stop == provider::stop::kMaxTokens || stop == provider::stop::kOverflow);
  const bool broke_off = (failed && HasText(blocks)) || stop == provider::stop::kPaused;
  if (stop == provider::stop::kMaxTokens && !failed && !max_tokens_) {
    max_tokens_ = RaisedLimit(bench_.model->model());
    if (max_tokens_) --continuations_;
  }
  if ((cut || broke_off) && continuations_ < kMaxContinuations) {
    ++continuations_;
    RETURN_IF_ERROR(
        Remind("Your reply broke off. Go on exactly where it ended, without repeating anything."));
    return true;
  }
  if (failed || stop == provider::stop::kRefused) return false;
  if (!call_text_told_ && HasCallText(protocol::PlainText(blocks))) {
    call_text_told_ = true;
    RETURN_IF_ERROR(
        Remind("Your reply has a tool call written as text. Text is never run: call the tool "
               "itself, or say in words what you want to say."));
    return true;
  }
  if (!bench_.log.index().state().steers.empty()) return true;
  ASSIGN_OR_RETURN(const bool owes, OwesNotice(bench_));
  if (owes) return true;
  if (bench_.output && output_reminders_ < kMaxOutputReminders) {
    ++output_reminders_;
    RETURN_IF_ERROR(
        Remind("Give your answer by calling StructuredOutput: it must fit its schema."));
    return true;
  }
  return GoOnForGates();
}

/// The model says that it is done; a gate may say that it is not, and why. It is told so a few
/// times. What only the user can lift does not keep the turn.
Result<bool> Turn::GoOnForGates() {
  held_up_.clear();
  RETURN_IF_ERROR(bench_.run.Update(bench_.log));
  const protocol::RunNext next = bench_.run.state().next();
  if (bench_.run.state().capabilities().may_finish || next.code != "gate") return false;
  if (gate_reminders_ < kMaxGateReminders) {
    ++gate_reminders_;
    RETURN_IF_ERROR(Remind("You are not done yet: " + next.text));
    return true;
  }
  held_up_ = next.text;
  protocol::Stop stop;
  stop.kind = "blocked";
  stop.reason = next.text;
  if (!next.subject.empty()) stop.finding_ids.push_back(next.subject);
  RETURN_IF_ERROR(AppendEvent(bench_.log, std::move(stop), stamp_));
  return false;
}

void Turn::Rest(const provider::CallResult& call, TurnOutcome& end) const {
  using provider::FailureKind;
  if (const auto& failure = call.reply.failure) {
    end.failure = failure->kind;
    end.error = fmt::format("{}: {}", provider::FailureName(failure->kind), failure->message);
    const bool overflow =
        failure->kind == FailureKind::kOverflow || failure->kind == FailureKind::kTooLarge;
    end.reason = overflow                                 ? ended::kOverflow
                 : failure->kind == FailureKind::kRefused ? ended::kRefused
                                                          : ended::kError;
    if (overflow)
      end.error +=
          ". The conversation does not fit into the model's window, even compacted: rewind it, "
          "start a new session, or use a model with a larger window";
    return;
  }
  if (call.reply.content.stop_reason == provider::stop::kRefused) {
    end.reason = ended::kRefused;
    end.error = "the model refused";
  } else if (!held_up_.empty()) {
    end.reason = ended::kBlocked;
    end.error = "a gate holds the work up: " + held_up_;
  } else if (bench_.output) {
    end.reason = ended::kNoOutput;
    end.error = "the model gave no answer that fits the schema";
  } else {
    end.reason = ended::kCompleted;
  }
}

Status Turn::Remind(std::string text) {
  NewItem item{.kind = item::kRuntimeNotice, .content = std::move(text)};
  return AppendItem(bench_.log, std::move(item), stamp_);
}

}  // namespace stet::agent
