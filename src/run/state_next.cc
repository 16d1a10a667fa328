// What a run may do, and what comes next: one order for both.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "run/state.h"

namespace stet::run {
namespace {

constexpr std::string_view kDone = kStops.back();

auto Gravity(const std::string& kind) { return std::ranges::find(kStops, kind); }

protocol::RunNext Next(std::string_view code, std::string subject, std::string text, bool blocks) {
  protocol::RunNext next;
  next.code = code;
  next.subject = std::move(subject);
  next.text = std::move(text);
  next.blocks = blocks;
  return next;
}

protocol::RunNext NextOfQuestion(const protocol::RunQuestion& question) {
  return Next("question", question.question_id,
              fmt::format("an open question must be answered first: {}", question.text), true);
}

/// The action whose gate is a capability.
bool IsCapability(std::string_view gate) {
  return gate == "finish" || gate == "write" || gate == "run";
}

}  // namespace

protocol::OptionalRunStop State::stop() const {
  protocol::OptionalRunStop gravest;
  const auto consider = [&](const protocol::RunStop& stop) {
    if (!gravest || Gravity(stop.kind) < Gravity(gravest->kind)) gravest = stop;
  };
  for (const protocol::RunStop& stop : stops_) consider(stop);
  // The same failure twice, with nothing new between: more of it is no progress.
  if (repair_ &&
      (repair_->status == "blocked" || (repair_->repeats >= 2 && repair_->status != "resolved"))) {
    protocol::RunStop stuck;
    stuck.kind = "stuck";
    stuck.reason = fmt::format("attempt {} to repair it failed as the one before: {}",
                               repair_->attempt, repair_->signature.value_or("no signature"));
    if (repair_->evidence_id) stuck.finding_ids.push_back(*repair_->evidence_id);
    consider(stuck);
  }
  return gravest;
}

protocol::RunGates State::gates() const {
  protocol::RunGates gates;
  for (const Finding& finding : findings_.open()) {
    if (finding.gate.empty()) continue;
    protocol::RunGate& gate = gates.emplace_back();
    gate.finding_id = finding.data.finding_id;
    gate.policy = finding.data.policy;
    gate.severity = finding.data.severity;
    gate.gate = finding.gate;
    if (!finding.evidence.empty()) gate.evidence = finding.evidence;
    const bool never =
        !finding.evidence.empty() && evidence_.Judge(finding.evidence) == Proof::kNone;
    gate.state = never ? "not_evaluated" : Unmet(finding) ? "failed" : "passed";
  }
  return gates;
}

/// Whether an open finding still objects. One that wants evidence objects until there is some; the
/// gate for writes outside only while it has raised a finding; every other one always.
bool State::Unmet(const Finding& finding) const {
  if (finding.gate == "outside-write")
    return std::ranges::any_of(findings_.open(), [&](const Finding& other) {
      return other.gate.empty() && other.data.policy == finding.data.policy;
    });
  if (finding.evidence.empty()) return true;
  return evidence_.Judge(finding.evidence) != Proof::kPassed;
}

const Finding* State::FirstUnmet(std::string_view severity) const {
  // A gate for what is written outside objects by the findings that it raises.
  const auto found = std::ranges::find_if(findings_.open(), [&](const Finding& one) {
    return one.is(severity) && (one.gate.empty() || IsCapability(one.gate)) && Unmet(one);
  });
  return found == findings_.open().end() ? nullptr : &*found;
}

/// The first gate that holds this action up.
const Finding* State::Holding(std::string_view gate) const {
  const auto found = std::ranges::find_if(findings_.open(), [&](const Finding& one) {
    return one.gate == gate && !one.is(severity::kWarning) && Unmet(one);
  });
  return found == findings_.open().end() ? nullptr : &*found;
}

const protocol::RunQuestion* State::BlockingQuestion() const {
  const auto found = std::ranges::find(questions_, true, &protocol::RunQuestion::blocking);
  return found == questions_.end() ? nullptr : &*found;
}

protocol::Texts State::unmet_clauses() const {
  protocol::Texts unmet;
  if (!promise_) return unmet;
  for (const protocol::RunClause& clause : promise_->clauses) {
    if (clause.evidence.empty() || evidence_.Judge(clause.evidence) != Proof::kPassed)
      unmet.push_back(clause.id);
  }
  return unmet;
}

/// A promise without clauses promises nothing that could be kept.
bool State::PromiseKept() const {
  return promise_ && promise_->state == "confirmed" && !promise_->clauses.empty() &&
         unmet_clauses().empty();
}

protocol::RunNext State::NextOfStop(const protocol::RunStop& stop) const {
  return Next("stop", stop.kind, fmt::format("the run is stopped ({}): {}", stop.kind, stop.reason),
              true);
}

protocol::RunNext State::NextOfDenial(const Finding& denial) const {
  // Where only the user's answer can settle the denial, the question comes next.
  const auto question =
      std::ranges::find(questions_, denial.question, &protocol::RunQuestion::question_id);
  if (!denial.question.empty() && question != questions_.end()) return NextOfQuestion(*question);
  return Next("denied", denial.data.finding_id,
              fmt::format("{} forbids it: {}", denial.data.policy, denial.data.message), true);
}

std::optional<protocol::RunNext> State::NextReconciling() const {
  if (restore_pending())
    return Next("reconcile", compact_->id,
                "the conversation was compacted and its state is not verified yet", true);
  const protocol::RunTransaction* unsettled = transactions_.FirstUnsettled();
  if (unsettled == nullptr) return std::nullopt;
  return Next("reconcile", unsettled->transaction_id,
              fmt::format("it is not known whether {} was written: read it", unsettled->path),
              true);
}

protocol::RunNext State::NextOfGate() const {
  for (const std::string_view severity : {severity::kEvidence, severity::kSoftDeny}) {
    const Finding* unmet = FirstUnmet(severity);
    if (unmet == nullptr) continue;
    const std::string wants = unmet->evidence.empty()
                                  ? std::string("a justification or a waiver")
                                  : fmt::format("evidence of kind {}", unmet->evidence);
    const bool blocks = unmet->gate == "write" || unmet->gate == "run";
    return Next("gate", unmet->data.finding_id,
                fmt::format("{} wants {}: {}", unmet->data.policy, wants, unmet->data.message),
                blocks);
  }
  const protocol::OptionalRunStop stopped = stop();
  if (PromiseKept() || stopped) return Next("finish", "", "report what was done", false);
  return Next("go_on", "", fmt::format("go on with the phase {}", PhaseName(phase_)), false);
}

protocol::RunNext State::next() const {
  if (const protocol::OptionalRunStop stopped = stop(); stopped && stopped->kind != kDone)
    return NextOfStop(*stopped);
  if (const Finding* denial = FirstUnmet(severity::kHardDeny)) return NextOfDenial(*denial);
  if (const protocol::RunQuestion* question = BlockingQuestion()) return NextOfQuestion(*question);
  if (std::optional<protocol::RunNext> reconcile = NextReconciling()) return *std::move(reconcile);
  if (resume_) return Next("resume", "", resume_->action, false);
  return NextOfGate();
}

Rights State::RightsNow() const {
  Rights rights = RightsOf(phase_);
  const protocol::OptionalRunStop stopped = stop();
  const bool unsafe = stopped && (stopped->kind == "unsafe" || stopped->kind == "scope-drift");
  if (unsafe || BlockingQuestion() != nullptr || restore_pending())
    rights.write = rights.run = false;
  for (const Finding& finding : findings_.open()) {
    if (!finding.is(severity::kHardDeny) || !finding.gate.empty()) continue;
    rights.write = rights.write && !finding.holds_write;
    rights.run = rights.run && !finding.holds_run;
  }
  rights.write = rights.write && Holding("write") == nullptr;
  rights.run = rights.run && Holding("run") == nullptr;
  const bool objected = FirstUnmet(severity::kHardDeny) != nullptr ||
                        FirstUnmet(severity::kEvidence) != nullptr ||
                        FirstUnmet(severity::kSoftDeny) != nullptr;
  const bool broken = promise_ && promise_->state == "confirmed" && !PromiseKept();
  rights.finish = rights.finish && !next().blocks && !objected && !broken;
  return rights;
}

std::string State::WhyNot(const Rights& rights) const {
  if (rights.write && rights.run && rights.finish) return "";
  if (const protocol::RunNext now = next(); now.blocks) return now.text;
  const Rights by_phase = RightsOf(phase_);
  if (by_phase.write != rights.write || by_phase.run != rights.run) {
    const Finding* held = Holding(rights.write ? "run" : "write");
    if (held != nullptr) return fmt::format("{}: {}", held->data.policy, held->data.message);
  }
  if (!by_phase.write || !by_phase.run)
    return fmt::format("the run is in the phase {}", PhaseName(phase_));
  if (const protocol::RunNext gate = NextOfGate(); gate.code == "gate") return gate.text;
  return "the promise lacks evidence";
}

protocol::RunCapabilities State::capabilities() const {
  const Rights rights = RightsNow();
  protocol::RunCapabilities capabilities;
  capabilities.may_write = rights.write;
  capabilities.may_run = rights.run;
  capabilities.may_finish = rights.finish;
  capabilities.reason = WhyNot(rights);
  return capabilities;
}

}  // namespace stet::run
