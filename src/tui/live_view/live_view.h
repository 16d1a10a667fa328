// LiveView: a session's scene as text on a screen: replies as they come, one line per tool, the
// changes to files, waits, what a turn came to, and a status row while one runs. It keeps nothing
// of the session: what it draws is in the scene, which its owner feeds.
//
// Belongs to the face's thread. What others wrote is made safe before it is printed. Nothing here
// fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/scene/scene.h"
#include "face/console.h"
#include "tui/live_view/markdown.h"
#include "tui/screen.h"

namespace stet::tui {

class LiveView {
 public:
  /// All must outlive it.
  LiveView(Screen& screen, const face::Console& console, const Clock& clock,
           const client::Scene& scene)
      : screen_(screen), console_(console), clock_(clock), scene_(scene), markdown_(console) {}

  /// Draws what is another in the scene now.
  void Apply(const client::SceneChanges& changes);

  /// A line of our own between what the session says.
  void Note(std::string_view text, face::Style style = face::Style::kDim);
  /// Lines that are styled already; each ends in "\n".
  void Block(std::string_view text);
  /// The call's change was shown when it was asked about: not again.
  void MarkShown(const std::string& tool_call_id) { shown_.insert(tool_call_id); }

  /// One row while a turn runs: what it does, since when, with how many tokens.
  [[nodiscard]] std::string StatusRow() const;

 private:
  enum class Section { kNone, kUser, kText, kThinking, kTool, kNote };

  void NoteTurn();
  [[nodiscard]] std::int64_t TurnMs() const;
  void Show(const client::SceneItem& item);
  void Show(const client::SceneItem& item, const client::PromptItem& prompt);
  void Show(const client::SceneItem& item, const client::ReplyItem& reply);
  void Show(const client::SceneItem& item, const client::CallItem& call);
  void Show(const client::SceneItem& item, const client::NoteItem& note);
  void Show(const client::SceneItem& item, const client::MarkerItem& marker);
  void Show(const client::SceneItem& item, const client::TurnItem& turn);
  void ShowReply(const client::SceneItem& item, const client::ReplyItem& reply, std::size_t from);
  void PrintThinking(std::string_view text);
  void PrintCall(const client::CallItem& call);
  [[nodiscard]] std::string WaitText(std::string_view who, std::string_view what,
                                     protocol::OptionalInt until) const;
  [[nodiscard]] std::string ActivityText() const;

  void Open(Section section);
  void EndText();

  Screen& screen_;
  const face::Console& console_;
  const Clock& clock_;
  const client::Scene& scene_;
  MarkdownStream markdown_;
  Section section_ = Section::kNone;
  std::uint64_t reply_ = 0;                      // The item whose text is being printed; 0: none.
  std::size_t thinking_columns_ = 0;             // Printed of the thinking under way.
  std::set<std::string> shown_;                  // Calls whose change was shown.
  std::optional<std::string> turn_;              // The one whose time is taken,
  std::chrono::steady_clock::time_point began_;  // from here on.
};

/// "850 ms", "12 s", "3 min 5 s".
std::string SpanText(std::int64_t milliseconds);
/// "850", "12.3k".
std::string CountText(std::int64_t count);

}  // namespace stet::tui
