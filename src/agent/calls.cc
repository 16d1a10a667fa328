#include "agent/calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/asks.h"
#include "agent/calls_one.h"
#include "agent/hooks.h"
#include "agent/question.h"
#include "agent/run_producers.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/loop.h"
#include "tool/tool.h"

namespace stet::agent {
namespace {

constexpr std::size_t kMaxSideBySide = 8;

}  // namespace

tool::Outcome NotRun(std::string_view why) {
  return tool::Problem(fmt::format("This call was not run: {}", why));
}

Calls::Calls(Workbench& bench, const protocol::Stamp& stamp, CancelToken cancel,
             const Unfinished* earlier)
    : bench_(bench), stamp_(stamp), cancel_(std::move(cancel)), earlier_(earlier) {}

Calls::~Calls() = default;

void Calls::Begun(std::int64_t index, std::string_view tool) {
  const tool::Tool* found = bench_.tools.Find(tool);
  begun_[index] = found != nullptr && found->reads_only();
}

void Calls::Complete(std::int64_t index, const protocol::ToolCallBlock& block) {
  // Early only when every call before it in the message reads, too: else it could see a file before
  // an earlier call has changed it.
  const auto all_read = std::ranges::all_of(
      begun_, [&](const auto& call) { return call.first > index || call.second; });
  if (!all_read || running_.size() >= kMaxSideBySide || cancel_.cancelled() || !LoadFiles()) return;
  // What hooks say of a call is appended, which must wait for its message.
  if (HooksWant(bench_, hook::Event::kPreToolUse, block.tool_name)) return;
  Result<OnePtr> one = Prepare(block);
  if (!one) return;
  policy::Decision decision = Decide(**one);
  if (decision.verdict != policy::Verdict::kAllow || (*one)->intent.effects) return;
  early_[block.tool_call_id] = *one;
  Start(*one, std::move(decision), "policy");
}

void Calls::Forget() {
  for (const auto& [id, one] : early_) one->cancel.Cancel();
  early_.clear();
  begun_.clear();
}

Async<void> Calls::Finish() {
  Forget();
  for (const OnePtr& one : running_) co_await one->ended;
  running_.clear();
}

Async<Status> Calls::Run(const protocol::Blocks& blocks) {
  CO_RETURN_IF_ERROR(LoadFiles());
  CO_RETURN_IF_ERROR(PrepareRun(bench_, stamp_));
  // What started early is announced first: its message is in the log only now.
  for (const protocol::Block& block : blocks) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    const auto early = call != nullptr ? early_.find(call->tool_call_id) : early_.end();
    if (early == early_.end()) continue;
    CO_RETURN_IF_ERROR(Announce(*early->second));
    side_by_side_.push_back(early->second);
  }
  for (const protocol::Block& block : blocks) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    if (call == nullptr || early_.contains(call->tool_call_id)) continue;
    const bool open =
        std::ranges::find(bench_.log.open_calls(), call->tool_call_id,
                          &log::OpenCall::tool_call_id) != bench_.log.open_calls().end();
    if (!open) continue;
    Status ran = co_await RunCall(*call);
    if (!ran) {
      status_ = std::move(ran);
      break;
    }
  }
  Status rest = co_await Await(0);
  for (std::size_t i = 0; rest && i < side_by_side_.size(); ++i)
    rest = co_await AfterCall(*side_by_side_[i]);
  co_return rest;
}

Result<Calls::OnePtr> Calls::Prepare(const protocol::ToolCallBlock& block) const {
  RETURN_IF_ERROR(bench_.tools.Check(block.tool_name, block.args));
  auto one = std::make_shared<One>(bench_.loop, cancel_);
  one->block = block;
  one->args = block.args;
  one->tool = bench_.tools.Find(block.tool_name);
  ASSIGN_OR_RETURN(one->intent, one->tool->Intend(one->args, bench_.workspace));
  return one;
}

policy::Question Calls::Question(const One& one) const {
  return QuestionOf(one.block.tool_name, one.intent, bench_.workspace, bench_.settings->rules);
}

policy::Decision Calls::Decide(const One& one) const {
  return policy::Decide(bench_.settings->rules, Question(one), CircumstancesOf(one.intent));
}

/// What the run permits now; of a command, whether it would run in a sandbox, and whether that
/// hides what is excluded.
policy::Circumstances Calls::CircumstancesOf(const tool::Intent& intent) const {
  const SessionSettings& settings = *bench_.settings;
  policy::Circumstances now{.run = CapabilitiesNow(bench_)};
  if (intent.command.empty()) return now;
  now.sandboxed = IsBoxed(settings.sandbox, settings.rules.mode);
  now.hides_excluded = now.sandboxed && !intent.unsandboxed && HidesExcluded(settings.sandbox);
  return now;
}

Async<Status> Calls::RunCall(const protocol::ToolCallBlock& block) {
  if (cancel_.cancelled()) co_return Answer(block, NotRun("the turn was cancelled"));
  if (stopped_) co_return Answer(block, NotRun("the turn was stopped"));
  Result<OnePtr> prepared = Prepare(block);
  if (!prepared) co_return Answer(block, tool::Problem(prepared.error().message));
  const OnePtr one = *std::move(prepared);
  policy::Decision decision = Decide(*one);
  std::string by = "policy";
  Result<bool> wanted = co_await BeforeCall(*one, decision, by);
  if (!wanted) co_return std::unexpected(wanted.error());
  if (!*wanted) co_return Status();
  Result<bool> permitted = co_await Permit(*one, decision, by);
  if (!permitted) co_return std::unexpected(permitted.error());
  if (!*permitted) co_return Status();
  Status ran = co_await RunAllowed(one, std::move(decision), std::move(by));
  co_return ran;
}

/// A read waits only until fewer than kMaxSideBySide run. Every other call runs alone: it waits for
/// all before it, and all behind it wait for it.
Async<Status> Calls::RunAllowed(OnePtr one, policy::Decision decision, std::string by) {
  const bool alone = !one->tool->reads_only() || one->intent.effects;
  Status room = co_await Await(alone ? 0 : kMaxSideBySide - 1);
  if (!room) co_return room;
  Result<Boxed> box = BoxFor(bench_.settings->sandbox, bench_.settings->rules.mode, one->intent,
                             by == "policy" ? AllowedBy::kPolicy : AllowedBy::kSomebody);
  if (!box) co_return Answer(one->block, NotRun(box.error().message));
  one->box = *std::move(box);
  Start(one, std::move(decision), std::move(by));
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
  if (ended) ended = co_await AfterCall(*one);
  co_return ended;
}

/// True: it may run. False: it has its result, which says why not.
Async<Result<bool>> Calls::Permit(One& one, policy::Decision& decision, std::string& by) {
  if (decision.verdict == policy::Verdict::kAllow) co_return true;
  Result<std::optional<bool>> answered = co_await AskHooks(one, decision, by);
  if (!answered) co_return std::unexpected(answered.error());
  if (*answered) co_return **answered;
  if (decision.verdict == policy::Verdict::kDeny || !bench_.asks.present()) {
    const bool nobody = decision.verdict == policy::Verdict::kAsk;
    CO_RETURN_IF_ERROR(Refuse(one, decision, nobody ? ", and nobody is there to ask" : ""));
    co_return false;
  }
  protocol::PermissionAsk ask;
  ask.tool_call_id = one.block.tool_call_id;
  ask.tool = one.block.tool_name;
  ask.args = one.args;
  ask.summary = one.intent.summary;
  ask.reason = decision.reason;
  ask.rule = decision.rule;
  ask.session_rule = policy::RuleText(policy::GrantFor(bench_.settings->rules, Question(one)));
  const std::string hash = FastHashHex(one.args.text);
  if (earlier_ != nullptr) {
    const auto before = std::ranges::find(earlier_->permissions, one.block.tool_call_id,
                                          &protocol::Permission::tool_call_id);
    // An answer counts only for the arguments that were asked about.
    if (before != earlier_->permissions.end() && before->args_hash == hash) {
      ask.request_id = before->request_id;
      if (before->phase == "answered") {
        protocol::PermissionAnswer answer;
        answer.allow = before->answer == "allow";
        answer.args = before->args;
        by = before->by.value_or("");
        co_return TakeAnswer(one, answer, decision);
      }
      if (before->phase == "withdrawn") ask.request_id.clear();
    }
  }
  NotifyHooks(bench_, stamp_,
              hook::OnNotification("permission_prompt", fmt::format("{} waits for your word: {}",
                                                                    ask.tool, ask.summary)));
  Result<PermissionReply> said = co_await bench_.asks.Permission(ask, hash, stamp_, cancel_);
  if (!said) co_return std::unexpected(said.error());
  if (!*said) {
    CO_RETURN_IF_ERROR(Answer(one.block, NotRun("the turn was cancelled before it was allowed")));
    co_return false;
  }
  const protocol::PermissionAnswer& answer = (*said)->answer;
  if (answer.allow && answer.scope != "once") Grant(ask.session_rule, answer.scope);
  by = (*said)->by;
  co_return TakeAnswer(one, answer, decision);
}

/// The rule allows from now on, in this session; a wider grant is also kept for later sessions.
void Calls::Grant(const std::string& rule, const std::string& scope) {
  bench_.settings.Grant({policy::GrantFrom(rule)});
  if (scope == "session" || !bench_.keep_grant) return;
  if (const Status kept = bench_.keep_grant(scope, rule); !kept)
    STET_LOG(kWarn, "a grant could not be kept: {}", kept.error().Text());
}

Result<bool> Calls::TakeAnswer(One& one, const protocol::PermissionAnswer& answer,
                               policy::Decision& decision) {
  if (!answer.allow) {
    stopped_ = answer.stop;
    policy::Decision denied{policy::Verdict::kDeny, "user", "the user said no"};
    if (!answer.message.empty()) denied.reason += ": " + answer.message;
    RETURN_IF_ERROR(Deny(one, denied, denied.reason));
    return false;
  }
  if (!answer.args || answer.args->text == one.args.text) return true;
  return Change(one, *answer.args, "as the user edited it", decision);
}

/// Takes the arguments that the user or a hook put in place of the model's, and lets policy decide
/// again: the answer was given to the old ones. False: it was refused, and has its result.
Result<bool> Calls::Change(One& one, Raw args, std::string_view how, policy::Decision& decision) {
  one.args = std::move(args);
  const Status fits = bench_.tools.Check(one.block.tool_name, one.args);
  Result<tool::Intent> intent =
      fits ? one.tool->Intend(one.args, bench_.workspace) : std::unexpected(fits.error());
  if (!intent) {
    RETURN_IF_ERROR(Answer(one.block, NotRun(fmt::format("{}, {}", how, intent.error().message))));
    return false;
  }
  one.intent = *std::move(intent);
  decision = Decide(one);
  if (decision.verdict != policy::Verdict::kDeny) return true;
  RETURN_IF_ERROR(Refuse(one, decision, ""));
  return false;
}

Status Calls::Refuse(const One& one, const policy::Decision& decision, std::string_view more) {
  return Deny(one, decision, fmt::format("{}{} (rule: {})", decision.reason, more, decision.rule));
}

Status Calls::Deny(const One& one, const policy::Decision& decision, std::string_view why) {
  denials_.push_back({one.block.tool_name, one.block.tool_call_id, one.args, decision.rule});
  return Answer(one.block, NotRun(why), Drafts(FindingsOfDenial(bench_, one.facts(), decision)));
}

std::vector<log::Draft> Calls::Drafts(std::vector<protocol::Payload> payloads) const {
  std::vector<log::Draft> batch;
  for (protocol::Payload& payload : payloads)
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = stamp_});
  return batch;
}

void Calls::Start(const OnePtr& one, policy::Decision decision, std::string by) {
  one->started.tool_call_id = one->block.tool_call_id;
  one->started.tool = one->block.tool_name;
  one->started.args_hash = FastHashHex(one->args.text);
  if (one->args.text != one->block.args.text) one->started.args = one->args;
  one->started.effects = one->intent.effects;
  one->started.sandbox = BoxText(one->box);
  one->started.decision.rule = std::move(decision.rule);
  one->started.decision.by = std::move(by);
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
    one->took =
        std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - one->began);
    bench_.redactor.Clean(outcome.content);
    one->outcome = std::move(outcome);
    if (one->in_log) {
      if (Status landed = AppendOutcome(*one); !landed && status_) status_ = std::move(landed);
    }
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
  const std::string& id = one.block.tool_call_id;
  return {.tool_call_id = id,
          .loop = bench_.loop,
          .workspace = bench_.workspace,
          .files = *bench_.files,
          .cancel = one.cancel.token(),
          .record_write =
              [this](protocol::FileFact fact) {
                return AppendEvent(bench_.log, std::move(fact), stamp_);
              },
          .record_task =
              [this, &one](protocol::Task task) {
                if (task.phase == "start")
                  NotifyHooks(bench_, stamp_,
                              hook::OnTaskCreated(task.task_id, one.intent.summary));
                if (task.name) task.name = bench_.redactor.Clean(*std::move(task.name));
                return AppendEvent(bench_.log, std::move(task), stamp_);
              },
          .put_blob =
              [this](std::string_view bytes) {
                return bench_.log.blobs().Put(
                    bench_.redactor.empty() ? bytes : bench_.redactor.Clean(std::string(bytes)));
              },
          .get_blob = [this](std::string_view name) { return bench_.log.blobs().Get(name); },
          .update =
              [this, &one](std::string_view text) {
                if (!one.in_log) return;
                protocol::ToolExecutionUpdate update;
                update.tool_call_id = one.block.tool_call_id;
                update.partial = bench_.redactor.Clean(std::string(text));
                bench_.log.Publish(std::move(update));
              },
          .ask = [this, &one](
                     std::string text,
                     Raw options) { return AskUser(one, std::move(text), std::move(options)); },
          .planning = bench_.settings->rules.mode == policy::Mode::kPlan,
          .sandbox = one.box.chosen ? &*one.box.chosen : nullptr,
          .sandbox_note = one.box.note,
          .editor = bench_.editor,
          .show_terminal =
              [this, &one](const std::string& terminal_id) {
                protocol::ToolExecutionUpdate update;
                update.tool_call_id = one.block.tool_call_id;
                update.terminal_id = terminal_id;
                bench_.log.Publish(std::move(update));
              }};
}

Async<Result<Raw>> Calls::AskUser(const One& one, std::string text, Raw options) {
  if (!bench_.asks.present())
    co_return Fail(Code::kUnavailable, "nobody is there to ask: decide yourself, and say so");
  bool reopened = false;
  if (earlier_ != nullptr) {
    const auto before = std::ranges::find(earlier_->questions, one.block.tool_call_id,
                                          &protocol::Question::question_id);
    reopened = before != earlier_->questions.end();
    if (reopened && before->phase == "answered" && before->answer) co_return *before->answer;
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

/// Waits until at most so many run.
Async<Status> Calls::Await(std::size_t at_most) {
  while (running_.size() > at_most) {
    const OnePtr first = running_.front();
    co_await first->ended;
    running_.erase(running_.begin());
  }
  co_return status_;
}

// One batch, the result last: a crash may keep a prefix of it, but never a result without the facts
// of its call.
Status Calls::AppendOutcome(One& one) {
  std::vector<log::Draft> batch;
  const auto add = [&](protocol::Payload payload) {
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = stamp_});
  };
  if (one.tool->asks_user()) add(one.started);
  for (const auto* facts : {&one.outcome->reads, &one.outcome->writes}) {
    for (const protocol::FileFact& fact : *facts) {
      bench_.files->Learn(fact);
      add(fact);
    }
  }
  for (log::Draft& draft : Drafts(FactsOfOutcome(bench_, one.facts(), *one.outcome)))
    batch.push_back(std::move(draft));
  std::optional<policy::Mode> mode;
  if (one.outcome->plan_approved) {
    for (log::Draft& draft : Drafts(EndOfPlan(bench_, &mode.emplace())))
      batch.push_back(std::move(draft));
  }
  RETURN_IF_ERROR(Answer(one.block, *one.outcome, std::move(batch)));
  one.result_id = bench_.log.leaf_id().value_or("");
  if (mode) bench_.settings.SetMode(*mode);
  protocol::ToolExecutionEnd done;
  done.tool_call_id = one.block.tool_call_id;
  done.duration_ms = one.took.count();
  done.is_error = one.outcome->is_error;
  bench_.log.Publish(std::move(done));
  return {};
}

/// `batch` goes before the result.
Status Calls::Answer(const protocol::ToolCallBlock& block, const tool::Outcome& outcome,
                     std::vector<log::Draft> batch) {
  protocol::ToolResult result;
  result.tool_call_id = block.tool_call_id;
  result.is_error = outcome.is_error;
  result.content = Raw{Encode(outcome.content)};
  for (const protocol::Block& part : outcome.content) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&part))
      result.blobs.push_back(image->blob);
  }
  findings_.push_back(FastHashHex(block.tool_name + block.args.text + result.content.text));
  batch.push_back({.payload = std::move(result), .id = "", .stamp = stamp_});
  RETURN_IF_ERROR(bench_.log.Append(std::move(batch)));
  return {};
}

Status Calls::LoadFiles() {
  if (bench_.files) return {};
  ASSIGN_OR_RETURN(bench_.files, ReadKnownFiles(bench_.log));
  return {};
}

}  // namespace stet::agent
