#include "tui/asked_text.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/text.h"
#include "json/view.h"
#include "tui/live_view/change.h"

namespace stet::tui {
namespace {

constexpr std::size_t kChangeLines = 60;
/// Of a longer command these are shown, at its beginning and its end.
constexpr std::size_t kFirstLines = 40;
constexpr std::size_t kLastLines = 10;

std::string CommandIn(const protocol::PermissionAsk& ask) {
  return JsonView(ask.args.text)["command"].StringOr("");
}

/// `first` and `last` lines; those between are counted.
std::string Lines(std::string_view command, std::size_t first, std::size_t last) {
  const std::vector<std::string_view> lines = SplitLines(command);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == first && lines.size() > first + last) {
      i = lines.size() - last;
      text += fmt::format("  ... {} more lines are not shown here; o shows all ...\n", i - first);
    }
    text += fmt::format("  {}\n", PrintableText(lines[i]));
  }
  return text;
}

}  // namespace

AskedText PermissionText(const protocol::PermissionAsk& ask, const face::Console& console) {
  const std::string command = CommandIn(ask);
  const std::string mark = console.Styled(face::Style::kYellow, "?");
  const std::string tool = console.Styled(face::Style::kBold, PrintableText(ask.tool));
  const auto dim = [&](std::string_view line) {
    return "  " + console.Styled(face::Style::kDim, PrintableText(OneLineText(line))) + "\n";
  };
  AskedText asked;
  if (command.empty()) {
    asked.text = fmt::format("{} {}: {}\n", mark, tool, PrintableText(ask.summary));
  } else if (!command.contains('\n')) {
    asked.text = fmt::format("{} {}: {}\n", mark, tool, PrintableText(command));
  } else {
    asked.folded = SplitLines(command).size() > kFirstLines + kLastLines;
    asked.text = fmt::format("{} {}:\n{}", mark, tool, Lines(command, kFirstLines, kLastLines));
  }
  asked.text += ChangeText(ask.tool, ask.args, console, kChangeLines);
  const std::string claim = JsonView(ask.args.text)["description"].StringOr("");
  if (!command.empty() && !claim.empty()) asked.text += dim("the model says: " + claim);
  if (ask.confined)
    asked.text += dim(*ask.confined ? "it would run in the sandbox"
                                    : "it would run outside of any sandbox, as you");
  if (!ask.reason.empty()) asked.text += dim(ask.reason);
  return asked;
}

std::string WholeCommand(const protocol::PermissionAsk& ask) {
  return Lines(CommandIn(ask), SIZE_MAX / 2, 0);
}

}  // namespace stet::tui
