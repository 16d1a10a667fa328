// Retelling: a stretch of the conversation as one text, for a model that is to summarise it; and
// what can be said of it without a model at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "context/conversation.h"
#include "log/log.h"

namespace stet::context {

/// Which parts of a view are told.
struct Stretch {
  std::size_t first = 0;
  std::size_t count = 0;               // Up to here, from the beginning of the view.
  std::optional<std::string> earlier;  // What is known of what stands before; absent: what the
                                       // view's barrier says.
};

/// A stretch of the active view, read once.
class Retelling {
 public:
  static Result<Retelling> Read(const log::Log& log, const Conversation& view,
                                const Stretch& stretch);

  /// The stretch within about `max_bytes`: the oldest results give way first, then the older half,
  /// again and again.
  [[nodiscard]] std::string Text(std::size_t max_bytes) const;

  /// What is certain: what was asked, which files and commands there were, what is to be done, what
  /// was said last. At most about `max_bytes`.
  [[nodiscard]] std::string Facts(std::size_t max_bytes) const;

  /// The message at `part`, a user's, word for word; cut behind `max_bytes`.
  [[nodiscard]] std::string Quote(std::size_t part, std::size_t max_bytes) const;

  /// What is known of what stands before the stretch; may be empty.
  [[nodiscard]] const std::string& earlier() const { return earlier_; }
  /// The arguments of the last TodoWrite; empty without one, and when it stands in what is kept.
  [[nodiscard]] const std::string& todo() const { return todo_; }
  /// The last plan that was put forward; empty without one, and when it stands in what is kept.
  [[nodiscard]] const std::string& plan() const { return plan_; }

 private:
  enum class Kind : std::uint8_t { kUser, kAssistant, kCall, kResult, kOther };
  struct Row {
    Kind kind;
    std::size_t part;
    std::string text;
  };
  struct Command {
    std::string tool_call_id;
    std::string text;
    bool failed = false;
  };

  void Fold(const protocol::Event& event, std::size_t part);
  void TakeCall(const protocol::ToolCallBlock& call, std::size_t part);

  std::string earlier_;
  std::string todo_;
  std::string plan_;
  std::vector<Row> rows_;
  std::vector<std::string> changed_;  // Files, in the order they were changed last.
  std::vector<std::string> read_;
  std::vector<Command> commands_;
};

}  // namespace stet::context
