#include "cli/transcript.h"

#include <fmt/format.h>

#include "base/text_width.h"
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

Style StyleOf(std::string_view tone) {
  if (tone == "user") return Style::kGreen;
  if (tone == "assistant") return Style::kBold;
  if (tone == "tool") return Style::kCyan;
  if (tone == "problem") return Style::kRed;
  return tone == "notice" ? Style::kYellow : Style::kDim;
}

std::string PartText(const protocol::DisplayPart& part, const Terminal& terminal) {
  if (part.kind == "text") return PrintableText(part.text) + "\n";
  if (part.kind == "thinking") return terminal.Styled(Style::kDim, Shortened(part.text)) + "\n";
  if (part.kind == "call")
    return fmt::format("{} {}\n", terminal.Styled(Style::kCyan, "-> " + PrintableText(part.text)),
                       Shortened(part.detail));
  if (part.kind == "image") return fmt::format("[image {}]\n", PrintableText(part.detail));
  return Shortened(part.text) + "\n";
}

}  // namespace

std::string TranscriptText(const protocol::DisplayRow& row, const Terminal& terminal) {
  if (row.hidden) return "";
  std::string text =
      fmt::format("{}  {}\n", terminal.Styled(StyleOf(row.tone), PrintableText(row.title)),
                  terminal.Styled(Style::kDim, fmt::format("{}  {}", row.id, TimeText(row.ts))));
  for (const protocol::DisplayPart& part : row.parts) text += PartText(part, terminal);
  return text + "\n";
}

}  // namespace stet::cli
