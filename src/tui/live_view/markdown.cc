#include "tui/live_view/markdown.h"

#include "base/display_width.h"
#include "base/utf8.h"

namespace stet::tui {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::size_t kMaxIndent = 12;

std::string_view WithoutIndent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

bool IsHeading(std::string_view line) {
  constexpr std::size_t kDeepest = 6;
  const std::size_t marks = line.find_first_not_of('#');
  return marks != std::string_view::npos && marks > 0 && marks <= kDeepest && line[marks] == ' ';
}

/// Without carriage returns, and with other controls made visible.
std::string Shown(std::string_view text) {
  std::string lines;
  for (const char c : text)
    if (c != '\r') lines += c;
  return PrintableText(lines);
}

}  // namespace

std::string MarkdownStream::Feed(std::string_view text) {
  held_ += text;
  // A character may have come in part.
  constexpr std::size_t kMaxPart = 3;
  std::size_t whole = held_.size();
  for (std::size_t part = 1; part <= kMaxPart && part <= held_.size(); ++part) {
    const auto byte = static_cast<unsigned char>(held_[held_.size() - part]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const std::size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (size > part) whole = held_.size() - part;
    break;
  }
  const std::string rest = held_.substr(whole);
  const std::string ready = ReplaceInvalidUtf8(std::string_view(held_).substr(0, whole));
  held_.clear();
  std::string out = Lines(ready, false);
  held_ += rest;
  return out;
}

std::string MarkdownStream::End() {
  const std::string rest = ReplaceInvalidUtf8(held_);
  held_.clear();
  std::string out = Lines(rest, true);
  in_line_ = in_code_ = fence_ = false;
  style_ = face::Style::kPlain;
  return out;
}

/// Whether the line may still become a heading or a fence.
bool MarkdownStream::Undecided(std::string_view line) const {
  const std::string_view inner = WithoutIndent(line);
  if (inner.empty()) return line.size() <= kMaxIndent;
  if (inner.size() < kFence.size() && kFence.starts_with(inner)) return true;
  return !in_code_ && line.find_first_not_of('#') == std::string_view::npos && line.size() <= 6;
}

void MarkdownStream::Begin(std::string_view line) {
  in_line_ = true;
  fence_ = WithoutIndent(line).starts_with(kFence);
  if (fence_)
    style_ = face::Style::kDim;
  else if (in_code_)
    style_ = face::Style::kCyan;
  else
    style_ = IsHeading(line) ? face::Style::kBold : face::Style::kPlain;
}

std::string MarkdownStream::Lines(std::string_view text, bool last) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    if (!in_line_) {
      if (!whole && !last && Undecided(line)) {
        held_ = line;
        return out;
      }
      Begin(line);
    }
    if (!line.empty()) out += console_.Styled(style_, Shown(line));
    if (!whole) return out;
    out += '\n';
    if (fence_) in_code_ = !in_code_;
    in_line_ = fence_ = false;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace stet::tui
