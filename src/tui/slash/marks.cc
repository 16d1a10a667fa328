#include "tui/slash/marks.h"

#include <algorithm>

#include <fmt/format.h>

#include "face/run_text.h"

namespace stet::tui {
namespace {

void Mark(std::string_view what, const std::string& id, const std::string& text,
          CommandEnvironment& environment) {
  protocol::Mark mark;
  mark.what = what;
  mark.id = id;
  mark.text = text;
  environment.session.Mark(mark, environment.Then("mark", [&environment](const std::string& done) {
    environment.view.Note(done);
  }));
}

/// The first word, and what stands behind it.
std::pair<std::string, std::string> Split(const std::string& text) {
  const std::size_t blank = std::min(text.find_first_of(" \t\n"), text.size());
  const std::size_t rest = text.find_first_not_of(" \t\n", blank);
  return {text.substr(0, blank), rest == std::string::npos ? "" : text.substr(rest)};
}

/// Shows what `make` gives of the run, or says that there is none.
void Show(CommandEnvironment& environment, std::string (*make)(const protocol::RunReport&),
          std::string_view none) {
  environment.session.Run(
      environment.Then("run", [&environment, make, none](const protocol::RunReport& report) {
        const std::string text = make(report);
        if (text.empty()) return environment.view.Note(none);
        environment.view.Block(text);
      }));
}

}  // namespace

void RunPin(const std::string& text, CommandEnvironment& environment) {
  if (text.empty())
    return environment.view.Note("write the text behind it: /pin TEXT", face::Style::kRed);
  Mark("pin", "", text, environment);
}

void RunPins(const std::string&, CommandEnvironment& environment) {
  environment.session.Run(
      environment.Then("run", [&environment](const protocol::RunReport& report) {
        if (report.pins.empty())
          return environment.view.Note("nothing is pinned; /pin TEXT does it");
        environment.view.Block(face::PinsText(report.pins, environment.console.columns() - 1) +
                               "/unpin N removes one\n");
      }));
}

void RunUnpin(const std::string& id, CommandEnvironment& environment) {
  if (id.empty()) return RunPins("", environment);
  Mark("unpin", id, "", environment);
}

void RunSnip(const std::string& id, CommandEnvironment& environment) {
  if (!id.empty()) return Mark("snip", id, "", environment);
  environment.session.Turns(environment.Then("turns", [&environment](
                                                          const protocol::TurnRows& turns) {
    const std::string text =
        face::TurnsText(turns, environment.scene.turn().running, environment.console.columns() - 1);
    if (text.empty()) return environment.view.Note("there is no finished turn yet");
    environment.view.Block(text + "/snip N hides one from the model, /unsnip N shows it again\n");
  }));
}

void RunUnsnip(const std::string& id, CommandEnvironment& environment) {
  if (id.empty()) return RunSnip("", environment);
  Mark("unsnip", id, "", environment);
}

void RunGate(const std::string& argument, CommandEnvironment& environment) {
  if (argument.empty())
    return Show(environment, face::GatesText,
                "no gate is set; /gate finish test wants tests to pass before the end");
  const auto [verb, rest] = Split(argument);
  if (verb == "clear") return Mark("clear", rest, "", environment);
  if (verb != "waive") return Mark("gate", "", argument, environment);
  const auto [id, why] = Split(rest);
  Mark("waive", id, why, environment);
}

void RunQuestions(const std::string&, CommandEnvironment& environment) {
  Show(environment, face::QuestionsText, "no question is open");
}

void RunPlan(const std::string&, CommandEnvironment& environment) {
  if (environment.scene.settings().mode == "plan") return Show(environment, face::PlanText, "");
  protocol::Change change;
  change.mode = "plan";
  environment.session.Change(
      change, environment.Then("mode", [&environment] { Show(environment, face::PlanText, ""); }));
}

}  // namespace stet::tui
