#include "run/capsule/restore.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "json/view.h"
#include "json/writer.h"
#include "run/line_refs.h"

namespace stet::run {
namespace {

AnchorVerdict Judge(const SourceAnchor& anchor, const protocol::RunRefs& refs,
                    const FileReader& reader) {
  AnchorVerdict verdict{.path = anchor.path, .verdict = "gone", .was = anchor.hash, .now = ""};
  const Result<std::string> bytes = reader(anchor.path);
  if (!bytes) {
    if (bytes.error().code != Code::kNotFound) verdict.verdict = "stale";
    return verdict;
  }
  verdict.now = Sha256Hex(*bytes);
  if (verdict.now == anchor.hash) {
    verdict.verdict = "fresh";
    return verdict;
  }
  // Of a file that was known whole, every change is news.
  const LineTable table(*bytes);
  const bool found =
      !anchor.whole && !refs.empty() && std::ranges::none_of(refs, [&](const protocol::RunRef& r) {
        return table.Find(r) == LineTable::Place::kLost;
      });
  verdict.verdict = found ? "moved" : "stale";
  return verdict;
}

std::vector<AnchorVerdict> JudgeAnchors(const Result<Capsule>& capsule, const State& state,
                                        const FileReader& reader) {
  std::unordered_map<std::string, const protocol::RunAnchor*> carried;
  if (capsule) {
    for (const protocol::RunAnchor& anchor : capsule->anchors) carried[anchor.path] = &anchor;
  }
  std::vector<AnchorVerdict> verdicts;
  for (const SourceAnchor& anchor : state.anchors().All()) {
    const auto found = carried.find(anchor.path);
    const bool same = found != carried.end() && found->second->hash == anchor.hash;
    verdicts.push_back(Judge(anchor, same ? found->second->refs : protocol::RunRefs(), reader));
  }
  std::ranges::sort(verdicts, {}, &AnchorVerdict::path);
  return verdicts;
}

std::string_view StatusOf(const protocol::RunTransaction& one, const Result<std::string>& bytes) {
  if (!bytes && bytes.error().code != Code::kNotFound) return tx::kUnknown;
  protocol::OptionalText hash;
  if (bytes) hash = Sha256Hex(*bytes);
  if (hash && hash == one.after) return tx::kWritten;
  return hash == one.before ? tx::kReverted : tx::kUnknown;
}

const std::string& IdOf(const protocol::RunFinding& one) { return one.finding_id; }
const std::string& IdOf(const protocol::RunQuestion& one) { return one.question_id; }

/// Whether they say the same; a copy of a session has its events under other numbers.
template <class Item>
bool SaysTheSame(Item a, const Item& b) {
  a.seq = b.seq;
  return a == b;
}

/// Compares what the capsule carries with what the log had open at the compaction.
template <class Item>
void Compare(const std::vector<Item>& carried, const std::vector<Item>& logged,
             const CompactPoint& point, std::uint64_t capsule_seq,
             std::vector<IntegrityFailure>& failures) {
  const std::string what = std::same_as<Item, protocol::RunFinding> ? "denial" : "question";
  const auto same_id = [&](const Item& item) {
    return [&](const Item& other) { return IdOf(other) == IdOf(item); };
  };
  for (const Item& item : logged) {
    const auto found = std::ranges::find_if(carried, same_id(item));
    if (item.seq > capsule_seq) continue;  // Came while the capsule was made.
    if (found == carried.end())
      failures.push_back({what + "_lost", IdOf(item)});
    else if (!SaysTheSame(*found, item))
      failures.push_back({what + "_changed", IdOf(item)});
  }
  for (const Item& item : carried) {
    if (std::ranges::any_of(logged, same_id(item))) continue;
    const bool closed_since = std::ranges::any_of(point.closed, [&](const auto& closing) {
      return closing.id == IdOf(item) && closing.seq > capsule_seq;
    });
    if (!closed_since) failures.push_back({what + "_unknown", IdOf(item)});
  }
}

std::vector<IntegrityFailure> FailuresOf(const Capsule& capsule, const State& state,
                                         const RestoreFacts& facts) {
  std::vector<IntegrityFailure> failures;
  if (capsule.digest != CapsuleDigest(capsule)) failures.push_back({"digest", ""});
  const bool ours =
      facts.session_ids.empty() ||
      std::ranges::find(facts.session_ids, capsule.session_id) != facts.session_ids.end();
  if (!ours) failures.push_back({"foreign_session", capsule.session_id});
  if (capsule.generation != state.generation())
    failures.push_back({"wrong_generation", std::to_string(capsule.generation)});
  if (!state.compact()) return failures;
  const CompactPoint& point = *state.compact();
  if (PhaseFrom(capsule.phase) != point.phase) failures.push_back({"phase_changed", capsule.phase});
  Compare(capsule.denials, point.findings, point, capsule.seq, failures);
  Compare(capsule.questions, point.questions, point, capsule.seq, failures);
  return failures;
}

void WriteAnchors(const Restored& restored, JsonWriter& writer) {
  writer.Key("anchors").BeginArray();
  for (const AnchorVerdict& anchor : restored.anchors) {
    writer.BeginObject().Member("path", anchor.path).Member("verdict", anchor.verdict);
    // What is fresh is what it was: most are, and the line stays short.
    if (anchor.verdict != "fresh") {
      writer.Member("was", anchor.was);
      if (!anchor.now.empty()) writer.Member("now", anchor.now);
    }
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace

bool Restored::digest_mismatch() const {
  return std::ranges::find(failures, "digest", &IntegrityFailure::code) != failures.end();
}

Restored RestoreCapsule(const Result<Capsule>& capsule, const State& state,
                        const RestoreFacts& facts) {
  Restored restored;
  restored.anchors = JudgeAnchors(capsule, state, facts.reader);
  restored.reconciled = Reconcile(state.transactions().open(), facts.reader);
  if (capsule)
    restored.failures = FailuresOf(*capsule, state, facts);
  else
    restored.failures.push_back({"capsule_invalid", capsule.error().message});
  return restored;
}

std::vector<protocol::Transaction> Reconcile(const protocol::RunTransactions& open,
                                             const FileReader& reader) {
  std::vector<protocol::Transaction> reconciled;
  for (const protocol::RunTransaction& one : open) {
    if (one.status != tx::kWriting && one.status != tx::kUnknown) continue;
    const std::string_view status = StatusOf(one, reader(one.path));
    if (status == one.status) continue;
    protocol::Transaction& said = reconciled.emplace_back();
    said.transaction_id = one.transaction_id;
    said.path = one.path;
    said.status = status;
    said.before = one.before;
    said.after = one.after;
    said.tool_call_id = one.tool_call_id;
    said.anchor_ids = one.anchor_ids;
    said.reason = status == tx::kWritten    ? "the file has the content that was to be written"
                  : status == tx::kReverted ? "the file is as it was before"
                                            : "the file has neither content";
  }
  return reconciled;
}

Raw VerdictsJson(const Restored& restored) {
  Raw json{""};
  JsonWriter writer(json.text);
  writer.BeginObject();
  WriteAnchors(restored, writer);
  writer.Key("failures").BeginArray();
  for (const IntegrityFailure& failure : restored.failures)
    writer.BeginObject().Member("code", failure.code).Member("id", failure.id).EndObject();
  writer.EndArray().Key("transactions").BeginArray();
  for (const protocol::Transaction& said : restored.reconciled)
    writer.BeginObject()
        .Member("transactionId", said.transaction_id)
        .Member("status", said.status)
        .EndObject();
  writer.EndArray().EndObject();
  return json;
}

bool VerdictsDiffer(const Restored& restored, const State& state) {
  if (!state.compact()) return !restored.reconciled.empty();
  if (!state.compact()->verdicts || !restored.reconciled.empty()) return true;
  const JsonView before(state.compact()->verdicts->text);
  const Raw now = VerdictsJson(restored);
  const JsonView after(now.text);
  return before["anchors"].text() != after["anchors"].text() ||
         before["failures"].text() != after["failures"].text();
}

}  // namespace stet::run
