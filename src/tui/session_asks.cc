// What a session asks its user, and how the user answers.
#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "json/view.h"
#include "tui/asked_text.h"
#include "tui/interactive_session.h"

namespace stet::tui {
namespace {

/// Of the rule that an answer would make: the choices behind it must stay in sight.
constexpr std::size_t kMaxRuleColumns = 160;

std::string OptionRows(const protocol::QuestionAsk& ask) {
  std::string rows;
  std::size_t number = 0;
  for (const auto& [label, more] : protocol::OptionsOf(ask))
    rows += fmt::format("{:>3}  {}{}{}\n", ++number, PrintableText(label), more.empty() ? "" : "  ",
                        PrintableText(OneLineText(more)));
  return rows;
}

const std::string& IdOf(const protocol::AskAnswer& answer) {
  const auto* permission = std::get_if<protocol::PermissionAnswer>(&answer);
  return permission != nullptr ? permission->request_id
                               : std::get<protocol::QuestionAnswer>(answer).question_id;
}

std::string ScopeOf(std::string_view key) {
  if (key == "a") return "session";
  if (key == "p") return "project";
  return key == "g" ? "always" : "once";
}

std::string_view ScopeText(std::string_view key) {
  if (key == "a") return "in this session";
  return key == "p" ? "in this project" : "everywhere, for good";
}

}  // namespace

void InteractiveSession::MatchDialogs() {
  const auto is_asked = [this](const std::string& id) {
    return std::ranges::any_of(
        scene_.asks(), [&](const protocol::Ask& ask) { return protocol::AskId(ask) == id; });
  };
  std::erase_if(answering_, [&](const std::string& id) { return !is_asked(id); });
  std::vector<std::string> gone;
  for (const Dialog& dialog : dialogs_)
    if (!dialog.id.empty() && !is_asked(dialog.id)) gone.push_back(dialog.id);
  for (const std::string& id : gone) DropDialog(id);
  for (const protocol::Ask& ask : scene_.asks()) {
    if (IsOpen(protocol::AskId(ask)) || answering_.contains(protocol::AskId(ask))) continue;
    if (const auto* permission = std::get_if<protocol::PermissionAsk>(&ask))
      AskPermission(*permission);
    else
      AskQuestion(std::get<protocol::QuestionAsk>(ask));
  }
}

void InteractiveSession::AskPermission(const protocol::PermissionAsk& ask) {
  const AskedText asked = PermissionText(ask, setup_.console);
  view_.Block(asked.text);
  view_.MarkShown(ask.tool_call_id);
  Ask({.id = ask.request_id,
       .prompt = fmt::format(
           "y once   n no   e no, and say what instead   {}a always in this session: {}   "
           "p in this project   g everywhere",
           asked.folded ? "o show all of it   " : "",
           FitText(PrintableText(OneLineText(ask.session_rule)), kMaxRuleColumns)),
       .keys = asked.folded ? "yanepgo" : "yanepg",
       .answered = [this, ask](const std::string& key) { AnswerPermission(ask, key); }});
}

/// What holds for longer is said twice: one letter is soon typed for another reason.
void InteractiveSession::MakeSure(const protocol::PermissionAsk& ask, const std::string& key) {
  dialogs_.push_front(
      {.id = ask.request_id,
       .prompt =
           fmt::format("{0} again to allow it {1}: {2}   n no", key, ScopeText(key),
                       FitText(PrintableText(OneLineText(ask.session_rule)), kMaxRuleColumns)),
       .keys = key + "n",
       .answered = [this, ask](const std::string& said) { AnswerPermission(ask, said, true); }});
}

void InteractiveSession::AnswerPermission(const protocol::PermissionAsk& ask,
                                          const std::string& key, bool sure) {
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
  if (key == "o") {
    view_.Block(WholeCommand(ask));
    return AskPermission(ask);
  }
  if (key == "n") return Deny(ask.request_id, "");
  if (key != "y" && !sure) return MakeSure(ask, key);
  Answer(protocol::Allow(ask.request_id, ScopeOf(key)), [this, key, rule = ask.session_rule] {
    if (key == "y") return;
    view_.Note(fmt::format("allowed {}: {}", ScopeText(key), rule));
  });
}

void InteractiveSession::Deny(const std::string& request_id, const std::string& message) {
  Answer(protocol::Deny(request_id, message), [] {});
}

void InteractiveSession::Answer(const protocol::AskAnswer& answer, std::function<void()> done) {
  const std::string& id = IdOf(answer);
  answering_.insert(id);
  session_->Answer(answer, Later("answer", [this, id, done = std::move(done)](const Status& taken) {
                     if (taken) return done();
                     environment_->Complain(taken.error());
                     // Answered by another client, or withdrawn: the news of that come.
                     const Code code = taken.error().code;
                     if (code == Code::kConflict || code == Code::kNotFound) return;
                     answering_.erase(id);
                     MatchDialogs();
                   }));
}

void InteractiveSession::AskQuestion(const protocol::QuestionAsk& ask) {
  view_.Block(fmt::format("{} {}\n{}", setup_.console.Styled(face::Style::kYellow, "?"),
                          setup_.console.Styled(face::Style::kBold, PrintableText(ask.text)),
                          OptionRows(ask)));
  const bool options = !protocol::OptionsOf(ask).empty();
  Ask({.id = ask.question_id,
       .prompt = options ? "answer (a number, or your own words): " : "answer: ",
       .keys = "",
       .answered = [this, ask](const std::string& said) { AnswerQuestion(ask, said); }});
}

void InteractiveSession::AnswerQuestion(const protocol::QuestionAsk& ask, const std::string& said) {
  if (said.empty()) return AskQuestion(ask);
  const std::vector<protocol::AskOption> options = protocol::OptionsOf(ask);
  std::string answer = said;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (said == fmt::format("{}", i + 1)) answer = options[i].label;
  Answer(protocol::Say(ask.question_id, answer),
         [this, answer] { view_.Note("answered: " + OneLineText(answer)); });
}

void InteractiveSession::Ask(Dialog dialog) {
  if (dialogs_.empty()) {
    dialog_editor_.SetText("");
    typed_at_ = SystemClock().Steady();
  }
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
  typed_at_ = SystemClock().Steady();
  dialog.answered(said);
}

}  // namespace stet::tui
