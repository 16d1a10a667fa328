#include "agent/turn.h"

#include <fmt/format.h>

#include "agent/model_call.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "log/tree.h"
#include "protocol/ids.h"

namespace stet::agent {
namespace {

constexpr int kMaxContinuations = 3;

tool::Outcome NotRun(std::string_view why) {
  return tool::Problem(fmt::format("This call was not run: {}", why));
}

bool HasText(const protocol::Blocks& blocks) {
  return protocol::PlainText(blocks).find_first_not_of(" \t\r\n") != std::string::npos;
}

bool HasCalls(const protocol::Blocks& blocks) {
  for (const protocol::Block& block : blocks) {
    if (std::holds_alternative<protocol::ToolCallBlock>(block)) return true;
  }
  return false;
}

}  // namespace

/// The reply as transients of the event that it will become.
class Turn::StreamSink final : public provider::Sink {
 public:
  StreamSink(log::Log& log, std::string event_id) : log_(log), event_id_(std::move(event_id)) {}

  void On(const provider::StreamEvent& event) override {
    std::visit([&](const auto& one) { Publish(one); }, event);
  }

 private:
  template <class T>
  void Publish(const T&) {}
  void Publish(const provider::MessageStart& start) {
    protocol::MessageStart out;
    out.event_id = event_id_;
    out.parent_id = log_.leaf_id();
    out.role = "assistant";
    out.model = start.model;
    log_.Publish(std::move(out));
  }
  void Publish(const provider::BlockStart& start) {
    if (start.tool_call_id) call_ids_[start.index] = *start.tool_call_id;
    if (start.tool_call_id) PublishCall(start.index, start.tool_name, "");
  }
  void Publish(const provider::TextDelta& delta) {
    protocol::TextDelta out;
    out.event_id = event_id_;
    out.block_index = delta.index;
    out.delta = delta.text;
    log_.Publish(std::move(out));
  }
  void Publish(const provider::ThinkingDelta& delta) {
    protocol::ThinkingDelta out;
    out.event_id = event_id_;
    out.block_index = delta.index;
    out.delta = delta.text;
    log_.Publish(std::move(out));
  }
  void Publish(const provider::ToolCallDelta& delta) {
    PublishCall(delta.index, std::nullopt, delta.text);
  }
  void Publish(const provider::Waiting& waiting) { PublishWait(waiting.why, waiting.until); }
  void Publish(const provider::Stalled& stalled) {
    PublishWait(fmt::format("no byte for {} ms", stalled.idle_ms), stalled.until);
  }
  void Publish(const provider::Switched& change) {
    PublishWait(fmt::format("{}: asking {} instead", change.why, change.to), std::nullopt);
  }
  void Publish(const provider::Restarted&) {
    protocol::MessageCancelled out;
    out.event_id = event_id_;
    out.reason = "tried again";
    log_.Publish(std::move(out));
  }

  void PublishCall(std::int64_t index, std::optional<std::string> name, std::string text) {
    protocol::ToolCallDelta out;
    out.event_id = event_id_;
    out.block_index = index;
    out.tool_call_id = call_ids_[index];
    out.tool_name = std::move(name);
    out.delta = std::move(text);
    log_.Publish(std::move(out));
  }
  void PublishWait(std::string what, std::optional<std::int64_t> until) {
    protocol::Wait out;
    out.who = "model";
    out.what = std::move(what);
    out.until = until;
    log_.Publish(std::move(out));
  }

  log::Log& log_;
  std::string event_id_;
  std::unordered_map<std::int64_t, std::string> call_ids_;
};

Turn::Turn(Workbench& bench, CancelToken cancel) : bench_(bench), cancel_(std::move(cancel)) {
  stamp_.turn_id = protocol::NewTurnId(ProcessRandom());
}

Status Turn::Append(protocol::Payload payload, const std::string& id) {
  std::vector<log::Draft> batch;
  batch.push_back({.payload = std::move(payload), .id = id, .stamp = stamp_});
  RETURN_IF_ERROR(bench_.log.Append(std::move(batch)));
  return {};
}

/// The snapshot, if the session has none yet, and the user's message; then the turn's start.
Status Turn::Begin(protocol::Blocks content) {
  const std::vector<log::Entry>& entries = bench_.log.index().entries();
  std::optional<protocol::InstructionSnapshot> snapshot;
  for (log::Ordinal event = 0; event < entries.size() && !snapshot; ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::InstructionSnapshot>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, bench_.log.EventAt(event));
    if (const auto* kept = std::get_if<protocol::InstructionSnapshot>(&found.payload))
      snapshot = *kept;
  }
  if (!snapshot) {
    snapshot = TakeSnapshot(bench_.instructions, SystemClock());
    RETURN_IF_ERROR(Append(*snapshot));
  }
  system_ = RenderSnapshot(*snapshot);
  RETURN_IF_ERROR(LearnFiles());
  protocol::UserMessage message;
  message.source = "user";
  message.message.blocks = std::move(content);
  RETURN_IF_ERROR(Append(std::move(message)));
  protocol::Turn start;
  start.phase = "start";
  RETURN_IF_ERROR(Append(std::move(start)));
  protocol::RuntimeStart started;
  started.turn_id = *stamp_.turn_id;
  bench_.log.Publish(std::move(started));
  return {};
}

/// What the model knows of files by earlier turns.
Status Turn::LearnFiles() {
  const std::vector<log::Entry>& entries = bench_.log.index().entries();
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::FileFact>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, bench_.log.EventAt(event));
    if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) files_.Take(*fact);
  }
  return {};
}

Status Turn::Finish(TurnEnd& end) {
  protocol::Turn last;
  last.phase = "end";
  last.reason = end.reason;
  last.steps = end.steps;
  RETURN_IF_ERROR(Append(std::move(last)));
  protocol::RuntimeEnd ended;
  ended.turn_id = *stamp_.turn_id;
  ended.reason = end.reason;
  if (!end.error.empty()) ended.error = end.error;
  bench_.log.Publish(std::move(ended));
  return {};
}

Task<Result<TurnEnd>> Turn::Run(protocol::Blocks content) {
  TurnEnd end;
  CO_RETURN_IF_ERROR(Begin(std::move(content)));
  bool rests = false;
  while (!rests) {
    if (bench_.max_steps > 0 && end.steps >= bench_.max_steps) {
      end.reason = ended::kMaxTurns;
      end.error = fmt::format("stopped after {} steps, as asked", end.steps);
      break;
    }
    const Status stepped = co_await Step(end, rests);
    if (!stepped) co_return std::unexpected(stepped.error());
  }
  CO_RETURN_IF_ERROR(Finish(end));
  co_return end;
}

Result<provider::Request> Turn::BuildRequest() {
  RETURN_IF_ERROR(conversation_.Update(bench_.log));
  provider::Request request;
  request.system = system_;
  for (tool::ToolSpec& spec : bench_.tools.Specs()) {
    provider::ToolSpec asked{std::move(spec.name), std::move(spec.description),
                             std::move(spec.schema)};
    request.tools.push_back(std::move(asked));
  }
  request.entries = conversation_.Entries();
  request.effort = bench_.effort;
  request.cache_key = bench_.log.header().session_id;
  request.read_blob = [&log = bench_.log](const std::string& blob) {
    return log.blobs().Get(blob);
  };
  return request;
}

Task<Status> Turn::Step(TurnEnd& end, bool& rests) {
  ++end.steps;
  stamp_.step_id = fmt::format("{}.{}", *stamp_.turn_id, end.steps);
  CO_ASSIGN_OR_RETURN(const provider::Request request, BuildRequest());
  const std::string event_id = protocol::NewEventId(ProcessRandom());
  StreamSink sink(bench_.log, event_id);
  CallPurpose purpose;
  purpose.purpose = "turn";
  purpose.stamp = stamp_;
  Result<provider::CallResult> asked =
      co_await AskModel(bench_.log, bench_.model, request, purpose, sink, cancel_);
  if (!asked) co_return std::unexpected(asked.error());
  const protocol::Blocks blocks = asked->reply.content.blocks;
  CO_RETURN_IF_ERROR(Keep(*asked, event_id));
  if (HasText(blocks)) end.text = protocol::PlainText(blocks);
  if (HasCalls(blocks)) {
    const Status ran = co_await RunCalls(blocks, end);
    if (!ran) co_return ran;
  }
  co_return Recover(*asked, end, rests);
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
  return Append(std::move(message), event_id);
}

/// Whether the model rests, goes on, or is asked to.
Status Turn::Recover(const provider::CallResult& call, TurnEnd& end, bool& rests) {
  using provider::FailureKind;
  const protocol::Blocks& blocks = call.reply.content.blocks;
  if (cancel_.cancelled()) {
    rests = true;
    end.reason = ended::kCancelled;
    return {};
  }
  if (HasCalls(blocks)) {
    continuations_ = 0;
    return {};
  }
  const std::string stop = call.reply.content.stop_reason.value_or("");
  const bool broke_off = call.reply.failure.has_value() && HasText(blocks);
  const bool cut = !call.reply.failure &&
                   (stop == provider::stop::kMaxTokens || stop == provider::stop::kPaused);
  if ((broke_off || cut) && continuations_ < kMaxContinuations) {
    ++continuations_;
    return Remind(
        "runtime_notice",
        "Your reply broke off. Go on exactly where it ended, without repeating anything.");
  }
  rests = true;
  if (call.reply.failure) {
    end.failure = call.reply.failure->kind;
    end.error = fmt::format("{}: {}", provider::FailureName(call.reply.failure->kind),
                            call.reply.failure->message);
    end.reason = call.reply.failure->kind == FailureKind::kOverflow  ? ended::kOverflow
                 : call.reply.failure->kind == FailureKind::kRefused ? ended::kRefused
                                                                     : ended::kError;
  } else {
    end.reason = stop == provider::stop::kRefused ? ended::kRefused : ended::kCompleted;
  }
  return {};
}

Status Turn::Remind(std::string_view kind, std::string_view text) {
  protocol::HarnessItem item;
  item.placement = "own";
  item.item.kind = kind;
  item.item.origin = "system";
  item.item.content = text;
  item.item.visibility = "hidden";
  return Append(std::move(item));
}

Task<Status> Turn::RunCalls(const protocol::Blocks& blocks, TurnEnd& end) {
  for (const protocol::Block& block : blocks) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    if (call == nullptr) continue;
    const Status ran = co_await RunCall(*call, end);
    if (!ran) co_return ran;
  }
  co_return Status();
}

Task<Status> Turn::RunCall(const protocol::ToolCallBlock& block, TurnEnd& end) {
  if (cancel_.cancelled()) co_return Answer(block.tool_call_id, NotRun("the turn was cancelled"));
  if (const Status fits = bench_.tools.Check(block.tool_name, block.args); !fits)
    co_return Answer(block.tool_call_id, tool::Problem(fits.error().message));
  tool::Tool& tool = *bench_.tools.Find(block.tool_name);
  const Result<tool::Intent> intent = tool.Intend(block.args, bench_.workspace);
  if (!intent) co_return Answer(block.tool_call_id, tool::Problem(intent.error().message));
  policy::Question question;
  question.tool = block.tool_name;
  question.effects = intent->effects;
  question.reads = intent->reads;
  question.writes = intent->writes;
  question.command = intent->command;
  const policy::Decision decision = policy::Decide(bench_.rules, question);
  if (decision.verdict != policy::Verdict::kAllow) {
    // Nobody is there to be asked: what would be asked is denied.
    Denial denial{block.tool_name, block.tool_call_id, block.args, decision.rule};
    end.denials.push_back(std::move(denial));
    const bool asks = decision.verdict == policy::Verdict::kAsk;
    co_return Answer(
        block.tool_call_id,
        NotRun(fmt::format("{}{} (rule: {})", decision.reason,
                           asks ? ", and nobody is there to ask" : "", decision.rule)));
  }
  co_return co_await Execute(tool, block, *intent, decision);
}

Task<Status> Turn::Execute(tool::Tool& tool, const protocol::ToolCallBlock& block,
                           const tool::Intent& intent, const policy::Decision& decision) {
  protocol::ToolStarted started;
  started.tool_call_id = block.tool_call_id;
  started.tool = block.tool_name;
  started.args_hash = FastHashHex(block.args.text);
  started.effects = intent.effects;
  started.decision.rule = decision.rule;
  started.decision.by = "policy";
  CO_RETURN_IF_ERROR(Append(std::move(started)));
  const auto begin = SystemClock().Steady();
  protocol::ToolExecutionStart shown;
  shown.tool_call_id = block.tool_call_id;
  shown.tool_name = block.tool_name;
  shown.args = block.args;
  bench_.log.Publish(std::move(shown));
  tool::Call call{.tool_call_id = block.tool_call_id,
                  .loop = bench_.loop,
                  .workspace = bench_.workspace,
                  .files = files_,
                  .cancel = cancel_,
                  .record_write = [&](protocol::FileFact fact) { return Append(std::move(fact)); },
                  .record_task = [&](protocol::Task task) { return Append(std::move(task)); },
                  .put_blob = [&](std::string_view bytes) { return bench_.log.blobs().Put(bytes); },
                  .update =
                      [&](std::string_view text) {
                        protocol::ToolExecutionUpdate update;
                        update.tool_call_id = block.tool_call_id;
                        update.partial = text;
                        bench_.log.Publish(std::move(update));
                      }};
  const tool::Outcome outcome = co_await tool.Run(block.args, call);
  for (const protocol::FileFact& fact : outcome.reads) {
    files_.Take(fact);
    CO_RETURN_IF_ERROR(Append(fact));
  }
  // In one batch, since each of them asks for a flush.
  std::vector<log::Draft> writes;
  for (const protocol::FileFact& fact : outcome.writes) {
    files_.Take(fact);
    writes.push_back({.payload = fact, .id = "", .stamp = stamp_});
  }
  if (!writes.empty()) {
    CO_RETURN_IF_ERROR(bench_.log.Append(std::move(writes)));
  }
  CO_RETURN_IF_ERROR(Answer(block.tool_call_id, outcome));
  protocol::ToolExecutionEnd done;
  done.tool_call_id = block.tool_call_id;
  done.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - begin).count();
  done.is_error = outcome.is_error;
  bench_.log.Publish(std::move(done));
  co_return Status();
}

Status Turn::Answer(const std::string& tool_call_id, const tool::Outcome& outcome) {
  protocol::ToolResult result;
  result.tool_call_id = tool_call_id;
  result.is_error = outcome.is_error;
  result.content = Raw{Encode(outcome.content)};
  for (const protocol::Block& block : outcome.content) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
      result.blobs.push_back(image->blob);
  }
  return Append(std::move(result));
}

}  // namespace stet::agent
