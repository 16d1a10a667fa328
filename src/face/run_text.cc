#include "face/run_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "json/view.h"

namespace stet::face {
namespace {

constexpr std::size_t kTextColumns = 200;

std::string Line(std::string_view text) {
  return FitText(PrintableText(OneLineText(text)), kTextColumns);
}

std::string GateLine(const protocol::RunGate& gate) {
  const std::string wants = gate.evidence ? fmt::format(" wants {}", Line(*gate.evidence)) : "";
  return fmt::format("{}: {}{} ({})", Line(gate.finding_id), Line(gate.gate), wants,
                     gate.state == "not_evaluated" ? "not evaluated yet" : gate.state);
}

std::string FindingLine(const protocol::RunFinding& finding) {
  return fmt::format("{}: {} by {}: {}", Line(finding.finding_id), finding.severity,
                     Line(finding.policy), Line(finding.message));
}

std::string QuestionLine(const protocol::RunQuestion& question) {
  return fmt::format("{}{}", Line(question.text),
                     question.blocking ? " (waits for an answer)" : "");
}

/// What comes next is news when it is not simply to go on or to end.
bool NextIsNews(const protocol::RunNext& next) {
  return !next.code.empty() && next.code != "go_on" && next.code != "finish";
}

}  // namespace

std::string GatesText(const protocol::RunReport& report) {
  std::string out;
  for (const protocol::RunGate& gate : report.gates) out += "  " + GateLine(gate) + "\n";
  for (const protocol::RunFinding& finding : report.findings)
    out += "  " + FindingLine(finding) + "\n";
  return out;
}

std::string QuestionsText(const protocol::RunReport& report) {
  std::string out;
  for (const protocol::RunQuestion& question : report.questions) {
    out += fmt::format("  {}\n", QuestionLine(question));
    if (!question.options) continue;
    JsonView(question.options->text).ForEach([&](JsonView option) {
      out += fmt::format("    - {}\n", Line(option.StringOr(option["label"].StringOr(""))));
    });
  }
  return out;
}

std::string PlanText(const protocol::RunReport& report) {
  std::string out = fmt::format("  phase: {}\n", report.phase);
  if (report.promise) {
    out += fmt::format("  plan: {}\n", report.promise->state);
    for (const protocol::RunClause& clause : report.promise->clauses) {
      const bool met =
          std::ranges::find(report.unmet_clauses, clause.id) == report.unmet_clauses.end();
      out += fmt::format("    [{}] {} (proved by: {})\n", met ? "x" : " ", Line(clause.text),
                         Line(clause.evidence));
    }
  } else {
    out += "  plan: none\n";
  }
  if (report.stop)
    out += fmt::format("  stopped: {}: {}\n", report.stop->kind, Line(report.stop->reason));
  out += fmt::format("  next: {}\n", Line(report.next.text));
  if (!report.capabilities.reason.empty())
    out += fmt::format("  held up: {}\n", Line(report.capabilities.reason));
  return out;
}

std::string PinsText(const protocol::RunPins& pins, std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const std::string by =
        pins[i].source == "user" ? "" : fmt::format("  ({})", PrintableText(pins[i].source));
    out += FitText(PrintableText(fmt::format("{:>3}  {}  {}", i + 1, pins[i].pin_id,
                                             OneLineText(pins[i].text) + by)),
                   columns) +
           "\n";
  }
  return out;
}

std::string TurnsText(const protocol::TurnRows& turns, bool runs, std::size_t columns) {
  std::string out;
  const std::size_t first = runs ? 1 : 0;
  for (std::size_t i = first; i < turns.size(); ++i) {
    const protocol::TurnRow& turn = turns[i];
    const std::string_view how = turn.snipped ? "snipped" : turn.newest ? "newest" : "";
    out += FitText(PrintableText(fmt::format("{:>3}  {}  {:>9} bytes  {:<7}  {}", i - first + 1,
                                             turn.id, turn.bytes, how, turn.words)),
                   columns) +
           "\n";
  }
  return out;
}

bool HasNews(const protocol::RunReport& report) {
  const auto open = [](const protocol::RunGate& gate) { return gate.state != "passed"; };
  return !report.findings.empty() || std::ranges::any_of(report.gates, open) ||
         !report.questions.empty() || report.stop || NextIsNews(report.next);
}

void WriteRun(JsonWriter& writer, const protocol::RunReport& report) {
  writer.Key("run").BeginObject();
  writer.Key("findings").Text(Encode(report.findings));
  writer.Key("gates").Text(Encode(report.gates));
  writer.Key("questions").Text(Encode(report.questions));
  writer.Key("next").Text(Encode(report.next));
  if (report.stop) writer.Key("stop").Text(Encode(*report.stop));
  writer.EndObject();
}

std::vector<std::string> RunLines(const protocol::RunReport& report) {
  std::vector<std::string> lines;
  for (const protocol::RunFinding& finding : report.findings)
    lines.push_back("finding " + FindingLine(finding));
  for (const protocol::RunGate& gate : report.gates) {
    if (gate.state != "passed") lines.push_back("gate " + GateLine(gate));
  }
  for (const protocol::RunQuestion& question : report.questions)
    lines.push_back("open question: " + QuestionLine(question));
  // A limit and a gate are said by the turn's own end.
  if (report.stop && report.stop->kind != "budget-exhausted" && report.stop->kind != "blocked")
    lines.push_back(fmt::format("stopped: {}: {}", report.stop->kind, Line(report.stop->reason)));
  if (NextIsNews(report.next) && report.next.code != "stop")
    lines.push_back("next: " + Line(report.next.text));
  return lines;
}

}  // namespace stet::face
