#include "tui/choice_rows.h"

#include <algorithm>

#include "base/display_width.h"

namespace stet::tui {
namespace {

/// The beginning of `text` that fits, at least a grapheme of it.
std::string_view FittingPart(std::string_view text, std::size_t columns) {
  std::size_t length = FirstGrapheme(text);
  while (length < text.size()) {
    const std::size_t next = length + FirstGrapheme(text.substr(length));
    if (TextWidth(text.substr(0, next)) > columns) break;
    length = next;
  }
  return text.substr(0, length);
}

}  // namespace

std::vector<std::string> ChoiceRows(std::string_view choices, std::size_t columns,
                                    std::size_t max_rows) {
  const std::size_t room = std::max<std::size_t>(columns, 2) - 1;
  std::vector<std::string> rows;
  while (!choices.empty()) {
    const std::size_t end = std::min(choices.find(kBetweenChoices), choices.size());
    std::string_view choice = choices.substr(0, end);
    choices.remove_prefix(std::min(end + kBetweenChoices.size(), choices.size()));
    const std::size_t used = rows.empty() ? room : TextWidth(rows.back()) + kBetweenChoices.size();
    if (used + TextWidth(choice) <= room) {
      rows.back().append(kBetweenChoices).append(choice);
      continue;
    }
    while (!choice.empty()) {
      const std::string_view part = FittingPart(choice, room);
      rows.emplace_back(part);
      choice.remove_prefix(part.size());
    }
  }
  if (rows.size() > max_rows) rows.resize(max_rows);
  return rows;
}

}  // namespace stet::tui
