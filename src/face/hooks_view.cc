#include "face/hooks_view.h"

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::face {

std::string HooksText(const protocol::HookRows& rows) {
  if (rows.empty()) return "no hooks are configured\n";
  std::string text;
  for (const protocol::HookRow& row : rows) {
    const std::string line =
        fmt::format("{:<18} {:<12} {:<8} {}  # {}{}", row.event,
                    row.matcher.empty() ? "*" : row.matcher, row.type, OneLineText(row.what),
                    row.source, row.active ? "" : " (off: the project is not trusted)");
    text += PrintableText(line) + "\n";
  }
  return text;
}

}  // namespace stet::face
