#include "face/tasks_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::face {
namespace {

constexpr Millis kMillisPerSecond = 1000;

/// How long it has run, or did.
std::string RanFor(const protocol::TaskRow& row, Millis now) {
  const Millis seconds =
      std::max<Millis>(row.ended_at.value_or(now) - row.started_at, 0) / kMillisPerSecond;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

}  // namespace

std::string HowEnded(const protocol::TaskRow& row) {
  if (row.signal) return fmt::format("signal {}", *row.signal);
  if (row.exit) return fmt::format("exit {}", *row.exit);
  if (row.held_by) return fmt::format("process {}", *row.held_by);
  return "";
}

std::string TaskText(const protocol::TaskRow& row, Millis now) {
  std::string text = fmt::format("{}  {}\n", PrintableText(row.task_id), PrintableText(row.state));
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<9}{}\n", name, PrintableText(value));
  };
  add("kind", row.kind);
  add("name", row.name);
  add("by", row.by.value_or(""));
  add("call", row.tool_call_id.value_or(""));
  add("ran for", RanFor(row, now));
  add("end", HowEnded(row));
  add("output", row.output.value_or(""));
  return text;
}

std::string TasksText(const protocol::TaskRows& rows, std::size_t columns, Millis now) {
  std::string text;
  for (const protocol::TaskRow& row : rows) {
    const std::string line = fmt::format("{:<10} {:<9} {:>8}  {:<14} {}", row.task_id, row.state,
                                         RanFor(row, now), HowEnded(row), OneLineText(row.name));
    text += FitText(PrintableText(line), std::max<std::size_t>(columns, 2) - 1) + "\n";
  }
  return text;
}

}  // namespace stet::face
