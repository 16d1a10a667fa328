// Several members of an object in one pass over its text, where JsonView would look for each of
// them from the start. For servers' events, which come by the thousand.
//
// Like JsonView, what is missing is an absent view, and the text must outlive the views.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "json/view.h"

namespace stet {

template <std::size_t N>
using MemberNames = std::array<std::string_view, N>;

/// Reads the value at `reader` and gives its members of those names, the first of each. A value
/// that is no object is passed over and has none. Absent when the text is damaged.
template <std::size_t N>
std::optional<std::array<JsonView, N>> ReadMembers(JsonReader& reader,
                                                   const MemberNames<N>& names) {
  std::array<JsonView, N> found;
  if (reader.Peek() != JsonReader::Kind::kObject)
    return reader.Skip() ? std::optional(found) : std::nullopt;
  reader.EnterObject();
  std::string_view key;
  while (reader.NextMember(&key)) {
    const auto place = static_cast<std::size_t>(std::ranges::find(names, key) - names.begin());
    std::string_view raw;
    if (!reader.Skip(&raw)) return std::nullopt;
    if (place < N && !found[place]) found[place] = JsonView(raw);
  }
  return reader.ok() ? std::optional(found) : std::nullopt;
}

/// The same for a text that must be exactly one object. Absent when it is anything else.
template <std::size_t N>
std::optional<std::array<JsonView, N>> MembersOf(std::string_view text,
                                                 const MemberNames<N>& names) {
  JsonReader reader(text);
  if (reader.Peek() != JsonReader::Kind::kObject) return std::nullopt;
  std::optional<std::array<JsonView, N>> found = ReadMembers(reader, names);
  return found && reader.AtEnd() ? found : std::nullopt;
}

}  // namespace stet
