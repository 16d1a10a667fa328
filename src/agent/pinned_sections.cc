#include "agent/pinned_sections.h"

#include <algorithm>
#include <optional>
#include <string>

#include "agent/pins.h"
#include "json/view.h"
#include "protocol/ids.h"

namespace stet::agent {
namespace {

constexpr std::string_view kMark = "[pinned]";
constexpr std::size_t kMaxLevel = 6;

struct Heading {
  std::size_t level = 0;
  bool pinned = false;
};

std::string_view Indented(std::string_view line) {
  constexpr std::size_t kMaxIndent = 3;  // More make a line of code.
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return begin > kMaxIndent ? "" : line.substr(begin);
}

std::optional<Heading> HeadingOf(std::string_view line) {
  line = Indented(line);
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > kMaxLevel || level == line.size() || line[level] != ' ')
    return std::nullopt;
  const std::size_t last = line.find_last_not_of(" \t\r#");
  line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return Heading{.level = level, .pinned = line.ends_with(kMark)};
}

/// Whether lines stand in fenced code.
class Fence {
 public:
  /// True while `line` is part of it, its own marks among them.
  bool Takes(std::string_view line) {
    line = Indented(line);
    const std::string_view mark = line.substr(0, 3);
    if (mark != "```" && mark != "~~~") return open_ != 0;
    if (open_ == 0)
      open_ = mark.front();
    else if (open_ == mark.front())
      open_ = 0;
    return true;
  }

 private:
  char open_ = 0;
};

}  // namespace

std::vector<std::string_view> PinnedSections(std::string_view markdown) {
  std::vector<std::string_view> sections;
  std::size_t begin = 0;
  std::size_t level = 0;  // Of the section that is open; 0: none.
  Fence fence;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
    const std::string_view line = markdown.substr(at, end - at);
    const std::optional<Heading> heading = fence.Takes(line) ? std::nullopt : HeadingOf(line);
    if (heading && level != 0 && heading->level <= level) {
      sections.push_back(markdown.substr(begin, at - begin));
      level = 0;
    }
    if (heading && heading->pinned && level == 0) {
      begin = at;
      level = heading->level;
    }
    at = end + 1;
  }
  if (level != 0) sections.push_back(markdown.substr(begin));
  return sections;
}

std::vector<protocol::Pin> PinsIn(const protocol::InstructionSnapshot& snapshot, Random& random) {
  std::vector<protocol::Pin> pins;
  std::size_t bytes = 0;
  for (const protocol::Section& section : snapshot.snapshot.sections) {
    if (section.kind != "agents" || !section.sources) continue;
    JsonView(section.sources->text).ForEach([&](JsonView source) {
      const std::string content = source["content"].StringOr("");
      for (const std::string_view text : PinnedSections(content)) {
        if (text.size() > kMaxPinBytes || bytes + text.size() > kMaxPinsBytes) continue;
        bytes += text.size();
        protocol::Pin& pin = pins.emplace_back();
        pin.pin_id = protocol::NewPinId(random);
        pin.text = std::string(text);
        pin.source = "agents_md:" + source["path"].StringOr("");
      }
    });
  }
  return pins;
}

}  // namespace stet::agent
