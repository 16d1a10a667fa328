#include "cli/live_view.h"

#include <array>

#include <fmt/format.h>

#include "base/text_width.h"
#include "cli/live_view_change.h"

namespace stet::cli {
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

void LiveView::Take(const protocol::Event& event) {
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload))
    On(*user);
  else if (const auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload))
    On(event.id, *assistant);
  else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload))
    On(*result);
  else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload))
    On(*item);
}

void LiveView::Take(const protocol::Transient& transient) {
  std::visit([this](const auto& one) { On(one); }, transient.transient);
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
  text_block_ = -1;
  thinking_columns_ = 0;
}

void LiveView::Note(std::string_view text, Style style) {
  Open(Section::kNote);
  screen_.Print(terminal_.Styled(style, PrintableText(text)) + "\n");
}

void LiveView::Block(std::string_view text) {
  Open(Section::kNote);
  screen_.Print(text);
}

void LiveView::PrintUser(const protocol::UserMessage& message) {
  Open(Section::kUser);
  std::string text = PrintableText(protocol::PlainText(message.message.blocks));
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "  ");
  screen_.Print(terminal_.Styled(Style::kGreen, "> ") + terminal_.Styled(Style::kBold, text) +
                "\n");
  for (const protocol::Block& block : message.message.blocks) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
      screen_.Print(fmt::format("  [image {}]\n", PrintableText(image->media_type)));
  }
}

void LiveView::On(const std::string& event_id, const protocol::AssistantMessage& message) {
  const bool streamed = std::exchange(streamed_, "") == event_id;
  EndText();
  for (const protocol::Block& block : message.message.blocks) {
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
      ToolCall& known = calls_[call->tool_call_id];
      known.tool = call->tool_name;
      known.args = call->args;
    } else if (const auto* text = std::get_if<protocol::TextBlock>(&block); text && !streamed) {
      Open(Section::kText);
      screen_.Print(markdown_.Feed(text->text));
      EndText();
    }
  }
  if (message.partial.value_or(false)) Note("(cut short)");
}

void LiveView::On(const protocol::ToolResult& result) {
  ToolCall& call = calls_[result.tool_call_id];
  call.is_error = result.is_error;
  call.said = FirstLineOf(result.content);
  // What was refused never began; its end is not told apart.
  if (!call.started) PrintTool(result.tool_call_id, call, std::nullopt);
}

void LiveView::On(const protocol::HarnessItem& item) {
  if (item.item.visibility == "hidden") return;
  Note(OneLineText(item.item.content));
}

void LiveView::On(const protocol::MessageStart& start) {
  streamed_ = start.event_id;
  activity_ = "answering";
  wait_until_.reset();
}

void LiveView::On(const protocol::TextDelta& delta) {
  if (delta.block_index != text_block_ || section_ != Section::kText) {
    Open(Section::kText);
    text_block_ = delta.block_index;
  }
  activity_ = "answering";
  streamed_ = delta.event_id;
  streamed_bytes_ += delta.delta.size();
  screen_.Print(markdown_.Feed(delta.delta));
}

void LiveView::On(const protocol::ThinkingDelta& delta) {
  if (section_ != Section::kThinking) Open(Section::kThinking);
  activity_ = "thinking";
  streamed_bytes_ += delta.delta.size();
  PrintThinking(delta.delta);
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
  screen_.Print(terminal_.Styled(Style::kDim, FitText(shown, room)));
}

void LiveView::On(const protocol::ToolCallDelta& delta) {
  if (delta.tool_name) activity_ = fmt::format("writing a call of {}", *delta.tool_name);
  streamed_bytes_ += delta.delta.size();
}

void LiveView::On(const protocol::ToolExecutionStart& start) {
  ToolCall& call = calls_[start.tool_call_id];
  call.tool = start.tool_name;
  call.args = start.args;
  call.started = true;
  activity_ = fmt::format("{} {}", start.tool_name, CallSummary(start.tool_name, start.args));
}

void LiveView::On(const protocol::ToolExecutionUpdate&) {}

void LiveView::On(const protocol::ToolExecutionEnd& end) {
  ToolCall& call = calls_[end.tool_call_id];
  call.is_error = end.is_error;
  if (!call.printed) PrintTool(end.tool_call_id, call, end.duration_ms);
  activity_ = "waiting for the model";
}

void LiveView::PrintTool(const std::string& id, ToolCall& call,
                         std::optional<std::int64_t> duration_ms) {
  Open(Section::kTool);
  call.printed = true;
  const std::string tool = PrintableText(call.tool.empty() ? "tool" : call.tool);
  const std::string took = duration_ms ? "  " + SpanText(*duration_ms) : "";
  const std::size_t used = TextWidth(tool) + took.size() + 5;
  const std::size_t room = screen_.columns() > used ? screen_.columns() - used : 0;
  const std::string summary = FitText(PrintableText(CallSummary(call.tool, call.args)), room);
  screen_.Print(fmt::format(
      "{} {} {}{}\n",
      terminal_.Styled(call.is_error ? Style::kRed : Style::kGreen, call.is_error ? "✗" : "✓"),
      terminal_.Styled(Style::kCyan, tool), summary, terminal_.Styled(Style::kDim, took)));
  if (call.is_error) {
    const std::string said = FitText(PrintableText(OneLineText(call.said)),
                                     screen_.columns() > 6 ? screen_.columns() - 5 : 1);
    screen_.Print("    " + terminal_.Styled(Style::kRed, said) + "\n");
  } else if (!shown_.contains(id)) {
    screen_.Print(ChangeText(call.tool, call.args, terminal_, kMaxChangeLines));
  }
}

void LiveView::On(const protocol::MessageCancelled& cancelled) {
  EndText();
  if (cancelled.reason == "tried again") Note("(the reply broke off and is asked for again)");
  streamed_.clear();
}

void LiveView::On(const protocol::TurnStart&) {
  activity_ = "waiting for the model";
  streamed_bytes_ = 0;
}

void LiveView::On(const protocol::TurnEnd& end) {
  streamed_bytes_ = 0;
  wait_until_.reset();
  if (!end.usage) return;
  tokens_in_ +=
      end.usage->input + end.usage->cache_read.value_or(0) + end.usage->cache_write.value_or(0);
  tokens_out_ += end.usage->output;
}

void LiveView::Begin() {
  if (running_) return;
  running_ = true;
  began_ = clock_.Steady();
  activity_ = "waiting for the model";
  tokens_in_ = tokens_out_ = 0;
  streamed_bytes_ = 0;
}

void LiveView::On(const protocol::RuntimeStart&) {
  running_ = false;
  Begin();
}

void LiveView::On(const protocol::RuntimeEnd& end) {
  running_ = false;
  EndText();
  calls_.clear();
  shown_.clear();
  if (end.reason == "completed") return;
  if (end.error)
    Note(*end.error, Style::kRed);
  else
    Note(fmt::format("({})", end.reason), Style::kYellow);
}

void LiveView::On(const protocol::Wait& wait) {
  activity_ = fmt::format("waiting for the {}: {}", wait.who, wait.what);
  wait_until_ = wait.until;
  const std::int64_t left = wait.until ? *wait.until - clock_.Now() : 0;
  Note(left > 0 ? fmt::format("{}; again in {}", activity_, SpanText(left)) : activity_,
       Style::kYellow);
}

void LiveView::On(const protocol::Notice& notice) {
  Note(fmt::format("{}: {}", notice.by, notice.text), Style::kYellow);
}

std::string LiveView::StatusRow() const {
  if (!running_) return "";
  constexpr std::array<std::string_view, 4> kFrames = {"-", "\\", "|", "/"};
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Steady() - began_).count();
  const std::string_view frame = kFrames[static_cast<std::size_t>(elapsed / kSpinnerMs) % 4];
  std::string activity = OneLineText(activity_);
  if (wait_until_ && *wait_until_ > clock_.Now())
    activity += fmt::format(" (again in {})", SpanText(*wait_until_ - clock_.Now()));
  const std::int64_t out =
      tokens_out_ + static_cast<std::int64_t>(streamed_bytes_ / kBytesPerToken);
  const std::string tail = fmt::format("  {} s  {} in, {} out  Ctrl-C stops", elapsed / 1000,
                                       CountText(tokens_in_), CountText(out));
  const std::size_t used = tail.size() + 3;
  const std::size_t room = screen_.columns() > used ? screen_.columns() - used : 0;
  const std::string row =
      fmt::format("{} {}{}", frame, FitText(PrintableText(activity), room), tail);
  return terminal_.Styled(Style::kDim, FitText(row, screen_.columns() - 1));
}

}  // namespace stet::cli
