// What a session asks its user, and how the user answers.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/text_width.h"
#include "cli/interactive_session.h"
#include "cli/live_view_change.h"

namespace stet::cli {
namespace {

constexpr std::string_view kMe = "terminal";
constexpr std::size_t kMaxChangeLines = 60;

/// The labels of AskUser's options, or the options that are texts themselves.
std::vector<std::string> LabelsOf(const Raw& options) {
  std::vector<std::string> labels;
  JsonView(options.text).ForEach([&](const JsonView& option) {
    labels.push_back(option.is_string() ? option.StringOr("") : option["label"].StringOr(""));
  });
  return labels;
}

std::string OptionRows(const Raw& options) {
  std::string rows;
  std::size_t number = 0;
  JsonView(options.text).ForEach([&](const JsonView& option) {
    const std::string label =
        option.is_string() ? option.StringOr("") : option["label"].StringOr("");
    const std::string more = option["description"].StringOr("");
    rows += fmt::format("{:>3}  {}{}{}\n", ++number, PrintableText(label), more.empty() ? "" : "  ",
                        PrintableText(OneLineText(more)));
  });
  return rows;
}

std::string ScopeOf(std::string_view key) {
  if (key == "a") return "session";
  if (key == "p") return "project";
  return key == "g" ? "always" : "once";
}

}  // namespace

void InteractiveSession::AskPermission(const protocol::PermissionAsk& ask) {
  const std::string command = JsonView(ask.args.text)["command"].StringOr("");
  std::string text = fmt::format("{} {}: {}\n", setup_.terminal.Styled(Style::kYellow, "?"),
                                 setup_.terminal.Styled(Style::kBold, PrintableText(ask.tool)),
                                 PrintableText(ask.summary));
  if (command.contains('\n')) text += PrintableText(command) + "\n";
  text += ChangeText(ask.tool, ask.args, setup_.terminal, kMaxChangeLines);
  if (!ask.reason.empty())
    text +=
        "  " + setup_.terminal.Styled(Style::kDim, PrintableText(OneLineText(ask.reason))) + "\n";
  view_.Block(text);
  view_.MarkShown(ask.tool_call_id);
  Ask({.id = ask.request_id,
       .prompt = fmt::format(
           "y once   n no   e no, and say what instead   a always in this session: {}   "
           "p in this project   g everywhere",
           PrintableText(OneLineText(ask.session_rule))),
       .keys = "yanepg",
       .answered = [this, ask](const std::string& key) { AnswerPermission(ask, key); }});
}

void InteractiveSession::AnswerPermission(const protocol::PermissionAsk& ask,
                                          const std::string& key) {
  if (key == "e") {
    // Before whatever else is asked: it is about the call that was just shown.
    dialogs_.push_front(
        {.id = ask.request_id,
         .prompt = "what instead? ",
         .keys = "",
         .answered = [this, id = ask.request_id](const std::string& said) { Deny(id, said); }});
    dialog_editor_.SetText("");
    return;
  }
  if (key == "n") return Deny(ask.request_id, "");
  protocol::PermissionAnswer answer;
  answer.request_id = ask.request_id;
  answer.allow = true;
  answer.scope = ScopeOf(key);
  answer.by = kMe;
  if (const Status done = session_->Answer(answer); !done) return NotAnswered(done.error());
  if (key != "y")
    view_.Note(fmt::format("allowed {}: {}",
                           key == "a"   ? "in this session"
                           : key == "p" ? "in this project"
                                        : "always",
                           ask.session_rule));
}

void InteractiveSession::Deny(const std::string& request_id, const std::string& message) {
  protocol::PermissionAnswer answer;
  answer.request_id = request_id;
  answer.scope = "once";
  answer.message = message;
  answer.by = kMe;
  if (const Status done = session_->Answer(answer); !done) NotAnswered(done.error());
}

/// What still waits is asked again.
void InteractiveSession::NotAnswered(const Error& error) {
  desk_->Complain(error);
  TakeOpenAsks();
}

void InteractiveSession::AskQuestion(const protocol::QuestionAsk& ask) {
  view_.Block(fmt::format("{} {}\n{}", setup_.terminal.Styled(Style::kYellow, "?"),
                          setup_.terminal.Styled(Style::kBold, PrintableText(ask.text)),
                          OptionRows(ask.options)));
  const bool options = !LabelsOf(ask.options).empty();
  Ask({.id = ask.question_id,
       .prompt = options ? "answer (a number, or your own words): " : "answer: ",
       .keys = "",
       .answered = [this, ask](const std::string& said) { AnswerQuestion(ask, said); }});
}

void InteractiveSession::AnswerQuestion(const protocol::QuestionAsk& ask, const std::string& said) {
  if (said.empty()) return AskQuestion(ask);
  const std::vector<std::string> labels = LabelsOf(ask.options);
  std::string answer = said;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (said == fmt::format("{}", i + 1)) answer = labels[i];
  protocol::QuestionAnswer out;
  out.question_id = ask.question_id;
  std::string json;
  AppendJsonString(json, answer);
  out.answer = Raw{std::move(json)};
  out.by = kMe;
  if (const Status done = session_->Answer(out); !done) return NotAnswered(done.error());
  view_.Note("answered: " + OneLineText(answer));
}

void InteractiveSession::Ask(Dialog dialog) {
  if (dialogs_.empty()) dialog_editor_.SetText("");
  dialogs_.push_back(std::move(dialog));
}

void InteractiveSession::DropDialog(const std::string& id) {
  if (dialogs_.empty()) return;
  const bool first = dialogs_.front().id == id;
  const auto gone = std::ranges::remove(dialogs_, id, &Dialog::id);
  dialogs_.erase(gone.begin(), gone.end());
  if (first) dialog_editor_.SetText("");
}

void InteractiveSession::AnswerDialog(const std::string& said) {
  const Dialog dialog = std::move(dialogs_.front());
  dialogs_.pop_front();
  dialog_editor_.SetText("");
  dialog.answered(said);
}

}  // namespace stet::cli
