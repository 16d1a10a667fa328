// State: where a run stands, a pure projection of a session's events. A run is the work on one
// request: it begins with a message of the user.
//
// Fed, in file order, with the session events, and with the tree and control events that apply on
// the path to the leaf; and, wherever they stand, with the results of calls that wrote files: what
// happened to the disk does not go away with a branch. Types that do not matter may be left out
// (Matters). After a move of the leaf the caller makes a new State. The same events give the same
// State, fed at once or one by one. No clock, no disk; nothing here fails, whatever the events say.
//
// What belongs to the run ends when the next one begins: phase, stop, repair, promise, resume point
// and warnings. Denials, gates and questions stay until they are closed; pins, transactions,
// anchors and evidence are the session's. doc/format/capsule.md has the words.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "protocol/event.h"
#include "protocol/run_report.h"
#include "run/anchors.h"
#include "run/evidence_book.h"
#include "run/findings.h"
#include "run/phase.h"
#include "run/transactions.h"

namespace stet::run {

/// What stops a run, the gravest first; a kind that is none of these is read as the first. `done`
/// blocks nothing.
inline constexpr std::array<std::string_view, 6> kStops = {
    "unsafe", "scope-drift", "blocked", "budget-exhausted", "stuck", "done"};

/// The newest compaction on the path, and what was open when it was made.
struct CompactPoint {
  /// A finding or a question that was closed, and when.
  struct Closing {
    std::string id;
    std::uint64_t seq = 0;
  };

  std::string id;  // The event's.
  Phase phase = Phase::kExecute;
  protocol::RunFindings findings;
  protocol::RunQuestions questions;
  std::deque<Closing> closed;   // The last before it.
  std::optional<Raw> verdicts;  // Of its last restoring; absent: it is still to be restored.
};

class State {
 public:
  /// Whether events of this type (protocol::TypeNumber) change anything here.
  static bool Matters(std::uint8_t type_number);

  void Fold(const protocol::Event& event);

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] const Findings& findings() const { return findings_; }
  /// Open ones, in the order they were asked.
  [[nodiscard]] const protocol::RunQuestions& questions() const { return questions_; }
  [[nodiscard]] const Transactions& transactions() const { return transactions_; }
  [[nodiscard]] const Anchors& anchors() const { return anchors_; }
  [[nodiscard]] const EvidenceBook& evidence() const { return evidence_; }
  [[nodiscard]] const protocol::OptionalRunPromise& promise() const { return promise_; }
  [[nodiscard]] const protocol::OptionalRunRepair& repair() const { return repair_; }
  [[nodiscard]] const protocol::OptionalRunResume& resume() const { return resume_; }
  [[nodiscard]] const protocol::RunPins& pins() const { return pins_; }
  /// The gravest condition that stops the run; `done` only when there is no other.
  [[nodiscard]] protocol::OptionalRunStop stop() const;
  /// The findings that configure gates, and what each gate says now.
  [[nodiscard]] protocol::RunGates gates() const;
  /// The promise's clauses that lack valid evidence, by id.
  [[nodiscard]] protocol::Texts unmet_clauses() const;

  [[nodiscard]] std::uint64_t last_seq() const { return last_seq_; }
  /// How many compactions stand on the path.
  [[nodiscard]] std::int64_t generation() const { return generation_; }
  [[nodiscard]] const std::optional<CompactPoint>& compact() const { return compact_; }
  /// From a compaction until its capsule is restored: nothing may be written or run.
  [[nodiscard]] bool restore_pending() const { return compact_ && !compact_->verdicts; }

  /// What the run may do now: an input of policy, which alone denies.
  [[nodiscard]] protocol::RunCapabilities capabilities() const;
  /// The one answer to "what next" and "why blocked".
  [[nodiscard]] protocol::RunNext next() const;

  [[nodiscard]] protocol::RunReport Report() const;
  /// A hash of all that a compaction must leave as it is: pins, findings that bind, questions,
  /// transactions, promise and phase.
  [[nodiscard]] std::string KeptHash() const;

 private:
  void BeginRun();
  void TakePhase(const protocol::PhaseMoved& moved);
  void TakeFile(const protocol::FileFact& fact, std::uint64_t seq);
  void TakeEvidence(const protocol::Evidence& evidence, std::uint64_t seq);
  void TakeQuestion(const protocol::Question& question, std::uint64_t seq);
  void TakeStop(const protocol::Stop& stop);
  void TakeRepair(const protocol::Repair& repair);
  void TakePromise(const protocol::PromiseMade& made);
  void TakePin(const protocol::Pin& pin);
  void TakeCompact(const std::string& event_id);
  void NoteClosing(const std::string& id, std::uint64_t seq);

  [[nodiscard]] const protocol::RunQuestion* BlockingQuestion() const;
  [[nodiscard]] bool Unmet(const Finding& finding) const;
  [[nodiscard]] const Finding* FirstUnmet(std::string_view severity) const;
  [[nodiscard]] const Finding* Holding(std::string_view gate) const;
  [[nodiscard]] bool PromiseKept() const;
  [[nodiscard]] protocol::RunNext NextOfStop(const protocol::RunStop& stop) const;
  [[nodiscard]] protocol::RunNext NextOfDenial(const Finding& denial) const;
  [[nodiscard]] std::optional<protocol::RunNext> NextReconciling() const;
  [[nodiscard]] protocol::RunNext NextOfGate() const;
  [[nodiscard]] Rights RightsNow() const;
  [[nodiscard]] std::string WhyNot(const Rights& rights) const;

  Phase phase_ = Phase::kExecute;
  Findings findings_;
  protocol::RunQuestions questions_;
  Transactions transactions_;
  Anchors anchors_;
  EvidenceBook evidence_;
  protocol::OptionalRunPromise promise_;
  protocol::OptionalRunRepair repair_;
  protocol::OptionalRunResume resume_;
  protocol::RunPins pins_;
  std::vector<protocol::RunStop> stops_;  // One of a kind.
  std::deque<CompactPoint::Closing> closed_;
  std::optional<CompactPoint> compact_;
  std::int64_t generation_ = 0;
  std::uint64_t last_seq_ = 0;
};

}  // namespace stet::run
