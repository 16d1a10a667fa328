#include "run/capsule/capsule.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "run/line_refs.h"

namespace stet::run {
namespace {

protocol::RunAnchor AnchorOf(const SourceAnchor& known, const FileReader& reader) {
  protocol::RunAnchor anchor;
  anchor.path = known.path;
  anchor.hash = known.hash;
  anchor.whole = known.whole;
  anchor.seq = known.seq;
  if (known.whole || known.lines.empty() || !reader) return anchor;
  const Result<std::string> bytes = reader(known.path);
  if (bytes && Sha256Hex(*bytes) == known.hash) anchor.refs = LineTable(*bytes).Refs(known.lines);
  return anchor;
}

/// Where to go on; with a blocking question, what waits for it.
protocol::OptionalRunResume ResumeOf(const State& state) {
  protocol::OptionalRunResume resume = state.resume();
  const auto question =
      std::ranges::find(state.questions(), true, &protocol::RunQuestion::blocking);
  if (question == state.questions().end()) return resume;
  if (!resume) {
    resume.emplace().phase = PhaseName(state.phase());
    resume->action = "go on when the question is answered";
  }
  resume->question_id = question->question_id;
  return resume;
}

}  // namespace

std::string CapsuleDigest(const Capsule& capsule) {
  Capsule bare = capsule;
  bare.digest.reset();
  return Sha256Hex(Encode(bare));
}

Capsule MakeCapsule(const State& state, const CapsuleFacts& facts) {
  Capsule capsule;
  capsule.version = Capsule::kVersion;
  capsule.session_id = facts.session_id;
  capsule.trace_id = facts.trace_id;
  capsule.leaf_id = facts.leaf_id;
  capsule.seq = facts.seq;
  capsule.generation = facts.generation;
  capsule.created_at = facts.created_at;
  capsule.phase = PhaseName(state.phase());
  capsule.next = state.next();
  for (const Finding& finding : state.findings().open()) capsule.denials.push_back(finding.data);
  capsule.questions = state.questions();
  capsule.resume = ResumeOf(state);
  capsule.gates = state.gates();
  capsule.transactions = state.transactions().open();
  capsule.closed = state.transactions().closed();
  for (const SourceAnchor& known : state.anchors().All())
    capsule.anchors.push_back(AnchorOf(known, facts.reader));
  capsule.promise = state.promise();
  capsule.unmet_clauses = state.unmet_clauses();
  capsule.stop = state.stop();
  capsule.repair = state.repair();
  capsule.pins = state.pins();
  capsule.digest = CapsuleDigest(capsule);
  return capsule;
}

Result<Capsule> ReadCapsule(std::string_view text) {
  const CapsuleCheck check = CheckCapsule(text);
  if (!check.valid()) {
    const CapsuleFault& fault = check.errors.front();
    const bool newer = fault.code == "version";
    return Fail(newer ? Code::kTooNew : Code::kInvalid,
                fmt::format("the capsule cannot be used: {}{}{}", fault.code,
                            fault.path.empty() ? "" : " at ", fault.path));
  }
  return Decode<Capsule>(text);
}

}  // namespace stet::run
