// LiveView: what a session tells, as text on a screen: replies as they come, one line per tool, the
// changes to files, waits, and a status row while a turn runs.
//
// Belongs to the face's thread. What others wrote is made safe before it is printed. Nothing here
// fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/interactive_screen.h"
#include "cli/live_view_markdown.h"
#include "cli/terminal.h"
#include "client/inbox.h"

namespace stet::cli {

class LiveView {
 public:
  /// All must outlive it.
  LiveView(Screen& screen, const Terminal& terminal, const Clock& clock)
      : screen_(screen), terminal_(terminal), clock_(clock), markdown_(terminal) {}

  void Take(const protocol::Event& event);
  void Take(const protocol::Transient& transient);

  /// A line of our own between what the session says.
  void Note(std::string_view text, Style style = Style::kDim);
  /// Lines that are styled already; each ends in "\n".
  void Block(std::string_view text);
  /// The call's change was shown when it was asked about: not again.
  void MarkShown(const std::string& tool_call_id) { shown_.insert(tool_call_id); }

  [[nodiscard]] bool running() const { return running_; }
  /// A turn begins, as far as we know; its own news may come later.
  void Begin();
  /// One row while a turn runs: what it does, since when, with how many tokens.
  [[nodiscard]] std::string StatusRow() const;

 private:
  enum class Section { kNone, kUser, kText, kThinking, kTool, kNote };

  struct ToolCall {
    std::string tool;
    Raw args;
    bool started = false;
    bool is_error = false;
    bool printed = false;
    std::string said;  // The first line of its result.
  };

  void Open(Section section);
  void EndText();
  void PrintThinking(std::string_view text);
  void PrintUser(const protocol::UserMessage& message);
  void PrintTool(const std::string& id, ToolCall& call, std::optional<std::int64_t> duration_ms);

  void On(const protocol::UserMessage& message) { PrintUser(message); }
  void On(const std::string& event_id, const protocol::AssistantMessage& message);
  void On(const protocol::ToolResult& result);
  void On(const protocol::HarnessItem& item);

  void On(const protocol::MessageStart& start);
  void On(const protocol::TextDelta& delta);
  void On(const protocol::ThinkingDelta& delta);
  void On(const protocol::ToolCallDelta& delta);
  void On(const protocol::ToolExecutionStart& start);
  void On(const protocol::ToolExecutionUpdate& update);
  void On(const protocol::ToolExecutionEnd& end);
  void On(const protocol::MessageCancelled& cancelled);
  void On(const protocol::TurnStart& start);
  void On(const protocol::TurnEnd& end);
  void On(const protocol::RuntimeStart& start);
  void On(const protocol::RuntimeEnd& end);
  void On(const protocol::Wait& wait);
  void On(const protocol::Notice& notice);
  void On(const protocol::BlockEnd&) {}
  void On(const Raw&) {}  // Of a newer version.

  Screen& screen_;
  const Terminal& terminal_;
  const Clock& clock_;
  MarkdownStream markdown_;
  Section section_ = Section::kNone;
  std::string streamed_;  // The message whose text was printed as it came.
  std::int64_t text_block_ = -1;
  std::size_t thinking_columns_ = 0;       // Printed of the thinking under way.
  std::map<std::string, ToolCall> calls_;  // Of this turn, by id.
  std::set<std::string> shown_;

  bool running_ = false;
  std::chrono::steady_clock::time_point began_;
  std::string activity_;
  std::optional<std::int64_t> wait_until_;  // Unix milliseconds.
  std::int64_t tokens_in_ = 0;
  std::int64_t tokens_out_ = 0;
  std::size_t streamed_bytes_ = 0;  // Of the step under way.
};

/// "850 ms", "12 s", "3 min 5 s".
std::string SpanText(std::int64_t milliseconds);
/// "850", "12.3k".
std::string CountText(std::int64_t count);

}  // namespace stet::cli
