#include "cli/interactive_session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "base/text_width.h"
#include "base/version.h"
#include "cli/cost_view.h"
#include "cli/exit_codes.h"
#include "cli/picker.h"
#include "cli/slash.h"
#include "cli/transcript_rows.h"

namespace stet::cli {
namespace {

constexpr int kTickMs = 200;   // While a turn runs.
constexpr int kEscapeMs = 50;  // After that an Escape was the key itself.
constexpr std::chrono::seconds kTwice{2};

std::string Blankless(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

}  // namespace

InteractiveSession::InteractiveSession(const InteractiveSetup& setup,
                                       client::Transcript& transcript)
    : setup_(setup),
      transcript_(transcript),
      screen_(setup.tty.size().columns, setup.tty.size().rows),
      view_(screen_, setup.terminal, SystemClock()),
      editor_(&setup.history) {}

Result<Leaving> InteractiveSession::Run(const protocol::Attach& attach, const std::string& prompt) {
  RETURN_IF_ERROR(AwaitSession(attach));
  if (leaving_) return *leaving_;
  made_ = !attach.session_id;
  desk_.emplace(Desk{.session = *session_,
                     .sessions = setup_.sessions,
                     .device = setup_.device,
                     .view = view_,
                     .terminal = setup_.terminal,
                     .ask = [this](Dialog dialog) { Ask(std::move(dialog)); },
                     .write = [this](std::string text) { editor_.SetText(std::move(text)); },
                     .leave = [this](Leaving leaving) { leaving_ = std::move(leaving); },
                     .pick_session = [this]() -> Result<std::optional<std::string>> {
                       screen_.Hide();
                       setup_.tty.Write(screen_.Take());
                       ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> sessions,
                                        setup_.sessions.List());
                       return PickSession(sessions, setup_.tty);
                     }});
  ShowOpening(attach.session_id.has_value());
  if (!Blankless(prompt).empty()) Send(prompt, false);
  TakeKeys();  // That were typed while the host was waited for.
  while (!leaving_) {
    Draw();
    Wait();
  }
  RETURN_IF_ERROR(Close());
  return *leaving_;
}

/// The host may take its time: meanwhile the user can leave, and what is typed is kept.
Status InteractiveSession::AwaitSession(const protocol::Attach& attach) {
  Result<std::unique_ptr<client::LiveSession>> attached = Fail(Code::kCancelled, "");
  std::atomic<bool> done = false;
  std::thread attaching([&] {
    attached = setup_.live.Attach(attach, inbox_.Watcher());
    done = true;
    inbox_.Poke();
  });
  while (!done && !leaving_) WaitForHost();
  if (leaving_) setup_.live.Abandon();
  attaching.join();
  held_up_ = false;
  screen_.Hide();
  setup_.tty.Write(screen_.Take());
  if (leaving_) {
    setup_.tty.Finish();
    return {};
  }
  if (!attached) return std::unexpected(std::move(attached).error());
  session_ = *std::move(attached);
  return {};
}

void InteractiveSession::WaitForHost() {
  std::array<pollfd, 3> waits = {
      pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
      pollfd{.fd = inbox_.fd(), .events = POLLIN, .revents = 0},
      pollfd{.fd = setup_.tty.signals(), .events = POLLIN, .revents = 0}};
  if (::poll(waits.data(), waits.size(), kTickMs) == 0) {
    held_up_ = true;
    return Draw();
  }
  TakeSignals();
  if (waits[0].revents == 0) return;
  const std::optional<std::string> typed = setup_.tty.Read();
  keys_.Feed(typed.value_or(""));
  if (!typed || typed->find_first_of("\x03\x04") != std::string::npos)
    leaving_ = Leaving{.exit_code = kExitInterrupted, .next_session = {}};
}

/// The terminal is the user's again before the end, which may take its time.
Status InteractiveSession::Close() {
  screen_.Hide();
  screen_.EndLine();
  setup_.tty.Write(screen_.Take());
  const protocol::LiveState state = session_->State();
  if (!leaving_->next_session) setup_.tty.Finish();
  Status closed = session_->Close();
  transcript_.Keep();
  const Result<protocol::SessionSummary> kept = setup_.sessions.Describe(state.session_id);
  if (made_ && closed && kept && kept->user_messages == 0) {
    // Nothing was said: `stet -c` means the session before. Ignoring the error on purpose: then an
    // empty one is listed.
    (void)setup_.sessions.Remove(state.session_id);
  } else if (!leaving_->next_session) {
    setup_.terminal.Say(fmt::format("To go on: stet -r {}", state.session_id));
  }
  return closed;
}

void InteractiveSession::ShowOpening(bool resumed) {
  const protocol::LiveState state = session_->State();
  view_.Note(fmt::format("stet {}  {}  mode {}  {}  /help", ProgramVersion(), state.model,
                         state.mode, state.cwd));
  for (const std::string& note : state.notes) view_.Note(note, Style::kYellow);
  if (!resumed) return;
  ShowRest();
  const std::size_t queued = state.follow_ups.size() + state.steers.size();
  if (queued > 0)
    view_.Note(fmt::format("{} queued: /queue shows, /continue goes on with it", queued),
               Style::kYellow);
  if (state.interrupted)
    view_.Note("the last turn did not come to its end: /continue goes on with it", Style::kYellow);
  if (state.state != "idle") view_.Begin();
  TakeOpenAsks();
}

/// What of the session's end was not shown yet.
void InteractiveSession::ShowRest() {
  const Result<client::Transcript::Rest> rest = transcript_.Reconcile(
      [this](std::size_t count) { return session_->Recent(count); }, kShownEvents);
  if (!rest) return desk_->Complain(rest.error());
  ShowEvents(*rest, view_);
}

/// What was asked before we came, of which no news comes.
void InteractiveSession::TakeOpenAsks() {
  for (const protocol::Ask& ask : protocol::OpenAsks(session_->State())) Put(ask);
}

bool InteractiveSession::IsOpen(const std::string& id) const {
  return std::ranges::any_of(dialogs_, [&](const Dialog& dialog) { return dialog.id == id; });
}

/// Nothing goes on while the user is waited for.
std::string InteractiveSession::StatusRow() const {
  if (held_up_) return setup_.terminal.Styled(Style::kDim, "waiting for the host  Ctrl-C leaves");
  const bool asked = !dialogs_.empty() && !dialogs_.front().id.empty();
  return asked ? "" : view_.StatusRow();
}

void InteractiveSession::Wait() {
  std::array<pollfd, 3> waits = {
      pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
      pollfd{.fd = inbox_.fd(), .events = POLLIN, .revents = 0},
      pollfd{.fd = setup_.tty.signals(), .events = POLLIN, .revents = 0}};
  const int patience = keys_.escape_open() ? kEscapeMs : StatusRow().empty() ? -1 : kTickMs;
  const int ready = ::poll(waits.data(), waits.size(), patience);
  if (ready == 0 && keys_.escape_open()) {
    keys_.EndEscape();
    TakeKeys();
  }
  TakeSignals();
  if (waits[0].revents != 0) {
    const std::optional<std::string> typed = setup_.tty.Read();
    // The terminal is gone, as it is after a SIGHUP.
    if (!typed) leaving_ = Leaving{.exit_code = kExitInterrupted, .next_session = {}};
    keys_.Feed(typed.value_or(""));
    TakeKeys();
  }
  TakeNews();
}

void InteractiveSession::TakeKeys() {
  while (!leaving_) {
    const std::optional<Key> key = keys_.Next();
    if (!key) return;
    Press(*key);
  }
}

void InteractiveSession::TakeNews() {
  while (const std::optional<client::News> news = inbox_.Take())
    std::visit([this](const auto& one) { Take(one); }, *news);
}

void InteractiveSession::TakeSignals() {
  while (const std::optional<int> signal = setup_.tty.NextSignal()) {
    switch (*signal) {
      case SIGTERM:
      case SIGHUP: leaving_ = Leaving{.exit_code = kExitInterrupted, .next_session = {}}; break;
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
}

void InteractiveSession::Take(const protocol::Event& event) {
  if (transcript_.Take(event)) view_.Take(event);
  const std::optional<protocol::AskNews> news = protocol::AskNewsIn(event);
  if (!news) return;
  if (news->asked) return Put(*news->asked);
  // What was answered here is no dialog any more.
  if (IsOpen(news->id) && !news->by.empty()) view_.Note("answered by " + news->by);
  DropDialog(news->id);
}

void InteractiveSession::Take(const protocol::Transient& transient) {
  view_.Take(transient);
  if (const auto* end = std::get_if<protocol::RuntimeEnd>(&transient.transient)) TurnEnded(*end);
}

void InteractiveSession::TurnEnded(const protocol::RuntimeEnd& end) {
  const std::optional<protocol::TurnReport> report = session_->Report(end.turn_id);
  if (!report) return;
  const protocol::CostSum& cost = report->cost;
  view_.Note(fmt::format("{}  {} in, {} out{}", SpanText(report->duration_ms),
                         CountText(cost.input + cost.cache_read + cost.cache_write),
                         CountText(cost.output),
                         cost.price > 0 ? "  " + MoneyText(cost.price) : ""));
  const protocol::LiveState state = session_->State();
  if (end.reason != "completed" && !(state.follow_ups.empty() && state.steers.empty()))
    view_.Note("what is queued waits: /continue goes on, /queue shows it", Style::kYellow);
  if (report->duration_ms < setup_.bell_after_ms) return;
  Draw();
  setup_.tty.Write("\a\x1b]9;stet: the turn has ended\x1b\\");
}

void InteractiveSession::Draw() {
  screen_.Show(Bottom());
  const std::string bytes = screen_.Take();
  if (!bytes.empty()) setup_.tty.Write("\x1b[?2026h" + bytes + "\x1b[?2026l");
}

/// The status, what is asked, and the line that is being written.
EditorRows InteractiveSession::Bottom() const {
  const std::size_t columns = screen_.columns();
  const std::size_t most = std::max<std::size_t>(screen_.rows() / 2, 1);
  const bool in_line = !dialogs_.empty() && !dialog_has_keys();
  EditorRows out = in_line ? LayOut(dialogs_.front().prompt, dialog_editor_.text(),
                                    dialog_editor_.cursor(), columns, most)
                           : LayOut("> ", editor_.text(), editor_.cursor(), columns, most);
  std::vector<std::string> above;
  if (const std::string status = StatusRow(); !status.empty()) above.push_back(status);
  if (dialog_has_keys()) {
    const std::string prompt = editor_.text().empty()
                                   ? dialogs_.front().prompt
                                   : "(send or clear your line first) " + dialogs_.front().prompt;
    above.push_back(setup_.terminal.Styled(Style::kYellow, FitText(prompt, columns - 1)));
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
  const bool answers = dialog_has_keys() && editor_.text().empty() && !begins;
  if (in_line || answers) return PressInDialog(key);
  if (key.kind == Key::Kind::kTab) return CompleteCommand();
  switch (editor_.Press(key)) {
    case LineEditor::Does::kSubmitted: Submit(editor_.Take()); break;
    case LineEditor::Does::kEnded: leaving_ = Leaving{}; break;
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
      client::CompletionsOf(text, client::Face::kTerminal, session_->State().commands);
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
  if (with_keys && key.kind == Key::Kind::kText) {
    if (dialogs_.front().keys.contains(key.text)) AnswerDialog(key.text);
    return;
  }
  // Nothing is written into a dialog of keys, but Ctrl and Escape mean what they always do.
  if (with_keys && key.kind != Key::Kind::kCtrl && key.kind != Key::Kind::kEscape) return;
  switch (dialog_editor_.Press(key)) {
    case LineEditor::Does::kSubmitted: AnswerDialog(Blankless(dialog_editor_.Take())); break;
    case LineEditor::Does::kEscaped:
      // What the session asks stays open until it is answered.
      if (dialogs_.front().id.empty()) {
        DropDialog("");
      } else if (!with_keys) {
        dialogs_.pop_front();
        TakeOpenAsks();
      }
      break;
    case LineEditor::Does::kInterrupted: Interrupt(); break;
    case LineEditor::Does::kSuspended: Suspend(); break;
    case LineEditor::Does::kCleared: screen_.Clear(); break;
    default: break;
  }
}

/// First stops the turn, or clears what is written; twice, soon after one another, it ends.
void InteractiveSession::Interrupt() {
  const auto now = SystemClock().Steady();
  const bool again = interrupted_ && now - *interrupted_ < kTwice;
  interrupted_ = now;
  if (again) {
    leaving_ = Leaving{.exit_code = kExitInterrupted, .next_session = {}};
    return;
  }
  if (view_.running()) {
    session_->Cancel();
    return view_.Note("stopping; Ctrl-C again ends stet", Style::kYellow);
  }
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
  setup_.terminal = Terminal::Detect();
  const Tty::Size size = setup_.tty.size();
  screen_.Resize(size.columns, size.rows);
}

void InteractiveSession::Submit(const std::string& text) {
  const std::string line = Blankless(text);
  if (line.empty()) return;
  setup_.history.Add(text);
  if (line.starts_with('/')) {
    const client::ParsedLine slash =
        client::ParseLine(line, client::Face::kTerminal, session_->State().commands);
    if (slash.kind != client::ParsedLine::Kind::kMessage) {
      view_.Note("/" + slash.name + (slash.argument.empty() ? "" : " " + slash.argument));
      return RunSlash(slash, *desk_);
    }
  }
  const bool steer = view_.running() && line.starts_with('!') && line.size() > 1;
  Send(steer ? Blankless(line.substr(1)) : text, steer);
}

void InteractiveSession::Send(const std::string& text, bool steer) {
  protocol::Send send;
  send.how = steer ? "steer" : "send";
  send.text = text;
  const Result<protocol::Accepted> accepted = session_->Send(send);
  if (!accepted) {
    desk_->Complain(accepted.error());
    // Not lost: it can be sent again.
    editor_.SetText(text);
  } else if (accepted->what == "started") {
    view_.Begin();
  } else {
    view_.Note(fmt::format("{}: {}", accepted->what, OneLineText(text)));
  }
}

}  // namespace stet::cli
