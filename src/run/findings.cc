#include "run/findings.h"

#include <algorithm>
#include <array>

#include "json/view.h"
#include "run/bounded.h"

namespace stet::run {
namespace {

constexpr std::array kSeverities = {severity::kHardDeny, severity::kSoftDeny, severity::kEvidence,
                                    severity::kWarning};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

Finding FindingOf(const protocol::FindingRaised& raised, std::uint64_t seq) {
  Finding finding;
  finding.data.finding_id = raised.finding_id;
  finding.data.policy = raised.policy;
  const bool known = std::ranges::find(kSeverities, raised.severity) != kSeverities.end();
  finding.data.severity = known ? raised.severity : std::string(severity::kHardDeny);
  finding.data.message = IsBlank(raised.message) ? "no reason was given" : Bounded(raised.message);
  finding.data.subject = Bounded(raised.subject);
  finding.data.evidence_ids = raised.evidence_ids;
  finding.data.seq = seq;
  if (!raised.subject) return finding;
  const JsonView subject(raised.subject->text);
  if (raised.policy.starts_with("gate:")) finding.gate = subject["gate"].StringOr("");
  finding.evidence = subject["evidence"].StringOr("");
  finding.question = subject["question"].StringOr("");
  subject["holds"].ForEach([&](JsonView held) {
    const std::string name = held.StringOr("");
    finding.holds_write = finding.holds_write || name == "write";
    finding.holds_run = finding.holds_run || name == "run";
  });
  return finding;
}

}  // namespace

void Findings::Raise(const protocol::FindingRaised& raised, std::uint64_t seq) {
  Finding finding = FindingOf(raised, seq);
  const auto same = std::ranges::find_if(
      open_, [&](const Finding& one) { return one.data.finding_id == raised.finding_id; });
  if (same != open_.end()) {
    *same = std::move(finding);
    return;
  }
  const auto is_warning = [](const Finding& one) { return one.is(severity::kWarning); };
  if (is_warning(finding) &&
      std::ranges::count_if(open_, is_warning) >= static_cast<std::ptrdiff_t>(kMaxWarnings))
    open_.erase(std::ranges::find_if(open_, is_warning));
  open_.push_back(std::move(finding));
}

bool Findings::Remove(std::string_view id) {
  return std::erase_if(open_, [&](const Finding& one) { return one.data.finding_id == id; }) > 0;
}

bool Findings::Clear(const protocol::FindingCleared& cleared) {
  const auto found = std::ranges::find_if(
      open_, [&](const Finding& one) { return one.data.finding_id == cleared.finding_id; });
  if (found == open_.end()) return false;
  const bool binds = found->is(severity::kHardDeny) || found->is(severity::kEvidence);
  if (binds && cleared.by == kByModel) return false;
  return Remove(cleared.finding_id);
}

bool Findings::Lift(const protocol::Waiver& waiver) {
  if (IsBlank(waiver.by) || IsBlank(waiver.reason.value_or(""))) return false;
  const auto found = std::ranges::find_if(
      open_, [&](const Finding& one) { return one.data.finding_id == waiver.finding_id; });
  if (found == open_.end()) return false;
  const bool binds = found->is(severity::kHardDeny) || found->is(severity::kEvidence);
  const bool waives = waiver.kind.value_or("waiver") == "waiver" && waiver.by != kByModel;
  if (binds && !waives) return false;
  return Remove(waiver.finding_id);
}

void Findings::DropWarnings() {
  // A gate that only warns was configured for the session, not for this run.
  std::erase_if(open_,
                [](const Finding& one) { return one.is(severity::kWarning) && one.gate.empty(); });
}

bool Findings::Has(std::string_view policy, const protocol::OptionalRaw& subject) const {
  return std::ranges::any_of(open_, [&](const Finding& one) {
    return one.data.policy == policy && one.data.subject == Bounded(subject);
  });
}

}  // namespace stet::run
