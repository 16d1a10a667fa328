#include "tui/live_view/live_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/text.h"
#include "face/cost_view.h"
#include "tui/live_view/change.h"

namespace stet::tui {
namespace {

constexpr std::size_t kMaxThinkingColumns = 300;
constexpr std::size_t kMaxChangeLines = 40;
constexpr std::size_t kBytesPerToken = 4;
constexpr std::int64_t kSpinnerMs = 200;
constexpr std::int64_t kToldMs = 2000;  // A call that has run for less needs no word of it.

std::string FirstLineOf(const Raw& content) {
  std::string text;
  if (const Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text))
    text = protocol::PlainText(*blocks);
  return std::string(FirstLine(Trimmed(text)));
}

}  // namespace

std::string SpanText(std::int64_t milliseconds) {
  constexpr std::int64_t kSecond = 1000;
  constexpr std::int64_t kMinute = 60;
  if (milliseconds < kSecond) return fmt::format("{} ms", milliseconds);
  const std::int64_t seconds = milliseconds / kSecond;
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  return fmt::format("{} min {} s", seconds / kMinute, seconds % kMinute);
}

std::string CountText(std::int64_t count) {
  constexpr std::int64_t kThousand = 1000;
  if (count < kThousand) return fmt::format("{}", count);
  return fmt::format("{:.1f}k", static_cast<double>(count) / kThousand);
}

void LiveView::NoteTurn() {
  const client::SceneTurn& turn = scene_.turn();
  if (!turn.running) return turn_.reset();
  if (turn_ == turn.turn_id) return;
  turn_ = turn.turn_id;
  began_ = clock_.Steady();
}

/// Since its beginning, where that is known; else since it was first seen to run. A host's clock
/// may be another one.
std::int64_t LiveView::TurnMs() const {
  const std::int64_t began_at = scene_.turn().began_at;
  const std::int64_t seen =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Steady() - began_).count();
  return began_at == 0 ? seen : std::max(clock_.Now() - began_at, seen);
}

/// What was printed scrolls by and stays: what is replaced is printed once more, whole, and of what
/// is dropped nothing is taken back.
void LiveView::Apply(const client::SceneChanges& changes) {
  using What = client::SceneChange::What;
  for (const client::SceneChange& change : changes) {
    if (change.what == What::kTurn) NoteTurn();
    const client::SceneItem* item = scene_.Find(change.item);
    if (change.item == reply_ && item == nullptr) EndText();
    if (item == nullptr) continue;
    const auto* reply = std::get_if<client::ReplyItem>(&item->what);
    if (change.what == What::kAdded) {
      Show(*item);
    } else if (reply != nullptr && change.what == What::kGrown) {
      ShowReply(*item, *reply, change.from);
    } else if (reply != nullptr && change.what == What::kReplaced) {
      EndText();
      ShowReply(*item, *reply, 0);
    } else if (reply != nullptr && reply->kept && reply_ == item->number) {
      EndText();
    } else if (const auto* call = std::get_if<client::CallItem>(&item->what)) {
      if (call->state == client::CallItem::State::kEnded) PrintCall(*call);
    }
  }
}

void LiveView::Show(const client::SceneItem& item) {
  std::visit([&](const auto& what) { Show(item, what); }, item.what);
}

/// Between things of different kinds there is an empty line.
void LiveView::Open(Section section) {
  EndText();
  if (section_ != section && section_ != Section::kNone) screen_.Print("\n");
  section_ = section;
}

void LiveView::EndText() {
  screen_.Print(markdown_.End());
  screen_.EndLine();
  reply_ = 0;
  thinking_columns_ = 0;
}

void LiveView::Note(std::string_view text, face::Style style) {
  Open(Section::kNote);
  screen_.Print(console_.Styled(style, PrintableText(text)) + "\n");
}

void LiveView::Block(std::string_view text) {
  Open(Section::kNote);
  screen_.Print(text);
}

void LiveView::Show(const client::SceneItem&, const client::PromptItem& prompt) {
  Open(Section::kUser);
  std::string text = PrintableText(protocol::PlainText(prompt.blocks));
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "  ");
  screen_.Print(console_.Styled(face::Style::kGreen, "> ") +
                console_.Styled(face::Style::kBold, text) + "\n");
  for (const protocol::Block& block : prompt.blocks) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
      screen_.Print(fmt::format("  [image {}]\n", PrintableText(image->media_type)));
  }
}

/// Thinking is shown while it comes, not from a message that is history.
void LiveView::Show(const client::SceneItem& item, const client::ReplyItem& reply) {
  if (reply.kept && reply.kind == client::ReplyItem::Kind::kThinking) return;
  ShowReply(item, reply, 0);
  if (reply.kept) EndText();
}

void LiveView::ShowReply(const client::SceneItem& item, const client::ReplyItem& reply,
                         std::size_t from) {
  const bool thinking = reply.kind == client::ReplyItem::Kind::kThinking;
  if (reply_ != item.number) {
    Open(thinking ? Section::kThinking : Section::kText);
    reply_ = item.number;
  }
  const std::string_view more = std::string_view(reply.text).substr(from);
  if (thinking)
    PrintThinking(more);
  else
    screen_.Print(markdown_.Feed(more));
}

/// Its beginning, on as few lines as it takes.
void LiveView::PrintThinking(std::string_view text) {
  if (thinking_columns_ >= kMaxThinkingColumns) return;
  std::string shown;
  for (const char c : PrintableText(text)) shown += c == '\n' || c == '\t' ? ' ' : c;
  if (thinking_columns_ == 0) shown.erase(0, shown.find_first_not_of(' '));
  const std::size_t room = kMaxThinkingColumns - thinking_columns_;
  const std::size_t width = TextWidth(shown);
  thinking_columns_ += std::min(width, room);
  screen_.Print(console_.Styled(face::Style::kDim, FitText(shown, room)));
}

/// A call of history has ended already; a call that is written or waits is printed when it ends.
void LiveView::Show(const client::SceneItem&, const client::CallItem& call) {
  if (call.state == client::CallItem::State::kEnded) PrintCall(call);
}

void LiveView::PrintCall(const client::CallItem& call) {
  Open(Section::kTool);
  const std::string tool = PrintableText(call.tool.empty() ? "tool" : call.tool);
  // What took less than a millisecond took no time.
  const std::int64_t ms = call.duration_ms.value_or(0);
  const std::string took = ms > 0 ? "  " + SpanText(ms) : "";
  const std::size_t used = TextWidth(tool) + took.size() + 5;
  const std::size_t room = screen_.columns() > used ? screen_.columns() - used : 0;
  const std::string summary = FitText(PrintableText(CallSummary(call.tool, call.args)), room);
  screen_.Print(fmt::format("{} {} {}{}\n",
                            console_.Styled(call.is_error ? face::Style::kRed : face::Style::kGreen,
                                            call.is_error ? "✗" : "✓"),
                            console_.Styled(face::Style::kCyan, tool), summary,
                            console_.Styled(face::Style::kDim, took)));
  if (call.is_error) {
    const std::string why = call.result ? FirstLineOf(*call.result) : "it has no result";
    const std::string said =
        FitText(PrintableText(OneLineText(why)), screen_.columns() > 6 ? screen_.columns() - 5 : 1);
    screen_.Print("    " + console_.Styled(face::Style::kRed, said) + "\n");
  } else if (!shown_.contains(call.tool_call_id)) {
    screen_.Print(ChangeText(call.tool, call.args, console_, kMaxChangeLines));
  }
}

std::string LiveView::WaitText(std::string_view who, std::string_view what,
                               protocol::OptionalInt until) const {
  const std::int64_t left = until ? *until - clock_.Now() : 0;
  return fmt::format("waiting for the {}: {}{}", who, what,
                     left > 0 ? "; again in " + SpanText(left) : "");
}

void LiveView::Show(const client::SceneItem&, const client::NoteItem& note) {
  using Kind = client::NoteItem::Kind;
  switch (note.kind) {
    case Kind::kHarness: return Note(OneLineText(note.text));
    case Kind::kNotice:
      return Note(fmt::format("{}: {}", note.by, note.text), face::Style::kYellow);
    case Kind::kWait: return Note(WaitText(note.by, note.text, note.until), face::Style::kYellow);
    case Kind::kCutShort: return Note("(cut short)");
    case Kind::kAgain: return Note("(the reply broke off and is asked for again)");
    case Kind::kTaskEnd: {
      const auto& tasks = scene_.tasks();
      const auto task = std::ranges::find(tasks, note.by, &protocol::TaskRow::task_id);
      const std::string name = task == tasks.end() ? "" : "  " + OneLineText(task->name);
      return Note(fmt::format("task {} {}{}", note.by, note.text, name));
    }
  }
}

void LiveView::Show(const client::SceneItem&, const client::MarkerItem& marker) {
  using Kind = client::MarkerItem::Kind;
  constexpr std::string_view kStays = "the conversation stays: /branch leads back";
  switch (marker.kind) {
    case Kind::kRewind:
      if (marker.value.empty())
        return Note(fmt::format("back before the first message; {}", kStays));
      return Note(fmt::format("back at {}; {}", marker.value, kStays));
    case Kind::kBranch: return Note(fmt::format("now at {}", marker.value));
    case Kind::kCompact:
      return Note(fmt::format("compacted: about {} tokens became {}",
                              CountText(marker.tokens_before), CountText(marker.tokens_after)));
    case Kind::kModel: return Note("model: " + marker.value);
    case Kind::kMode: return Note("mode: " + marker.value);
    case Kind::kEffort: return Note("effort: " + marker.value);
  }
}

/// Why it did not complete, and behind that what it came to.
void LiveView::Show(const client::SceneItem&, const client::TurnItem& turn) {
  shown_.clear();
  EndText();
  if (!turn.error.empty())
    Note(turn.error, face::Style::kRed);
  else if (turn.reason != "completed")
    Note(fmt::format("({})", turn.reason), face::Style::kYellow);
  if (!turn.duration_ms) return;
  Note(fmt::format("{}  {} in, {} out{}{}", SpanText(*turn.duration_ms), CountText(turn.tokens_in),
                   CountText(turn.tokens_out),
                   turn.price > 0 ? "  " + face::MoneyText(turn.price) : "",
                   turn.whole ? "" : "  (of what was heard here)"));
}

std::string LiveView::ActivityText() const {
  using Kind = client::Activity::Kind;
  const client::Activity& activity = scene_.turn().activity;
  switch (activity.kind) {
    case Kind::kModel: return "waiting for the model";
    case Kind::kAnswering: return "answering";
    case Kind::kThinking: return "thinking";
    case Kind::kWritingCall: return "writing a call of " + activity.who;
    case Kind::kTool: {
      const std::int64_t ran = activity.since == 0 ? 0 : clock_.Now() - activity.since;
      return fmt::format("{}{} {}", activity.who, ran < kToldMs ? "" : ", " + SpanText(ran) + ":",
                         CallSummary(activity.who, Raw{activity.detail}));
    }
    case Kind::kWait: break;
  }
  return WaitText(activity.who, activity.detail, activity.until);
}

std::string LiveView::StatusRow() const {
  if (!turn_) return "";
  constexpr std::array<std::string_view, 4> kFrames = {"-", "\\", "|", "/"};
  const std::int64_t elapsed = TurnMs();
  const std::string_view frame = kFrames[static_cast<std::size_t>(elapsed / kSpinnerMs) % 4];
  const client::SceneTurn& turn = scene_.turn();
  const std::int64_t out =
      turn.tokens_out + static_cast<std::int64_t>(turn.streamed_bytes / kBytesPerToken);
  const std::string tail = fmt::format("  {} s  {} in, {} out  Ctrl-C stops", elapsed / 1000,
                                       CountText(turn.tokens_in), CountText(out));
  const std::size_t used = tail.size() + 3;
  const std::size_t room = screen_.columns() > used ? screen_.columns() - used : 0;
  const std::string row = fmt::format(
      "{} {}{}", frame, FitText(PrintableText(OneLineText(ActivityText())), room), tail);
  return console_.Styled(face::Style::kDim, FitText(row, screen_.columns() - 1));
}

}  // namespace stet::tui
