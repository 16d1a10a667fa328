#include "agent/redactor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace stet::agent {

Redactor::Redactor(const std::map<std::string, std::string>& secrets) {
  for (const auto& [name, value] : secrets) {
    for (std::string_view line : SplitLines(value)) {
      while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (line.size() >= kLeastBytes) needles_.push_back({std::string(line), name});
    }
  }
  std::ranges::stable_sort(needles_, std::greater(),
                           [](const Needle& needle) { return needle.text.size(); });
}

std::string Redactor::Clean(std::string text) const {
  for (const Needle& needle : needles_) {
    const std::string name = fmt::format("[vault:{}]", needle.name);
    for (std::size_t at = text.find(needle.text); at != std::string::npos;
         at = text.find(needle.text, at + name.size()))
      text.replace(at, needle.text.size(), name);
  }
  return text;
}

void Redactor::Clean(protocol::Blocks& blocks) const {
  if (empty()) return;
  for (protocol::Block& block : blocks) {
    if (auto* text = std::get_if<protocol::TextBlock>(&block))
      text->text = Clean(std::move(text->text));
  }
}

}  // namespace stet::agent
