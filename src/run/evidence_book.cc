#include "run/evidence_book.h"

namespace stet::run {

void EvidenceBook::Keep(const std::string& kind, Latest latest) {
  if (kinds_.size() < kMaxKinds || kinds_.contains(kind)) kinds_[kind] = latest;
}

void EvidenceBook::Fold(const protocol::Evidence& evidence, std::uint64_t seq) {
  Keep(evidence.kind, {.seq = seq, .passed = evidence.outcome == "passed"});
  protocol::RunEvidence& record = recent_.emplace_back();
  record.evidence_id = evidence.evidence_id;
  record.kind = evidence.kind;
  record.outcome = evidence.outcome;
  record.seq = seq;
  if (recent_.size() > kRecent) recent_.pop_front();
}

Proof EvidenceBook::Judge(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return Proof::kNone;
  return Valid(found->second) ? Proof::kPassed : Proof::kFailed;
}

protocol::RunEvidences EvidenceBook::Recent() const {
  protocol::RunEvidences records(recent_.begin(), recent_.end());
  for (protocol::RunEvidence& record : records) {
    const auto kind = kinds_.find(record.kind);
    // Contradicted by a later failure, a record that passed proves nothing any more.
    record.valid = kind != kinds_.end() && record.outcome == "passed" && Valid(kind->second) &&
                   record.seq > last_write_;
  }
  return records;
}

}  // namespace stet::run
