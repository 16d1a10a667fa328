#include "tui/live_view/live_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text_width.h"
#include "tui/live_view/change.h"

namespace stet::tui {
namespace {

constexpr std::size_t kMaxThinkingColumns = 300;
constexpr std::size_t kMaxChangeLines = 40;
constexpr std::size_t kBytesPerToken = 4;
constexpr std::int64_t kSpinnerMs = 200;

std::string FirstLineOf(const Raw& content) {
  std::string text;
  if (const Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text))
    text = protocol::PlainText(*blocks);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
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

void LiveView::Take(const protocol::Event& event) { Apply(scene_.Take(event)); }

void LiveView::Take(const protocol::Transient& transient) {
  const bool begins = std::holds_alternative<protocol::RuntimeStart>(transient.transient);
  const bool ends = std::holds_alternative<protocol::RuntimeEnd>(transient.transient);
  if (begins || ends) running_ = false;
  if (begins) Begin();
  Apply(scene_.Take(transient));
  if (!ends) return;
  EndText();
  shown_.clear();
}

void LiveView::Begin() {
  if (running_) return;
  running_ = true;
  began_ = clock_.Steady();
}

/// What was printed scrolls by and stays: what is replaced is printed once more, whole, and of what
/// is dropped nothing is taken back.
void LiveView::Apply(const client::SceneChanges& changes) {
  using What = client::SceneChange::What;
  for (const client::SceneChange& change : changes) {
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

/// A call of history has ended already; one that is written or waits is printed when it ends.
void LiveView::Show(const client::SceneItem&, const client::CallItem& call) {
  if (call.state == client::CallItem::State::kEnded) PrintCall(call);
}

void LiveView::PrintCall(const client::CallItem& call) {
  Open(Section::kTool);
  const std::string tool = PrintableText(call.tool.empty() ? "tool" : call.tool);
  const std::string took = call.duration_ms ? "  " + SpanText(*call.duration_ms) : "";
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

std::string LiveView::WaitText(const client::NoteItem& note) const {
  const std::int64_t left = note.until ? *note.until - clock_.Now() : 0;
  return fmt::format("waiting for the {}: {}{}", note.by, note.text,
                     left > 0 ? "; again in " + SpanText(left) : "");
}

void LiveView::Show(const client::SceneItem&, const client::NoteItem& note) {
  using Kind = client::NoteItem::Kind;
  switch (note.kind) {
    case Kind::kHarness: return Note(OneLineText(note.text));
    case Kind::kNotice:
      return Note(fmt::format("{}: {}", note.by, note.text), face::Style::kYellow);
    case Kind::kWait: return Note(WaitText(note), face::Style::kYellow);
    case Kind::kCutShort: return Note("(cut short)");
    case Kind::kAgain: return Note("(the reply broke off and is asked for again)");
    case Kind::kTaskEnd: {
      const auto& tasks = scene_.tasks();
      const auto task = std::ranges::find(tasks, note.by, &protocol::TaskRow::task_id);
      const std::string name = task == tasks.end() ? "" : "  " + OneLineText(task->name);
      return Note(fmt::format("task {} {}{}", note.by, note.text, name));
    }
    case Kind::kTurnEnd:
      if (!note.text.empty()) return Note(note.text, face::Style::kRed);
      return Note(fmt::format("({})", note.by), face::Style::kYellow);
  }
}

std::string LiveView::ActivityText() const {
  using Kind = client::Activity::Kind;
  const client::Activity& activity = scene_.turn().activity;
  switch (activity.kind) {
    case Kind::kModel: return "waiting for the model";
    case Kind::kAnswering: return "answering";
    case Kind::kThinking: return "thinking";
    case Kind::kWritingCall: return "writing a call of " + activity.who;
    case Kind::kTool:
      return fmt::format("{} {}", activity.who, CallSummary(activity.who, Raw{activity.detail}));
    case Kind::kWait: break;
  }
  const std::int64_t left = activity.until ? *activity.until - clock_.Now() : 0;
  return fmt::format("waiting for the {}: {}{}", activity.who, activity.detail,
                     left > 0 ? fmt::format(" (again in {})", SpanText(left)) : "");
}

std::string LiveView::StatusRow() const {
  if (!running_) return "";
  constexpr std::array<std::string_view, 4> kFrames = {"-", "\\", "|", "/"};
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Steady() - began_).count();
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
