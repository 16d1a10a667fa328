// State as plain data: for faces, and as the hash of what a compaction must keep.
#include "base/hash.h"
#include "run/state.h"

namespace stet::run {

protocol::RunReport State::Report() const {
  protocol::RunReport report;
  report.phase = PhaseName(phase_);
  report.next = next();
  report.capabilities = capabilities();
  report.gates = gates();
  for (const Finding& finding : findings_.open()) {
    if (finding.gate.empty()) report.findings.push_back(finding.data);
  }
  report.questions = questions_;
  report.transactions = transactions_.open();
  report.closed = transactions_.closed();
  for (SourceAnchor& anchor : anchors_.All()) {
    protocol::RunAnchor& row = report.anchors.emplace_back();
    row.path = std::move(anchor.path);
    row.hash = std::move(anchor.hash);
    row.whole = anchor.whole;
    row.seq = anchor.seq;
  }
  report.evidence = evidence_.Recent();
  report.promise = promise_;
  report.unmet_clauses = unmet_clauses();
  report.stop = stop();
  report.repair = repair_;
  report.resume = resume_;
  report.pins = pins_;
  report.restore_pending = restore_pending();
  return report;
}

std::string State::KeptHash() const {
  protocol::RunReport kept;
  kept.phase = PhaseName(phase_);
  for (const Finding& finding : findings_.open()) {
    if (!finding.is(severity::kWarning)) kept.findings.push_back(finding.data);
  }
  kept.questions = questions_;
  kept.transactions = transactions_.open();
  kept.closed = transactions_.closed();
  kept.promise = promise_;
  kept.pins = pins_;
  return Sha256Hex(Encode(kept));
}

}  // namespace stet::run
