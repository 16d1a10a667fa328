#include "cli/display_view.h"

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/utf8.h"

namespace stet::cli {
namespace {

/// What of a tool's arguments and results a transcript shows; the log has it all.
constexpr std::size_t kShownBytes = 2000;

std::string Shortened(std::string_view text) {
  if (text.size() <= kShownBytes) return PrintableText(text);
  const std::size_t kept = Utf8PrefixLength(text, kShownBytes);
  return fmt::format("{}\n... {} more bytes (`--json` shows all)",
                     PrintableText(text.substr(0, kept)), text.size() - kept);
}

face::Style StyleOf(std::string_view tone) {
  if (tone == "user") return face::Style::kGreen;
  if (tone == "assistant") return face::Style::kBold;
  if (tone == "tool") return face::Style::kCyan;
  if (tone == "problem") return face::Style::kRed;
  return tone == "notice" ? face::Style::kYellow : face::Style::kDim;
}

std::string PartText(const protocol::DisplayPart& part, const face::Console& console) {
  if (part.kind == "text") return PrintableText(part.text) + "\n";
  if (part.kind == "thinking")
    return console.Styled(face::Style::kDim, Shortened(part.text)) + "\n";
  if (part.kind == "call")
    return fmt::format("{} {}\n",
                       console.Styled(face::Style::kCyan, "-> " + PrintableText(part.text)),
                       Shortened(part.detail));
  if (part.kind == "image") return fmt::format("[image {}]\n", PrintableText(part.detail));
  return Shortened(part.text) + "\n";
}

}  // namespace

std::string DisplayText(const protocol::DisplayRow& row, const face::Console& console) {
  if (row.hidden) return "";
  std::string text = fmt::format(
      "{}  {}\n", console.Styled(StyleOf(row.tone), PrintableText(row.title)),
      console.Styled(face::Style::kDim,
                     fmt::format("{}  {}", PrintableText(row.id), face::TimeText(row.ts))));
  for (const protocol::DisplayPart& part : row.parts) text += PartText(part, console);
  return text + "\n";
}

}  // namespace stet::cli
