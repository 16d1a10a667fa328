// Events in a few words, and files that are not there, for the tests of this module.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/hash.h"
#include "run/capsule/restore.h"

namespace stet::run {

/// A State that is fed payloads, each under the next seq.
class Story {
 public:
  /// Gives the event's id.
  std::string Add(protocol::Payload payload) {
    protocol::Event event;
    event.seq = ++seq_;
    event.id = "e" + std::to_string(seq_);
    event.payload = std::move(payload);
    state.Fold(event);
    return event.id;
  }

  void User() {
    protocol::UserMessage message;
    message.source = "user";
    Add(std::move(message));
  }
  void Move(const std::string& from, const std::string& to, const std::string& next = "") {
    protocol::PhaseMoved moved;
    moved.from = from;
    moved.to = to;
    if (!next.empty()) moved.next = next;
    Add(std::move(moved));
  }
  void Raise(const std::string& id, std::string_view severity, const std::string& message = "no",
             const std::string& subject = "", const std::string& policy = "rule:x") {
    protocol::FindingRaised raised;
    raised.finding_id = id;
    raised.policy = policy;
    raised.severity = severity;
    raised.message = message;
    if (!subject.empty()) raised.subject = Raw{subject};
    Add(std::move(raised));
  }
  void Gate(const std::string& id, const std::string& gate, const std::string& evidence) {
    Raise(id, severity::kEvidence, "configured",
          R"({"gate":")" + gate + R"(","evidence":")" + evidence + R"("})", "gate:" + id);
  }
  void Clear(const std::string& id, const std::string& by = "user") {
    protocol::FindingCleared cleared;
    cleared.finding_id = id;
    cleared.by = by;
    Add(std::move(cleared));
  }
  void Waive(const std::string& id, const std::string& by, const std::string& why,
             const std::string& kind = "waiver") {
    protocol::Waiver waiver;
    waiver.finding_id = id;
    waiver.by = by;
    waiver.reason = why;
    waiver.kind = kind;
    Add(std::move(waiver));
  }
  void Evidence(const std::string& kind, const std::string& outcome) {
    protocol::Evidence evidence;
    evidence.evidence_id = "ev" + std::to_string(seq_ + 1);
    evidence.kind = kind;
    evidence.outcome = outcome;
    Add(std::move(evidence));
  }
  void Ask(const std::string& id, const std::string& text, bool blocking = true) {
    protocol::Question question;
    question.question_id = id;
    question.phase = "asked";
    question.text = text;
    question.blocking = blocking;
    Add(std::move(question));
  }
  void Close(const std::string& id, const std::string& phase = "answered") {
    protocol::Question question;
    question.question_id = id;
    question.phase = phase;
    Add(std::move(question));
  }
  void Read(const std::string& path, const std::string& content, const std::string& coverage = "") {
    protocol::FileFact fact;
    fact.op = "read";
    fact.path = path;
    fact.before = fact.after = Sha256Hex(content);
    if (!coverage.empty()) fact.coverage = Raw{coverage};
    Add(std::move(fact));
  }
  /// The fact that a call is about to write; Result ends it.
  void Write(const std::string& call, const std::string& path, const std::string& before,
             const std::string& after) {
    protocol::FileFact fact;
    fact.op = "write";
    fact.path = path;
    if (!before.empty()) fact.before = Sha256Hex(before);
    fact.after = Sha256Hex(after);
    fact.tool_call_id = call;
    Add(std::move(fact));
  }
  /// The fact that a rewind puts the file back, as a client asked: to `before`, or, when that is
  /// empty, by deleting it.
  void PutBack(const std::string& path, const std::string& before, const std::string& after) {
    protocol::FileFact fact;
    fact.op = before.empty() ? "delete" : "write";
    fact.path = path;
    fact.before = Sha256Hex(after);
    if (!before.empty()) fact.after = Sha256Hex(before);
    Add(std::move(fact));
  }
  void Result(const std::string& call, bool is_error = false) {
    protocol::ToolResult result;
    result.tool_call_id = call;
    result.is_error = is_error;
    Add(std::move(result));
  }
  void Transaction(const std::string& id, const std::string& path, std::string_view status,
                   const std::string& before = "") {
    protocol::Transaction said;
    said.transaction_id = id;
    said.path = path;
    said.status = status;
    if (!before.empty()) said.before = before;
    Add(std::move(said));
  }
  void Stop(const std::string& kind, bool cleared = false) {
    protocol::Stop stop;
    stop.kind = kind;
    stop.reason = "because of " + kind;
    if (cleared) stop.cleared = true;
    Add(std::move(stop));
  }
  void Promise(const std::string& how, const std::string& evidence, std::int64_t version = 1,
               const std::string& by = "user") {
    protocol::PromiseMade made;
    made.promise_id = "p";
    made.version = version;
    made.clauses = Raw{R"([{"id":"c1","text":"it works","evidence":")" + evidence + R"("}])"};
    made.state = how;
    made.by = by;
    Add(std::move(made));
  }
  void Pin(const std::string& id, const std::string& text) {
    protocol::Pin pin;
    pin.pin_id = id;
    pin.text = text;
    pin.source = "user";
    Add(std::move(pin));
  }

  [[nodiscard]] FileReader Reader() const {
    return [this](const std::string& path) -> stet::Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return Fail(Code::kNotFound, path + " does not exist");
      return found->second;
    };
  }
  [[nodiscard]] Capsule MakeCapsule() const {
    return run::MakeCapsule(state, {.session_id = "ses_1",
                                    .trace_id = "turn_1",
                                    .leaf_id = "e1",
                                    .seq = seq_,
                                    .generation = state.generation() + 1,
                                    .created_at = 1763200000000,
                                    .reader = Reader()});
  }
  /// A compaction with that capsule. Gives the event's id.
  std::string Compact(const Capsule& capsule) {
    protocol::Compaction compact;
    compact.summary = "so far";
    compact.capsule = Raw{Encode(capsule)};
    return Add(std::move(compact));
  }
  [[nodiscard]] Restored Restore(const stet::Result<Capsule>& capsule) const {
    return RestoreCapsule(capsule, state, {.session_ids = {"ses_1"}, .reader = Reader()});
  }
  void NoteRestored(const std::string& compact_id, const Restored& restored) {
    for (const protocol::Transaction& said : restored.reconciled) Add(said);
    protocol::CapsuleRestored done;
    done.compact_id = compact_id;
    done.verdicts = VerdictsJson(restored);
    Add(std::move(done));
  }

  State state;
  std::map<std::string, std::string> files;

 private:
  std::uint64_t seq_ = 0;
};

/// Something of everything.
inline Story FullStory() {
  Story story;
  story.files = {{"/p/a", "one\ntwo\nthree\n"}, {"/p/b", "bb"}};
  story.User();
  story.Pin("pin1", "never\ntouch \"main\"");
  story.Gate("tests", "finish", "test");
  story.Raise("h", severity::kHardDeny, "never push", R"({"holds":["run"]})");
  story.Raise("w", severity::kWarning, "mind the gap");
  story.Promise("confirmed", "test");
  story.Move("execute", "verify", "run the tests");
  story.Ask("q1", "tabs or blanks?", false);
  story.Ask("q2", "which file?");
  story.Read("/p/a", story.files["/p/a"], R"({"lines":[[2,2]],"total":3})");
  story.Read("/p/b", "bb");
  story.Write("call1", "/p/b", "bb", "BB");
  story.Result("call1");
  story.Transaction("plan1", "/p/a", tx::kPlanned, Sha256Hex(story.files["/p/a"]));
  story.Evidence("test", "failed");
  story.Stop("stuck");
  protocol::Repair repair;
  repair.status = "active";
  repair.attempt = 1;
  repair.signature = "sig";
  repair.evidence_id = "ev";
  story.Add(repair);
  story.files["/p/b"] = "BB";
  return story;
}

}  // namespace stet::run
