#include "tui/picker.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <poll.h>

#include "base/clock.h"
#include "base/display_width.h"
#include "base/text.h"
#include "tui/screen.h"

namespace stet::tui {
namespace {

constexpr int kEscapeMs = 50;

std::string RowOf(const protocol::SessionSummary& session, Millis now) {
  const std::string title =
      session.title.empty() ? "(untitled)" : FitText(OneLineText(session.title), 50);
  return PrintableText(fmt::format("{}  {}  {}  {}", title, face::AgeText(session.updated_at, now),
                                   session.cwd, session.session_id));
}

}  // namespace

Picker::Picker(std::string title, std::vector<std::string> rows)
    : title_(std::move(title)), rows_(std::move(rows)) {
  Filter();
}

void Picker::Filter() {
  const std::string wanted = Lower(filter_.text());
  fitting_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (Lower(rows_[i]).contains(wanted)) fitting_.push_back(i);
  mark_ = 0;
}

bool Picker::Move(bool up) {
  if (up ? mark_ == 0 : mark_ + 1 >= fitting_.size()) return false;
  mark_ = up ? mark_ - 1 : mark_ + 1;
  return true;
}

Picker::Does Picker::Press(const Key& key) {
  const bool ctrl = key.kind == Key::Kind::kCtrl;
  if (key.kind == Key::Kind::kUp || (ctrl && key.text == "p"))
    return Move(true) ? Does::kChanged : Does::kNothing;
  if (key.kind == Key::Kind::kDown || (ctrl && key.text == "n"))
    return Move(false) ? Does::kChanged : Does::kNothing;
  if (key.kind == Key::Kind::kNewLine) return Does::kNothing;
  switch (filter_.Press(key)) {
    case LineEditor::Does::kEdited: Filter(); return Does::kChanged;
    case LineEditor::Does::kSubmitted: return marked() ? Does::kTaken : Does::kNothing;
    case LineEditor::Does::kEnded:
    case LineEditor::Does::kInterrupted:
    case LineEditor::Does::kEscaped: return Does::kLeft;
    default: return Does::kNothing;
  }
}

std::optional<std::size_t> Picker::marked() const {
  if (mark_ >= fitting_.size()) return std::nullopt;
  return fitting_[mark_];
}

EditorRows Picker::Rows(std::size_t columns, std::size_t rows) const {
  constexpr std::size_t kFrame = 2;  // The title and the filter.
  const std::size_t room = rows > kFrame + 2 ? rows - kFrame - 1 : 1;
  const std::size_t width = columns > 1 ? columns - 1 : 1;
  EditorRows out = LayOut("filter: ", filter_.text(), filter_.cursor(), columns, 1);
  out.rows.insert(out.rows.begin(), FitText(title_, width));
  out.cursor_row += 1;
  const std::size_t first = mark_ < room ? 0 : mark_ - room + 1;
  for (std::size_t i = first; i < fitting_.size() && i < first + room; ++i)
    out.rows.push_back(FitText((i == mark_ ? "> " : "  ") + rows_[fitting_[i]], width));
  if (fitting_.empty()) out.rows.emplace_back(FitText("  (nothing fits)", width));
  return out;
}

std::optional<std::string> PickSession(const std::vector<protocol::SessionSummary>& sessions,
                                       Tty& tty) {
  std::vector<std::string> rows;
  const Millis now = SystemClock().Now();
  for (const protocol::SessionSummary& session : sessions) rows.push_back(RowOf(session, now));
  Picker picker(
      "Which session? Type to filter, arrows to move, Enter to go on with it, Esc to leave.",
      std::move(rows));
  Tty::Size size = tty.size();
  Screen screen(size.columns, size.rows);
  KeyReader keys;
  Picker::Does did = Picker::Does::kChanged;
  while (did != Picker::Does::kTaken && did != Picker::Does::kLeft) {
    screen.Show(picker.Rows(size.columns, size.rows));
    tty.Write(screen.Take());
    std::array<pollfd, 3> waits = {pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = tty.signals(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = tty.hang_up(), .events = POLLIN, .revents = 0}};
    const int ready = ::poll(waits.data(), waits.size(), keys.escape_open() ? kEscapeMs : -1);
    if (ready == 0) keys.EndEscape();
    while (const std::optional<int> signal = tty.NextSignal()) {
      if (tty.ending() || *signal == SIGINT) did = Picker::Does::kLeft;
      if (*signal == SIGTSTP) tty.Suspend();
      if (*signal == SIGCONT) screen.Forget();
      size = tty.size();
      screen.Resize(size.columns, size.rows);
    }
    if (waits[0].revents != 0) {
      const std::optional<std::string> typed = tty.Read();
      if (!typed) break;
      keys.Feed(*typed);
    }
    while (const std::optional<Key> key = keys.Next()) {
      did = picker.Press(*key);
      if (did == Picker::Does::kTaken || did == Picker::Does::kLeft) break;
    }
  }
  screen.Hide();
  tty.Write(screen.Take());
  if (did != Picker::Does::kTaken) return std::nullopt;
  return sessions[*picker.marked()].session_id;
}

}  // namespace stet::tui
