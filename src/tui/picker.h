// Picker: a list to choose from: type to filter, arrows to move, Enter to take.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "face/console.h"
#include "protocol/session.h"
#include "tui/line_editor/line_editor.h"
#include "tui/tty.h"

namespace stet::tui {

/// What a list shows and what is chosen in it. Knows nothing of terminals; nothing here fails.
class Picker {
 public:
  enum class Does { kNothing, kChanged, kTaken, kLeft };

  /// One line each, without colours.
  Picker(std::string title, std::vector<std::string> rows);

  Does Press(const Key& key);
  /// The place in the rows that is marked; nothing when no row fits the filter.
  [[nodiscard]] std::optional<std::size_t> marked() const;
  [[nodiscard]] EditorRows Rows(std::size_t columns, std::size_t rows) const;

 private:
  void Filter();
  bool Move(bool up);

  std::string title_;
  std::vector<std::string> rows_;
  LineEditor filter_;
  std::vector<std::size_t> fitting_;  // Places in rows_.
  std::size_t mark_ = 0;              // A place in fitting_.
};

/// Lets the user pick one of the sessions, newest first; nothing when none is picked.
std::optional<std::string> PickSession(const std::vector<protocol::SessionSummary>& sessions,
                                       Tty& tty);

}  // namespace stet::tui
