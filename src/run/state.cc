#include "run/state.h"

#include <algorithm>
#include <array>

#include "json/view.h"
#include "run/bounded.h"

namespace stet::run {
namespace {

using protocol::kTypeNumber;

constexpr std::size_t kClosingsKept = 64;
constexpr std::size_t kMaxClauses = 64;

constexpr std::array kTypes = {
    kTypeNumber<protocol::UserMessage>,
    kTypeNumber<protocol::ToolResult>,
    kTypeNumber<protocol::Compaction>,
    kTypeNumber<protocol::Question>,
    kTypeNumber<protocol::FileFact>,
    kTypeNumber<protocol::PhaseMoved>,
    kTypeNumber<protocol::FindingRaised>,
    kTypeNumber<protocol::FindingCleared>,
    kTypeNumber<protocol::Waiver>,
    kTypeNumber<protocol::Evidence>,
    kTypeNumber<protocol::Anchor>,
    kTypeNumber<protocol::Repair>,
    kTypeNumber<protocol::Stop>,
    kTypeNumber<protocol::PromiseMade>,
    kTypeNumber<protocol::CapsuleRestored>,
    kTypeNumber<protocol::Pin>,
    kTypeNumber<protocol::Transaction>,
};

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

protocol::RunClauses ClausesOf(const Raw& json) {
  protocol::RunClauses clauses;
  JsonView(json.text).ForEach([&](JsonView item) {
    if (clauses.size() >= kMaxClauses) return;
    protocol::RunClause& clause = clauses.emplace_back();
    clause.id = Bounded(item["id"].StringOr(""));
    clause.text = Bounded(item["text"].StringOr(""));
    clause.evidence = Bounded(item["evidence"].StringOr(""));
  });
  return clauses;
}

}  // namespace

bool State::Matters(std::uint8_t type_number) {
  return std::ranges::find(kTypes, type_number) != kTypes.end();
}

void State::Fold(const protocol::Event& event) {
  last_seq_ = event.seq;
  const std::uint64_t seq = event.seq;
  const Overloaded take = {
      [&](const protocol::UserMessage& message) {
        if (message.source == "user" || message.source == "follow_up") BeginRun();
      },
      [&](const protocol::ToolResult& result) { transactions_.Fold(result); },
      [&](const protocol::Compaction&) { TakeCompact(event.id); },
      [&](const protocol::Question& question) { TakeQuestion(question, seq); },
      [&](const protocol::FileFact& fact) { TakeFile(fact, seq); },
      [&](const protocol::PhaseMoved& moved) { TakePhase(moved); },
      [&](const protocol::FindingRaised& raised) { findings_.Raise(raised, seq); },
      [&](const protocol::FindingCleared& cleared) {
        if (findings_.Clear(cleared)) NoteClosing(cleared.finding_id, seq);
      },
      [&](const protocol::Waiver& waiver) {
        if (findings_.Lift(waiver)) NoteClosing(waiver.finding_id, seq);
      },
      [&](const protocol::Evidence& evidence) { TakeEvidence(evidence, seq); },
      [&](const protocol::Anchor& anchor) { anchors_.Fold(anchor, seq); },
      [&](const protocol::Repair& repair) { TakeRepair(repair); },
      [&](const protocol::Stop& stop) { TakeStop(stop); },
      [&](const protocol::PromiseMade& made) { TakePromise(made); },
      [&](const protocol::CapsuleRestored& restored) {
        if (compact_ && compact_->id == restored.compact_id) compact_->verdicts = restored.verdicts;
      },
      [&](const protocol::Pin& pin) { TakePin(pin); },
      [&](const protocol::Transaction& said) { transactions_.Fold(said, seq); },
      [](const auto&) {},
  };
  std::visit(take, static_cast<const protocol::PayloadVariant&>(event.payload));
}

void State::BeginRun() {
  phase_ = Phase::kExecute;
  stops_.clear();
  repair_.reset();
  promise_.reset();
  resume_.reset();
  findings_.DropWarnings();
}

void State::TakePhase(const protocol::PhaseMoved& moved) {
  const Phase to = PhaseFrom(moved.to);
  // Decided on another phase than the run is in: only what restricts is believed.
  if (PhaseFrom(moved.from) != phase_ && !PermitsNoMore(to, phase_)) return;
  phase_ = to;
  resume_.reset();
  if (!moved.next || moved.next->empty()) return;
  resume_.emplace().phase = PhaseName(to);
  resume_->action = Bounded(*moved.next);
}

void State::TakeFile(const protocol::FileFact& fact, std::uint64_t seq) {
  if (fact.op == "read")
    evidence_.TakePassed("read", seq);
  else
    evidence_.TakeWrite(seq);
  anchors_.Fold(fact, seq);
  transactions_.Fold(fact, seq);
}

void State::TakeEvidence(const protocol::Evidence& evidence, std::uint64_t seq) {
  evidence_.Fold(evidence, seq);
  const bool proves = evidence.kind == "test" || evidence.kind == "build";
  if (proves && evidence.outcome == "passed") transactions_.Verify();
}

void State::TakeQuestion(const protocol::Question& question, std::uint64_t seq) {
  const auto same =
      std::ranges::find(questions_, question.question_id, &protocol::RunQuestion::question_id);
  if (question.phase != protocol::phase::kAsked) {
    const bool closes = question.phase == protocol::phase::kAnswered ||
                        question.phase == protocol::phase::kWithdrawn;
    if (!closes || same == questions_.end()) return;
    questions_.erase(same);
    NoteClosing(question.question_id, seq);
    if (question.phase == protocol::phase::kAnswered) evidence_.TakePassed("user", seq);
    return;
  }
  protocol::RunQuestion& asked = same == questions_.end() ? questions_.emplace_back() : *same;
  asked.question_id = question.question_id;
  asked.text = Bounded(question.text.value_or(""));
  asked.blocking = question.blocking.value_or(true);
  asked.options = Bounded(question.options);
  asked.seq = seq;
}

void State::TakeStop(const protocol::Stop& stop) {
  const bool known = std::ranges::find(kStops, stop.kind) != kStops.end();
  const std::string kind(known ? std::string_view(stop.kind) : kStops.front());
  std::erase_if(stops_, [&](const protocol::RunStop& one) { return one.kind == kind; });
  if (stop.cleared.value_or(false)) return;
  protocol::RunStop& added = stops_.emplace_back();
  added.kind = kind;
  added.reason = Bounded(stop.reason);
  added.finding_ids = stop.finding_ids;
}

void State::TakeRepair(const protocol::Repair& repair) {
  const bool repeats = repair_ && repair.signature && repair_->signature == repair.signature &&
                       repair_->evidence_id == repair.evidence_id;
  const std::int64_t before = repeats ? repair_->repeats : 0;
  protocol::RunRepair& now = repair_.emplace();
  now.status = repair.status;
  now.attempt = repair.attempt;
  now.signature = repair.signature;
  now.evidence_id = repair.evidence_id;
  now.repeats = before + 1;
}

void State::TakePromise(const protocol::PromiseMade& made) {
  const std::string said = made.state.value_or("drafted");
  const bool same = promise_ && promise_->promise_id == made.promise_id;
  if (same && made.version < promise_->version) return;
  if (said == "withdrawn") {
    if (same) promise_.reset();
    return;
  }
  protocol::RunClauses clauses = ClausesOf(made.clauses);
  // A promise that was confirmed is changed by a new version only, which is confirmed anew.
  const bool bound = same && made.version == promise_->version && promise_->state == "confirmed";
  if (bound) return;
  protocol::RunPromise& now = promise_.emplace();
  now.promise_id = made.promise_id;
  now.version = made.version;
  // The model does not confirm its own promise.
  const std::string by = made.by.value_or("");
  const bool confirmed = said == "confirmed" && !by.empty() && by != kByModel;
  now.state = confirmed ? "confirmed" : "drafted";
  now.clauses = std::move(clauses);
}

void State::TakePin(const protocol::Pin& pin) {
  const auto same = std::ranges::find(pins_, pin.pin_id, &protocol::RunPin::pin_id);
  if (pin.removed.value_or(false)) {
    if (same != pins_.end()) pins_.erase(same);
    return;
  }
  protocol::RunPin& now = same == pins_.end() ? pins_.emplace_back() : *same;
  now.pin_id = pin.pin_id;
  now.text = pin.text.value_or("");
  now.source = pin.source;
}

void State::TakeCompact(const std::string& event_id) {
  ++generation_;
  CompactPoint& point = compact_.emplace();
  point.id = event_id;
  point.phase = phase_;
  for (const Finding& finding : findings_.open()) point.findings.push_back(finding.data);
  point.questions = questions_;
  point.closed = closed_;
}

void State::NoteClosing(const std::string& id, std::uint64_t seq) {
  closed_.push_back({id, seq});
  if (closed_.size() > kClosingsKept) closed_.pop_front();
}

}  // namespace stet::run
