#include "tui/interactive_session.h"

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "base/display_width.h"
#include "base/random.h"
#include "base/text.h"
#include "client/await.h"
#include "face/exit_codes.h"
#include "tui/choice_rows.h"
#include "tui/slash/slash.h"

namespace stet::tui {
namespace {

constexpr int kTickMs = 200;   // While a turn runs, or the host is waited for.
constexpr int kEscapeMs = 50;  // After that an Escape was the key itself.
constexpr std::chrono::seconds kTwice{2};
constexpr std::size_t kMessageIdLetters = 16;
constexpr std::chrono::seconds kAnswersWithin{1};   // A host that is there lets go of a session.
constexpr std::chrono::milliseconds kQuiet{400};    // Before keys answer.
constexpr std::chrono::milliseconds kKeysWait{20};  // For news that come all the time.

}  // namespace

InteractiveSession::InteractiveSession(const InteractiveSetup& setup,
                                       client::Transcript& transcript)
    : setup_(setup),
      transcript_(transcript),
      screen_(setup.tty.size().columns, setup.tty.size().rows),
      view_(screen_, setup.console, SystemClock(), scene_),
      waits_(SystemClock()),
      editor_(&setup.history) {}

Result<Leaving> InteractiveSession::Run(const protocol::Attach& attach, const std::string& prompt) {
  resumed_ = attach.session_id.has_value();
  prompt_ = Trimmed(prompt).empty() ? "" : prompt;
  setup_.live.WatchLink(
      inbox_.Each<client::Link>([this](client::Link link) { LinkChanged(std::move(link)); }));
  setup_.live.Attach(attach, {.watcher = inbox_.Watcher()},
                     Later("attach", [this](Result<std::unique_ptr<client::LiveSession>> attached) {
                       Attached(std::move(attached));
                     }));
  while (!leaving_ && !failed_) {
    Draw();
    Wait();
  }
  if (opened_) {
    RETURN_IF_ERROR(Close());
    return *leaving_;
  }
  if (leaving_) setup_.live.Abandon();
  screen_.Hide();
  setup_.tty.Write(screen_.Take());
  if (failed_) return std::unexpected(*failed_);
  setup_.tty.Finish();
  return *leaving_;
}

/// The terminal is the user's again before the end, which may take its time. A host that does not
/// answer is not waited for.
Status InteractiveSession::Close() {
  screen_.Hide();
  screen_.EndLine();
  setup_.tty.Write(screen_.Take());
  const bool held_up = waits_.long_ones() || !link_.connected || link_.silent_since;
  inbox_.DropAnswers();
  if (!leaving_->next_session) {
    setup_.tty.Finish();
    if (held_up) setup_.live.Abandon();
  }
  for (const Unsent& one : unsent_)
    setup_.console.Say(PrintableText("not sent, as far as is known: " + OneLineText(one.text)));
  const auto begun = SystemClock().Steady();
  Status closed = client::Await(*session_, &client::LiveSession::Close);
  const bool answers = !held_up && SystemClock().Steady() - begun < kAnswersWithin;
  transcript_.Keep();
  const std::string& session_id = scene_.session().session_id;
  const Result<protocol::SessionSummary> kept =
      client::Await(setup_.sessions, &client::Sessions::Describe, session_id);
  if (!resumed_ && closed && answers && kept && kept->user_messages == 0) {
    // Nothing was said: `stet -c` means the session before. Ignoring the error on purpose: then an
    // empty one is listed.
    (void)client::Await(setup_.sessions, &client::Sessions::Remove, session_id);
  } else if (!leaving_->next_session) {
    // A mode that lasts as long as its opening must be asked for by whoever joins what still works.
    const bool bypass = scene_.settings().mode == "bypass";
    setup_.console.Say(fmt::format("To go on: stet -r {}{}", session_id,
                                   bypass ? " --permission-mode bypass" : ""));
  }
  return closed;
}

std::chrono::milliseconds InteractiveSession::until_keys_answer() const {
  if (!dialog_has_keys()) return {};
  const auto passed = SystemClock().Steady() - typed_at_;
  // Rounded up: poll must not return before it is zero.
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(kQuiet - passed));
}

bool InteractiveSession::IsOpen(const std::string& id) const {
  return std::ranges::any_of(dialogs_, [&](const Dialog& dialog) { return dialog.id == id; });
}

/// The host is not there, or takes its time.
bool InteractiveSession::shows_waits() const {
  return waits_.long_ones() || (opened_ && !link_.connected);
}

/// Nothing goes on while the user is waited for.
std::string InteractiveSession::StatusRow() const {
  const std::string held_up = opened_ ? waits_.Row(link_) : waits_.Row();
  if (!held_up.empty())
    return setup_.console.Styled(
        face::Style::kDim, FitText(PrintableText(OneLineText(held_up)), screen_.columns() - 1));
  const bool asked = !dialogs_.empty() && !dialogs_.front().id.empty();
  return asked ? "" : view_.StatusRow();
}

void InteractiveSession::Wait() {
  std::array<pollfd, 4> waits = {
      pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
      pollfd{.fd = inbox_.fd(), .events = POLLIN, .revents = 0},
      pollfd{.fd = setup_.tty.signals(), .events = POLLIN, .revents = 0},
      pollfd{.fd = setup_.tty.hang_up(), .events = POLLIN, .revents = 0}};
  const bool ticks = !waits_.empty() || !StatusRow().empty();
  int patience = keys_.escape_open() ? kEscapeMs : ticks ? kTickMs : -1;
  if (const auto left = static_cast<int>(until_keys_answer().count()); left > 0)
    patience = patience < 0 ? left : std::min(patience, left);
  const int ready = ::poll(waits.data(), waits.size(), patience);
  if (ready == 0 && keys_.escape_open()) {
    keys_.EndEscape();
    TakeKeys();
  }
  TakeSignals();
  if (waits[0].revents != 0) {
    const std::optional<std::string> typed = setup_.tty.Read();
    // The terminal is gone, as it is after a SIGHUP.
    if (!typed) Leave(face::kExitInterrupted);
    keys_.Feed(typed.value_or(""));
    TakeKeys();
  }
  TakeNews();
}

void InteractiveSession::TakeKeys() {
  std::vector<Key> keys;
  while (const std::optional<Key> key = keys_.Next()) keys.push_back(*key);
  // What comes in one piece was pasted, or typed before it could be read: it answers nothing.
  burst_ = keys.size() > 1;
  for (const Key& key : keys) {
    if (leaving_) return;
    Press(key);
  }
}

/// No more at once than keys may wait for: what is left has its signal, which is still there.
void InteractiveSession::TakeNews() {
  const Deadline keys_wait = Deadline::After(kKeysWait);
  while (!leaving_ && !keys_wait.Passed()) {
    std::optional<client::News> news = inbox_.Take();
    if (!news) return;
    if (auto* answered = std::get_if<client::Answered>(&*news))
      (*answered)();
    else if (!opened_)
      early_news_.push_back(*std::move(news));
    else if (const auto* event = std::get_if<protocol::Event>(&*news))
      Take(*event);
    else
      Take(std::get<protocol::Transient>(*news));
  }
}

void InteractiveSession::TakeSignals() {
  while (const std::optional<int> signal = setup_.tty.NextSignal()) {
    switch (*signal) {
      case SIGTERM:
      case SIGHUP: break;
      case SIGINT: Interrupt(); break;
      case SIGTSTP: Suspend(); break;
      case SIGCONT:
        // The shell had the terminal meanwhile.
        setup_.tty.Enter();
        setup_.tty.Write("\r\n");
        screen_.Forget();
        Resize();
        break;
      default: Resize();
    }
  }
  // It may have been heard elsewhere, where a session is picked.
  if (setup_.tty.ending()) Leave(face::kExitInterrupted);
}

void InteractiveSession::Take(const protocol::Event& event) {
  if (!transcript_.Take(event)) return;
  const std::optional<protocol::AskNews> news = protocol::AskNewsIn(event);
  // What was answered here is no dialog any more.
  if (news && !news->asked && !news->by.empty() && IsOpen(news->id))
    view_.Note("answered by " + news->by);
  Heard(scene_.Take(event));
}

void InteractiveSession::Take(const protocol::Transient& transient) {
  Heard(scene_.Take(transient));
}

void InteractiveSession::Heard(const client::SceneChanges& changes) {
  view_.Apply(changes);
  for (const client::SceneChange& change : changes) {
    if (change.what == client::SceneChange::What::kAsks && opened_) MatchDialogs();
    const client::SceneItem* item = scene_.Find(change.item);
    const auto* turn = item == nullptr ? nullptr : std::get_if<client::TurnItem>(&item->what);
    if (turn != nullptr) TurnEnded(*turn);
  }
}

/// What happened while the line was gone comes as events; the host's word makes sure of the rest.
void InteractiveSession::LinkChanged(client::Link link) {
  const bool back = link.connected && !link_.connected;
  link_ = std::move(link);
  if (!back || !session_) return;
  session_->State(Later("state", [this](const Result<protocol::LiveState>& state) {
    // Ignoring the error on purpose: the line broke again, or what is asked next meets it too.
    if (state) Heard(scene_.Begin(*state));
  }));
}

void InteractiveSession::TurnBegan(const std::optional<std::string>& turn_id) {
  if (turn_id) Heard(scene_.Began(*turn_id));
}

void InteractiveSession::TurnEnded(const client::TurnItem& turn) {
  const bool queued = !scene_.follow_ups().empty() || !scene_.steers().empty();
  if (turn.reason != "completed" && queued)
    view_.Note("what is queued waits: /continue goes on, /queue shows it", face::Style::kYellow);
  else if (turn.reason == "interrupted")
    view_.Note("it did not come to its end: /continue goes on with it", face::Style::kYellow);
  if (turn.duration_ms.value_or(0) < setup_.bell_after_ms) return;
  Draw();
  setup_.tty.Write("\a\x1b]9;stet: the turn has ended\x1b\\");
}

void InteractiveSession::Draw() {
  // A session that opens at once is not preceded by an empty prompt.
  if (!opened_ && !shows_waits() && editor_.text().empty()) return;
  screen_.Show(Bottom());
  const std::string bytes = screen_.Take();
  if (!bytes.empty()) setup_.tty.Write("\x1b[?2026h" + bytes + "\x1b[?2026l");
}

/// The status, what is not sent yet, what is asked, and the line that is being written.
EditorRows InteractiveSession::Bottom() const {
  const std::size_t columns = screen_.columns();
  const std::size_t most = std::max<std::size_t>(screen_.rows() / 2, 1);
  const bool in_line = !dialogs_.empty() && !dialog_has_keys();
  EditorRows out = in_line ? LayOut(dialogs_.front().prompt, dialog_editor_.text(),
                                    dialog_editor_.cursor(), columns, most)
                           : LayOut("> ", editor_.text(), editor_.cursor(), columns, most);
  std::vector<std::string> above;
  if (const std::string status = StatusRow(); !status.empty()) above.push_back(status);
  if (shows_waits()) {
    const auto add = [&](const std::string& text) {
      const std::string row = FitText(PrintableText("unsent: " + OneLineText(text)), columns - 1);
      above.push_back(setup_.console.Styled(face::Style::kDim, row));
    };
    if (!prompt_.empty()) add(prompt_);
    for (const std::string& line : early_lines_) add(line);
    for (const Unsent& one : unsent_) add(one.text);
    if (above.size() > most) above.resize(most);
  }
  if (dialog_has_keys() && until_keys_answer().count() == 0) {
    const std::string prompt = editor_.text().empty()
                                   ? dialogs_.front().prompt
                                   : "(send or clear your line first) " + dialogs_.front().prompt;
    for (const std::string& row : ChoiceRows(prompt, columns, most))
      above.push_back(setup_.console.Styled(face::Style::kYellow, row));
  }
  out.rows.insert(out.rows.begin(), above.begin(), above.end());
  out.cursor_row += above.size();
  return out;
}

void InteractiveSession::Press(const Key& key) {
  const bool in_line = !dialogs_.empty() && !dialog_has_keys();
  // A user in the middle of a line does not answer with its letters; what begins a command or
  // steers is no answer.
  const bool begins = key.kind == Key::Kind::kText && (key.text == "/" || key.text == "!");
  bool answers = dialog_has_keys() && editor_.text().empty() && !begins;
  if (answers && key.kind == Key::Kind::kText) {
    if (until_keys_answer().count() > 0 || burst_) typed_at_ = SystemClock().Steady();
    // What is no choice is the beginning of a line.
    answers = until_keys_answer().count() == 0 && dialogs_.front().keys.contains(key.text);
  }
  if (in_line || answers) return PressInDialog(key);
  if (key.kind == Key::Kind::kTab) return CompleteCommand();
  switch (editor_.Press(key)) {
    case LineEditor::Does::kSubmitted: Submit(editor_.Take()); break;
    case LineEditor::Does::kEnded: Leave(opened_ ? face::kExitDone : face::kExitInterrupted); break;
    case LineEditor::Does::kEscaped: StopTurn(); break;
    case LineEditor::Does::kInterrupted: Interrupt(); break;
    case LineEditor::Does::kSuspended: Suspend(); break;
    case LineEditor::Does::kCleared: screen_.Clear(); break;
    default: break;
  }
}

/// Writes as much of the command's name as is certain; when that is nothing, shows the names.
void InteractiveSession::CompleteCommand() {
  const std::string& text = editor_.text();
  if (!text.starts_with('/') || editor_.cursor() != text.size()) return;
  const std::vector<std::string> names =
      client::CompletionsOf(text, client::Face::kTerminal, scene_.session().commands);
  if (names.empty()) return;
  if (names.size() == 1) return editor_.SetText("/" + names[0] + " ");
  std::string certain = names[0];
  for (const std::string& name : names)
    certain.resize(
        static_cast<std::size_t>(std::ranges::mismatch(certain, name).in1 - certain.begin()));
  if (certain.size() + 1 > text.size()) return editor_.SetText("/" + certain);
  view_.Note(fmt::format("/{}", fmt::join(names, " /")));
}

void InteractiveSession::PressInDialog(const Key& key) {
  const bool with_keys = dialog_has_keys();
  if (with_keys && key.kind == Key::Kind::kText) return AnswerDialog(key.text);
  // Nothing is written into a dialog of keys, but Ctrl and Escape mean what they always do.
  if (with_keys && key.kind != Key::Kind::kCtrl && key.kind != Key::Kind::kEscape) return;
  switch (dialog_editor_.Press(key)) {
    case LineEditor::Does::kSubmitted:
      AnswerDialog(std::string(Trimmed(dialog_editor_.Take())));
      break;
    case LineEditor::Does::kEscaped:
      // What the session asks stays open until it is answered.
      if (dialogs_.front().id.empty()) {
        DropDialog("");
      } else if (!with_keys) {
        dialogs_.pop_front();
        MatchDialogs();
      } else {
        StopTurn();
      }
      break;
    case LineEditor::Does::kEnded: Leave(opened_ ? face::kExitDone : face::kExitInterrupted); break;
    case LineEditor::Does::kInterrupted: Interrupt(); break;
    case LineEditor::Does::kSuspended: Suspend(); break;
    case LineEditor::Does::kCleared: screen_.Clear(); break;
    default: break;
  }
}

/// False when there is nothing to stop.
bool InteractiveSession::StopTurn() {
  if (!opened_ || !scene_.turn().running) return false;
  session_->Cancel();
  view_.Note("stopping; Ctrl-C again ends stet", face::Style::kYellow);
  return true;
}

/// First stops the turn, or clears what is written; twice, soon after one another, it ends.
void InteractiveSession::Interrupt() {
  const auto now = SystemClock().Steady();
  const bool again = interrupted_ && now - *interrupted_ < kTwice;
  interrupted_ = now;
  if (again || !opened_) return Leave(face::kExitInterrupted);
  if (StopTurn()) return;
  if (!dialogs_.empty()) return DropDialog(dialogs_.front().id);
  if (!editor_.text().empty()) {
    editor_.SetText("");
    interrupted_.reset();
    return;
  }
  view_.Note("Ctrl-C again ends stet");
}

void InteractiveSession::Suspend() {
  screen_.Hide();
  screen_.EndLine();
  setup_.tty.Write(screen_.Take());
  setup_.tty.Suspend();
  Resize();
}

void InteractiveSession::Resize() {
  setup_.console = face::Console::Detect();
  const Tty::Size size = setup_.tty.size();
  screen_.Resize(size.columns, size.rows);
}

void InteractiveSession::Submit(const std::string& text) {
  const std::string line(Trimmed(text));
  if (line.empty()) return;
  if (!opened_) return early_lines_.push_back(text);
  setup_.history.Add(text);
  if (line.starts_with('/')) {
    const client::ParsedLine slash =
        client::ParseLine(line, client::Face::kTerminal, scene_.session().commands);
    if (slash.kind != client::ParsedLine::Kind::kMessage) {
      view_.Note("/" + slash.name + (slash.argument.empty() ? "" : " " + slash.argument));
      return RunSlash(slash, *environment_);
    }
  }
  const bool steer = scene_.turn().running && line.starts_with('!') && line.size() > 1;
  Send(steer ? std::string(Trimmed(std::string_view(line).substr(1))) : text, steer);
}

/// What is sent again unchanged, after it was not known whether it was done, is known again.
void InteractiveSession::Send(const std::string& text, bool steer) {
  Unsent sent{.message_id = "", .text = text};
  if (doubtful_ && doubtful_->text == text) sent = *doubtful_;
  doubtful_.reset();
  if (sent.message_id.empty())
    sent.message_id = "tty_" + RandomName(ProcessRandom(), kMessageIdLetters);
  protocol::Send send;
  send.how = steer ? "steer" : "send";
  send.text = text;
  send.client_message_id = sent.message_id;
  unsent_.push_back(sent);
  session_->Send(send, Later("send", [this, sent](const Result<protocol::Accepted>& accepted) {
                   Sent(sent, accepted);
                 }));
}

void InteractiveSession::Sent(const Unsent& sent, const Result<protocol::Accepted>& accepted) {
  std::erase_if(unsent_, [&](const Unsent& one) { return one.message_id == sent.message_id; });
  if (accepted) {
    if (accepted->what == "started") return TurnBegan(accepted->turn_id);
    return view_.Note(fmt::format("{}: {}", accepted->what, OneLineText(sent.text)));
  }
  environment_->Complain(accepted.error());
  const Code code = accepted.error().code;
  // Not lost: it can be sent again.
  if (code == Code::kTimeout || code == Code::kUnavailable) {
    // Long after Enter: the user may be in the middle of another line.
    doubtful_ = sent;
    return view_.Note(
        "may or may not have been sent; the up key brings it back: " + OneLineText(sent.text),
        face::Style::kYellow);
  }
  if (editor_.text().empty()) return editor_.SetText(sent.text);
  view_.Note("not sent; the up key brings it back: " + OneLineText(sent.text),
             face::Style::kYellow);
}

}  // namespace stet::tui
