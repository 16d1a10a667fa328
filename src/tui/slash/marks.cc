#include "tui/slash/marks.h"

#include <algorithm>

#include <fmt/format.h>

#include "face/run_text.h"

namespace stet::tui {
namespace {

void Mark(std::string_view what, const std::string& id, const std::string& text, Desk& desk) {
  protocol::Mark mark;
  mark.what = what;
  mark.id = id;
  mark.text = text;
  desk.session.Mark(mark,
                    desk.Then("mark", [&desk](const std::string& done) { desk.view.Note(done); }));
}

/// The first word, and what stands behind it.
std::pair<std::string, std::string> Split(const std::string& text) {
  const std::size_t blank = std::min(text.find_first_of(" \t\n"), text.size());
  const std::size_t rest = text.find_first_not_of(" \t\n", blank);
  return {text.substr(0, blank), rest == std::string::npos ? "" : text.substr(rest)};
}

/// Shows what `make` gives of the run, or says that there is none.
void Show(Desk& desk, std::string (*make)(const protocol::RunReport&), std::string_view none) {
  desk.session.Run(desk.Then("run", [&desk, make, none](const protocol::RunReport& report) {
    const std::string text = make(report);
    if (text.empty()) return desk.view.Note(none);
    desk.view.Block(text);
  }));
}

}  // namespace

void RunPin(const std::string& text, Desk& desk) {
  if (text.empty()) return desk.view.Note("write the text behind it: /pin TEXT", face::Style::kRed);
  Mark("pin", "", text, desk);
}

void RunPins(const std::string&, Desk& desk) {
  desk.session.Run(desk.Then("run", [&desk](const protocol::RunReport& report) {
    if (report.pins.empty()) return desk.view.Note("nothing is pinned; /pin TEXT does it");
    desk.view.Block(face::PinsText(report.pins, desk.console.columns() - 1) +
                    "/unpin N removes one\n");
  }));
}

void RunUnpin(const std::string& id, Desk& desk) {
  if (id.empty()) return RunPins("", desk);
  Mark("unpin", id, "", desk);
}

void RunSnip(const std::string& id, Desk& desk) {
  if (!id.empty()) return Mark("snip", id, "", desk);
  desk.session.Turns(desk.Then("turns", [&desk](const protocol::TurnRows& turns) {
    const std::string text =
        face::TurnsText(turns, desk.view.running(), desk.console.columns() - 1);
    if (text.empty()) return desk.view.Note("there is no finished turn yet");
    desk.view.Block(text + "/snip N hides one from the model, /unsnip N shows it again\n");
  }));
}

void RunUnsnip(const std::string& id, Desk& desk) {
  if (id.empty()) return RunSnip("", desk);
  Mark("unsnip", id, "", desk);
}

void RunGate(const std::string& argument, Desk& desk) {
  if (argument.empty())
    return Show(desk, face::GatesText,
                "no gate is set; /gate finish test wants tests to pass before the end");
  const auto [verb, rest] = Split(argument);
  if (verb == "clear") return Mark("clear", rest, "", desk);
  if (verb != "waive") return Mark("gate", "", argument, desk);
  const auto [id, why] = Split(rest);
  Mark("waive", id, why, desk);
}

void RunQuestions(const std::string&, Desk& desk) {
  Show(desk, face::QuestionsText, "no question is open");
}

void RunPlan(const std::string&, Desk& desk) {
  desk.Refreshed([&desk] {
    if (desk.state.mode == "plan") return Show(desk, face::PlanText, "");
    protocol::Change change;
    change.mode = "plan";
    desk.session.Change(change, desk.Then("mode", [&desk] {
      desk.state.mode = "plan";
      desk.view.Note("mode: plan");
      Show(desk, face::PlanText, "");
    }));
  });
}

}  // namespace stet::tui
