#include "lane/marks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/items.h"
#include "agent/pins.h"
#include "agent/workbench.h"
#include "json/writer.h"
#include "lane/turns.h"
#include "protocol/ids.h"
#include "provider/provider.h"
#include "run/findings.h"

namespace stet::lane {
namespace {

constexpr std::array<std::string_view, 3> kGates = {"finish", "write", "run"};
constexpr std::string_view kOutsideWrite = "outside-write";
constexpr std::array<std::string_view, 4> kEvidence = {"test", "build", "read", "user"};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// "finish test": the gate, and the evidence that it wants.
struct WantedGate {
  std::string gate;
  std::string evidence;
};

Result<WantedGate> ReadGate(const std::string& text) {
  WantedGate wanted;
  const std::size_t blank = std::min(text.find(' '), text.size());
  wanted.gate = text.substr(0, blank);
  const std::size_t second = text.find_first_not_of(' ', blank);
  if (second != std::string::npos) wanted.evidence = text.substr(second);
  if (wanted.gate == kOutsideWrite && wanted.evidence.empty()) return wanted;
  const bool known = std::ranges::find(kGates, wanted.gate) != kGates.end() &&
                     std::ranges::find(kEvidence, wanted.evidence) != kEvidence.end();
  if (known) return wanted;
  return Fail(Code::kInvalid,
              fmt::format("a gate is one of {} with one of {} behind it, or {} alone",
                          fmt::join(kGates, ", "), fmt::join(kEvidence, ", "), kOutsideWrite));
}

}  // namespace

Result<std::string> LaneMarks::Mark(const protocol::Mark& mark, const std::string& client_id) {
  if (mark.what == "pin") return Pin(mark.text);
  if (mark.what == "unpin") return Unpin(mark.id);
  if (mark.what == "snip" || mark.what == "unsnip") return Snip(mark, client_id);
  if (mark.what == "gate") return RaiseGate(mark.text);
  if (mark.what == "clear" || mark.what == "waive") return CloseFinding(mark, client_id);
  return Fail(Code::kInvalid, fmt::format("nothing is marked by {}", mark.what));
}

/// The Snip tool: without a turn the list of turns that may be named, else what came of it.
Result<std::string> LaneMarks::SnipByModel(const std::optional<std::string>& turn, bool undo) {
  protocol::Mark mark;
  mark.what = undo ? "unsnip" : "snip";
  if (turn) {
    mark.id = *turn;
    return Snip(mark, std::string(run::kByModel));
  }
  ASSIGN_OR_RETURN(const protocol::TurnRows rows, ReadTurns(bench_.log));
  std::string text;
  for (std::size_t i = turns_.working() ? 1 : 0; i < rows.size(); ++i)
    text += fmt::format("{}  {:>8} bytes  {}{}\n", rows[i].id, rows[i].bytes, rows[i].words,
                        rows[i].snipped ? "  (snipped)" : "");
  return text.empty() ? std::string("There is no finished turn before this one.") : text;
}

/// Nothing may stand between a message and its results: while a turn runs the text is owed, and the
/// next step tells of it. Nothing: too much is owed already.
Result<std::optional<protocol::Payload>> LaneMarks::TellingOf(std::string text) {
  if (turns_.working()) {
    agent::NewOwed owed{
        .origin = "user", .kind = std::string(agent::item::kPin), .text = std::move(text)};
    return agent::OwedEvent(bench_, std::move(owed));
  }
  agent::NewItem item{.kind = agent::item::kPin, .origin = "user", .content = std::move(text)};
  ASSIGN_OR_RETURN(const bool merges, agent::MayMerge(bench_.log));
  ASSIGN_OR_RETURN(protocol::HarnessItem told, agent::MakeItem(std::move(item), merges));
  return std::optional<protocol::Payload>(std::move(told));
}

/// One batch: a pin that the model cannot be told of is not made.
Status LaneMarks::AppendPin(protocol::Pin pin, std::string text) {
  ASSIGN_OR_RETURN(std::optional<protocol::Payload> told, TellingOf(std::move(text)));
  std::vector<log::Draft> batch;
  batch.push_back({.payload = std::move(pin), .id = "", .stamp = {}});
  const bool tells = told.has_value();
  if (tells) batch.push_back({.payload = *std::move(told), .id = "", .stamp = {}});
  RETURN_IF_ERROR(bench_.log.Append(std::move(batch)));
  if (!tells) DoubtPins();
  return {};
}

Status LaneMarks::TellOfPins(const protocol::Stamp& stamp) {
  if (!pins_unsure_) return {};
  ASSIGN_OR_RETURN(const std::vector<std::string> untold, agent::UntoldPins(bench_.log));
  for (const std::string& text : untold) {
    agent::NewItem item{.kind = agent::item::kPin, .origin = "user", .content = text};
    RETURN_IF_ERROR(agent::AppendItem(bench_.log, std::move(item), stamp));
  }
  pins_unsure_ = false;
  return {};
}

Result<std::string> LaneMarks::Pin(const std::string& text) {
  if (IsBlank(text)) return Fail(Code::kInvalid, "there is nothing to pin");
  if (text.size() > agent::kMaxPinBytes)
    return Fail(Code::kInvalid,
                fmt::format("a pin has at most {} bytes, this one has {}: every request carries it",
                            agent::kMaxPinBytes, text.size()));
  ASSIGN_OR_RETURN(const agent::Pins pins, agent::ReadPins(bench_.log));
  std::size_t bytes = text.size();
  for (const protocol::RunPin& pin : pins.open) bytes += pin.text.size();
  // Every request carries them: at most a tenth of the window, at four bytes a token.
  const std::int64_t window = bench_.model->model().context_window;
  const std::size_t most = std::min<std::size_t>(
      agent::kMaxPinsBytes, static_cast<std::size_t>(std::max<std::int64_t>(window, 0)) * 4 / 10);
  if (bytes > most)
    return Fail(Code::kInvalid,
                fmt::format("pins have at most {} bytes together here: unpin something", most));
  protocol::RunPin pin;
  pin.pin_id = protocol::NewPinId(ProcessRandom());
  pin.text = text;
  pin.source = agent::kPinnedByUser;
  protocol::Pin event;
  event.pin_id = pin.pin_id;
  event.text = text;
  event.source = pin.source;
  RETURN_IF_ERROR(AppendPin(std::move(event), agent::PinnedText(pin)));
  return fmt::format("pinned as {}", pin.pin_id);
}

Result<std::string> LaneMarks::Unpin(const std::string& id) {
  ASSIGN_OR_RETURN(const agent::Pins pins, agent::ReadPins(bench_.log));
  std::vector<std::string> ids;
  for (const protocol::RunPin& pin : pins.open) ids.push_back(pin.pin_id);
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i <= ids.size(); ++i) numbers.push_back(std::to_string(i));
  const auto number = std::ranges::find(numbers, id);
  std::size_t which = static_cast<std::size_t>(number - numbers.begin());
  if (number == numbers.end()) {
    ASSIGN_OR_RETURN(which, FindNamed(ids, id, "pin"));
  }
  const protocol::RunPin& pin = pins.open[which];
  protocol::Pin event;
  event.pin_id = pin.pin_id;
  event.removed = true;
  event.source = agent::kPinnedByUser;
  RETURN_IF_ERROR(AppendPin(std::move(event), agent::UnpinnedText(pin)));
  return fmt::format("unpinned {}", pin.pin_id);
}

Result<std::string> LaneMarks::Snip(const protocol::Mark& mark, const std::string& by) {
  const bool undo = mark.what == "unsnip";
  if (by != run::kByModel) RETURN_IF_ERROR(turns_.AtRest());
  ASSIGN_OR_RETURN(const protocol::TurnRows rows, ReadTurns(bench_.log));
  ASSIGN_OR_RETURN(const protocol::TurnRow turn,
                   FindTurn(bench_.log, rows, mark.id, turns_.working()));
  if (undo && !turn.snipped)
    return Fail(Code::kInvalid, fmt::format("\"{}\" is not snipped", turn.words));
  if (!undo && turn.snipped)
    return Fail(Code::kInvalid, fmt::format("\"{}\" is snipped already", turn.words));
  if (!undo && turn.newest)
    return Fail(Code::kInvalid, turns_.working()
                                    ? "this turn is not finished yet"
                                    : "no message follows this turn yet: a rewind takes it back");
  protocol::Snip event;
  event.from = turn.id;
  event.through = turn.through;
  if (undo) event.undo = true;
  event.by = by;
  RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(event), {}));
  pins_unsure_ = true;
  return undo ? fmt::format("shown again: \"{}\"", turn.words)
              : fmt::format("snipped, about {} bytes: \"{}\"; unsnip {} shows it again", turn.bytes,
                            turn.words, turn.id);
}

Result<std::string> LaneMarks::RaiseGate(const std::string& text) {
  ASSIGN_OR_RETURN(const WantedGate wanted, ReadGate(text));
  const bool outside = wanted.gate == kOutsideWrite;
  protocol::FindingRaised event;
  event.finding_id = outside ? wanted.gate : wanted.gate + "-" + wanted.evidence;
  event.policy = "gate:" + event.finding_id;
  event.severity = outside ? run::severity::kSoftDeny : run::severity::kEvidence;
  event.message = "configured by the user";
  Raw subject{""};
  JsonWriter writer(subject.text);
  writer.BeginObject().Member("gate", wanted.gate);
  if (!outside) writer.Member("evidence", wanted.evidence);
  writer.EndObject();
  event.subject = std::move(subject);
  const std::string id = event.finding_id;
  RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(event), {}));
  return fmt::format("gate {} is set", id);
}

Result<std::string> LaneMarks::CloseFinding(const protocol::Mark& mark, const std::string& by) {
  RETURN_IF_ERROR(bench_.run.Update(bench_.log));
  std::vector<std::string> ids;
  for (const run::Finding& finding : bench_.run.state().findings().open())
    ids.push_back(finding.data.finding_id);
  ASSIGN_OR_RETURN(const std::size_t which, FindNamed(ids, mark.id, "finding"));
  if (mark.what == "waive") {
    if (IsBlank(mark.text)) return Fail(Code::kInvalid, "a waiver needs a reason");
    protocol::Waiver waiver;
    waiver.finding_id = ids[which];
    waiver.reason = mark.text;
    waiver.by = by;
    waiver.kind = "waiver";
    RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(waiver), {}));
    return fmt::format("waived {}", ids[which]);
  }
  protocol::FindingCleared cleared;
  cleared.finding_id = ids[which];
  cleared.by = by;
  if (!mark.text.empty()) cleared.reason = mark.text;
  RETURN_IF_ERROR(agent::AppendEvent(bench_.log, std::move(cleared), {}));
  return fmt::format("cleared {}", ids[which]);
}

}  // namespace stet::lane
