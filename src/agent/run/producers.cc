#include "agent/run/producers.h"

#include <algorithm>

#include "agent/items.h"
#include "agent/settings.h"
#include "base/utf8.h"
#include "json/view.h"
#include "json/writer.h"
#include "policy/check_command.h"
#include "protocol/ids.h"
#include "run/capsule/restore.h"
#include "tool/text_file.h"

namespace stet::agent {
namespace {

constexpr std::size_t kMaxSummaryBytes = 500;

std::string NewId() { return protocol::NewRequestId(ProcessRandom()); }

/// {"tool":"Bash","what":"git push"}
Raw SubjectOf(const CallFacts& call) {
  const std::string_view what = call.intent.summary;
  Raw raw{""};
  JsonWriter(raw.text)
      .BeginObject()
      .Member("tool", call.tool)
      .Member("what", what.substr(0, Utf8PrefixLength(what, kMaxSummaryBytes)))
      .EndObject();
  return raw;
}

/// Whether a test or a build passed; nothing when the command is neither, or still runs.
void AddEvidence(const CallFacts& call, const tool::Outcome& outcome, Payloads& payloads) {
  if (call.intent.command.empty() || !outcome.details) return;
  const std::optional<policy::CheckKind> kind = policy::CheckKindOf(call.intent.command);
  const std::optional<std::int64_t> exit = JsonView(outcome.details->text)["exitCode"].Int();
  if (!kind || !exit) return;
  protocol::Evidence evidence;
  evidence.evidence_id = call.tool_call_id;
  evidence.kind = policy::CheckKindName(*kind);
  evidence.outcome = *exit == 0 && !outcome.is_error ? "passed" : "failed";
  Raw& data = evidence.data.emplace(Raw{""});
  JsonWriter(data.text)
      .BeginObject()
      .Member("command", call.intent.command)
      .Member("exit", *exit)
      .EndObject();
  payloads.emplace_back(std::move(evidence));
}

/// What a command wrote, for each gate that asks for it.
void AddOutsideWrites(const run::State& state, const tool::Outcome& outcome, Payloads& payloads) {
  for (const run::Finding& gate : state.findings().open()) {
    if (gate.gate != "outside-write") continue;
    for (const protocol::FileFact& fact : outcome.writes) {
      if (fact.op == "folder") continue;
      protocol::FindingRaised raised;
      raised.finding_id = NewId();
      raised.policy = gate.data.policy;
      raised.severity = gate.data.severity;
      raised.message = fact.path + " was changed by something else than a file tool";
      Raw& subject = raised.subject.emplace(Raw{""});
      JsonWriter(subject.text).BeginObject().Member("path", fact.path).EndObject();
      if (!state.findings().Has(raised.policy, raised.subject))
        payloads.emplace_back(std::move(raised));
    }
  }
}

/// What a command tried that its box does not permit.
void AddKeptBack(const run::State& state, const CallFacts& call, const tool::Outcome& outcome,
                 Payloads& payloads) {
  protocol::FindingRaised raised;
  raised.finding_id = NewId();
  raised.policy = "box";
  raised.severity = run::severity::kWarning;
  raised.message = outcome.kept_back;
  raised.subject = SubjectOf(call);
  if (!state.findings().Has(raised.policy, raised.subject))
    payloads.emplace_back(std::move(raised));
}

/// A call that failed behind its write fact: the file tells whether it wrote.
void AddReconciled(const run::State& state, const CallFacts& call, Payloads& payloads) {
  protocol::RunTransactions own = state.transactions().open();
  std::erase_if(own, [&](const protocol::RunTransaction& one) {
    return one.tool_call_id != call.tool_call_id;
  });
  for (protocol::Transaction& said : run::Reconcile(own, ReadForCapsule))
    payloads.emplace_back(std::move(said));
}

protocol::PhaseMoved MoveTo(const run::State& state, run::Phase to, std::string reason) {
  protocol::PhaseMoved moved;
  moved.from = run::PhaseName(state.phase());
  moved.to = run::PhaseName(to);
  moved.reason = std::move(reason);
  if (state.resume()) moved.next = state.resume()->action;
  return moved;
}

/// The mode that the session had before it was last put into plan mode. Bypass is never taken over
/// from an earlier process.
policy::Mode ModeBeforePlan(const log::Log& log, std::uint64_t own_since) {
  const std::vector<log::Entry>& entries = log.index().entries();
  bool earlier = false;
  for (auto event = static_cast<log::Ordinal>(entries.size()); event > 0; --event) {
    const std::uint8_t type = entries[event - 1].type;
    earlier = earlier || type == protocol::kTypeNumber<protocol::Opened>;
    if (entries[event - 1].seq < own_since) break;  // Another device's mode is none here.
    if (type != protocol::kTypeNumber<protocol::SessionInfo>) continue;
    const Result<protocol::Event> found = log.EventAt(event - 1);
    const auto* info = found ? std::get_if<protocol::SessionInfo>(&found->payload) : nullptr;
    if (info == nullptr || !info->changes.mode) continue;
    const policy::Mode mode =
        policy::ModeFrom(*info->changes.mode).value_or(policy::Mode::kDefault);
    if (mode == policy::Mode::kPlan) continue;
    return earlier && mode == policy::Mode::kBypass ? policy::Mode::kDefault : mode;
  }
  return policy::Mode::kDefault;
}

Result<run::Capsule> CapsuleAt(const log::Log& log, const std::string& compact_id) {
  ASSIGN_OR_RETURN(const log::Ordinal at, log.Find(compact_id));
  ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
  const auto* compact = std::get_if<protocol::Compaction>(&event.payload);
  if (compact == nullptr) return Fail(Code::kCorrupt, compact_id + " is no compaction");
  return run::ReadCapsule(compact->capsule.text);
}

run::Restored VerifyNow(const log::Log& log, const run::State& state) {
  run::RestoreFacts facts{.session_ids = {log.header().session_id}, .reader = ReadForCapsule};
  if (log.header().cloned_from) facts.session_ids.push_back(log.header().cloned_from->session_id);
  if (state.compact())
    return run::RestoreCapsule(CapsuleAt(log, state.compact()->id), state, facts);
  run::Restored restored;
  restored.reconciled = run::Reconcile(state.transactions().open(), ReadForCapsule);
  return restored;
}

}  // namespace

Result<std::string> ReadForCapsule(const std::string& path) {
  ASSIGN_OR_RETURN(tool::FileBytes file, tool::ReadRegularFile(path, tool::kMaxTextBytes));
  return std::move(file.bytes);
}

policy::Capabilities CapabilitiesNow(Workbench& bench) {
  if (const Status updated = bench.run.Update(bench.log); !updated)
    return {.may_write = false, .may_run = false, .reason = updated.error().Text()};
  const protocol::RunCapabilities now = bench.run.state().capabilities();
  return {.may_write = now.may_write, .may_run = now.may_run, .reason = now.reason};
}

Payloads FindingsOfDenial(Workbench& bench, const CallFacts& call,
                          const policy::Decision& decision) {
  Payloads payloads;
  if (decision.rule.starts_with("run:") || !bench.run.Update(bench.log)) return payloads;
  protocol::FindingRaised raised;
  raised.finding_id = NewId();
  raised.policy = decision.rule;
  raised.severity = decision.hard ? run::severity::kHardDeny : run::severity::kWarning;
  raised.message = decision.reason;
  raised.subject = SubjectOf(call);
  if (!bench.run.state().findings().Has(raised.policy, raised.subject))
    payloads.emplace_back(std::move(raised));
  return payloads;
}

Payloads FactsOfOutcome(Workbench& bench, const CallFacts& call, const tool::Outcome& outcome) {
  Payloads payloads;
  // What went well all the same needs nobody's attention.
  const bool kept_back = !outcome.kept_back.empty() && outcome.is_error;
  const bool matters = outcome.is_error || !outcome.writes.empty() || kept_back;
  if (matters && bench.run.Update(bench.log)) {
    if (kept_back) AddKeptBack(bench.run.state(), call, outcome, payloads);
    AddOutsideWrites(bench.run.state(), outcome, payloads);
    if (outcome.is_error) AddReconciled(bench.run.state(), call, payloads);
  }
  AddEvidence(call, outcome, payloads);
  return payloads;
}

Payloads EndOfPlan(const Workbench& bench, policy::Mode* mode) {
  *mode = ModeBeforePlan(bench.log, bench.own.since);
  Payloads payloads;
  payloads.emplace_back(
      MoveTo(bench.run.state(), run::Phase::kExecute, "the user approved the plan"));
  protocol::SessionInfo info;
  info.changes.mode = std::string(policy::ModeName(*mode));
  payloads.emplace_back(std::move(info));
  return payloads;
}

Status PrepareRun(Workbench& bench, const protocol::Stamp& stamp) {
  RETURN_IF_ERROR(bench.run.Update(bench.log));
  if (bench.run.state().restore_pending()) RETURN_IF_ERROR(RestoreAfterCompact(bench, stamp));
  const bool plans = bench.settings->rules.mode == policy::Mode::kPlan;
  const bool in_plan = bench.run.state().phase() == run::Phase::kPlan;
  if (plans == in_plan) return {};
  protocol::PhaseMoved moved =
      MoveTo(bench.run.state(), plans ? run::Phase::kPlan : run::Phase::kExecute,
             plans ? "plan mode" : "plan mode was left");
  RETURN_IF_ERROR(AppendEvent(bench.log, std::move(moved), stamp));
  return bench.run.Update(bench.log);
}

Status VerifyRun(Workbench& bench, const protocol::Stamp& stamp) {
  if (bench.run.verified()) return {};
  RETURN_IF_ERROR(RestoreAfterCompact(bench, stamp));
  bench.run.set_verified(true);
  return {};
}

Status LiftStop(Workbench& bench, const protocol::Stamp& stamp) {
  RETURN_IF_ERROR(bench.run.Update(bench.log));
  const protocol::OptionalRunStop stop = bench.run.state().stop();
  if (!stop || stop->kind == "done" || stop->kind == "unsafe" || stop->kind == "scope-drift")
    return {};
  protocol::Stop lifted;
  lifted.kind = stop->kind;
  lifted.reason = "the session went on";
  lifted.cleared = true;
  return AppendEvent(bench.log, std::move(lifted), stamp);
}

Status RestoreAfterCompact(Workbench& bench, const protocol::Stamp& stamp) {
  RETURN_IF_ERROR(bench.run.Update(bench.log));
  const run::State& state = bench.run.state();
  const run::Restored restored = VerifyNow(bench.log, state);
  if (!run::VerdictsDiffer(restored, state)) return {};
  std::vector<log::Draft> batch;
  const auto add = [&](protocol::Payload payload) {
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = stamp});
  };
  for (const protocol::Transaction& said : restored.reconciled) add(said);
  if (state.compact()) {
    protocol::CapsuleRestored done;
    done.compact_id = state.compact()->id;
    done.verdicts = run::VerdictsJson(restored);
    add(std::move(done));
  }
  NewOwed told{.origin = "system",
               .kind = std::string(item::kRuntimeNotice),
               .text = run::RenderRestored(restored)};
  ASSIGN_OR_RETURN(std::optional<protocol::Payload> owed, OwedEvent(bench, std::move(told)));
  if (owed) add(*std::move(owed));
  RETURN_IF_ERROR(bench.log.Append(std::move(batch)));
  return bench.run.Update(bench.log);
}

}  // namespace stet::agent
