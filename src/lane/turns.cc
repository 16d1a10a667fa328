#include "lane/turns.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/utf8.h"
#include "context/conversation.h"
#include "log/tree.h"

namespace stet::lane {
namespace {

constexpr std::size_t kWordsColumns = 60;
constexpr std::size_t kWordsBytes = 1000;  // Of which the words are taken.

/// What is snipped where the leaf is, as it was said.
Result<std::vector<protocol::Snip>> SnipsOn(const log::Log& log) {
  std::vector<protocol::Snip> snips;
  const log::Index& index = log.index();
  for (const log::Ordinal at : log::ControlsOn(index, index.leaf())) {
    if (index.entries()[at].type != protocol::kTypeNumber<protocol::Snip>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    const auto* snip = std::get_if<protocol::Snip>(&event.payload);
    if (snip == nullptr) continue;
    std::erase_if(snips, [&](const protocol::Snip& one) {
      return one.from == snip->from && one.through == snip->through;
    });
    if (!snip->undo.value_or(false)) snips.push_back(*snip);
  }
  return snips;
}

Result<protocol::TurnRow> RowOf(const log::Log& log, log::Ordinal message) {
  protocol::TurnRow row;
  ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(message));
  row.id = event.id;
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    const std::string text = protocol::PlainText(user->message.blocks);
    row.words =
        FitText(OneLineText(std::string_view(text).substr(0, Utf8PrefixLength(text, kWordsBytes))),
                kWordsColumns);
  }
  return row;
}

std::optional<std::size_t> NumberIn(const std::string& text) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

Result<protocol::TurnRows> ReadTurns(const log::Log& log) {
  context::Conversation view;
  RETURN_IF_ERROR(view.Update(log));
  ASSIGN_OR_RETURN(const std::vector<protocol::Snip> snips, SnipsOn(log));
  protocol::TurnRows rows;
  log::Ordinal through = log::kNone;
  for (const context::Part& part : view.parts()) {
    if (part.type == protocol::kTypeNumber<protocol::UserMessage>) {
      if (!rows.empty()) {
        ASSIGN_OR_RETURN(rows.back().through, log.IdOf(through));
      }
      ASSIGN_OR_RETURN(rows.emplace_back(), RowOf(log, part.event));
    }
    through = part.event;
    if (!rows.empty()) rows.back().bytes += part.bytes;
  }
  if (rows.empty()) return rows;
  rows.back().newest = true;
  ASSIGN_OR_RETURN(rows.back().through, log.IdOf(through));
  for (protocol::TurnRow& row : rows) {
    const auto snip = std::ranges::find(snips, row.id, &protocol::Snip::from);
    row.snipped = snip != snips.end();
    if (row.snipped) row.through = snip->through;
  }
  std::ranges::reverse(rows);
  return rows;
}

Result<std::size_t> FindNamed(const std::vector<std::string>& names, const std::string& typed,
                              std::string_view noun) {
  const auto whole = std::ranges::find(names, typed);
  if (whole != names.end()) return static_cast<std::size_t>(whole - names.begin());
  const auto begins = [&](const std::string& name) { return name.starts_with(typed); };
  const auto count = typed.empty() ? 0 : std::ranges::count_if(names, begins);
  if (count > 1)
    return Fail(Code::kConflict, fmt::format("{} {}s begin with {}", count, noun, typed));
  if (count == 0) return Fail(Code::kNotFound, fmt::format("there is no {} {}", noun, typed));
  return static_cast<std::size_t>(std::ranges::find_if(names, begins) - names.begin());
}

Result<protocol::TurnRow> FindTurn(const log::Log& log, const protocol::TurnRows& rows,
                                   const std::string& typed, bool runs) {
  const std::size_t first = runs ? 1 : 0;
  if (const std::optional<std::size_t> number =
          typed == "last" ? std::optional<std::size_t>(1) : NumberIn(typed)) {
    if (*number < 1 || *number > rows.size() - std::min(first, rows.size()))
      return Fail(Code::kNotFound, fmt::format("there is no turn {} here", typed));
    return rows[first + *number - 1];
  }
  std::vector<std::string> ids;
  for (const protocol::TurnRow& row : rows) ids.push_back(row.id);
  const Result<std::size_t> found = FindNamed(ids, typed, "turn");
  if (found) return rows[*found];
  if (log.Find(typed))
    return Fail(Code::kNotFound,
                fmt::format("{} begins no turn that the model is shown: it is another event, was "
                            "compacted, or stands on another branch",
                            typed));
  return std::unexpected(found.error());
}

}  // namespace stet::lane
