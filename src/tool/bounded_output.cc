#include "tool/bounded_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace stet::tool {

namespace {

/// The end of a command's output says more often how it went than its beginning.
constexpr std::size_t kHeadShare = 3;

/// How far from the cut a line end is looked for.
constexpr std::size_t kLineReach = 200;

std::size_t HeadEnd(std::string_view text, std::size_t max_bytes) {
  const std::size_t end = Utf8PrefixLength(text, max_bytes);
  const std::size_t line = text.substr(0, end).rfind('\n');
  return line != std::string_view::npos && end - line <= kLineReach ? line + 1 : end;
}

std::size_t TailStart(std::string_view text, std::size_t max_bytes) {
  std::size_t start = text.size() - max_bytes;
  const std::size_t line = text.find('\n', start);
  if (line != std::string_view::npos && line - start <= kLineReach) return line + 1;
  for (int step = 0; step < 3 && start < text.size(); ++step, ++start)
    if ((static_cast<unsigned char>(text[start]) & 0xC0) != 0x80) break;
  return start;
}

}  // namespace

std::string HeadAndTail(std::string_view text, std::size_t max_bytes, std::string_view note) {
  if (text.size() <= max_bytes) return std::string(text);
  const std::size_t head = HeadEnd(text, max_bytes / kHeadShare);
  const std::size_t tail = TailStart(text, max_bytes - max_bytes / kHeadShare);
  std::string shown(text.substr(0, head));
  if (!shown.empty() && !shown.ends_with('\n')) shown += '\n';
  shown +=
      fmt::format("[... {} of {} bytes are left out here. {}]\n", tail - head, text.size(), note);
  return shown.append(text.substr(tail));
}

std::string TailText(std::string_view bytes, std::size_t max_bytes) {
  if (bytes.size() > max_bytes) {
    bytes.remove_prefix(bytes.size() - max_bytes);
    const std::size_t line = bytes.find('\n');
    if (line != std::string_view::npos && line + 1 < bytes.size()) bytes.remove_prefix(line + 1);
  }
  return ReplaceInvalidUtf8(bytes);
}

}  // namespace stet::tool
