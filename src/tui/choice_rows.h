// The choices of a question, in as many rows as they need. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stet::tui {

/// What stands between two choices.
inline constexpr std::string_view kBetweenChoices = "   ";

/// `choices` in rows narrower than `columns`: broken between two choices, and inside of one only
/// where it is wider than a row. Rows beyond `max_rows` are left out.
std::vector<std::string> ChoiceRows(std::string_view choices, std::size_t columns,
                                    std::size_t max_rows);

}  // namespace stet::tui
