#include "agent/redactor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace stet::agent {
namespace {

/// A name that has its own secret in it would give it away.
std::string Replacement(const std::string& name, const std::string& value) {
  return name.find(value) == std::string::npos ? fmt::format("[{}]", name) : "[secret]";
}

}  // namespace

Redactor::Redactor(const std::map<std::string, std::string>& secrets) {
  for (const auto& [name, value] : secrets) {
    for (std::string_view line : SplitLines(value)) {
      while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (line.size() < kLeastBytes) continue;
      needles_.push_back({std::string(line), Replacement(name, std::string(line))});
      begins_[static_cast<unsigned char>(line.front())] = true;
    }
  }
  std::ranges::stable_sort(needles_, std::greater(),
                           [](const Needle& needle) { return needle.text.size(); });
}

const Redactor::Needle* Redactor::At(std::string_view text) const {
  if (!begins_[static_cast<unsigned char>(text.front())]) return nullptr;
  const auto found = std::ranges::find_if(
      needles_, [&](const Needle& needle) { return text.starts_with(needle.text); });
  return found == needles_.end() ? nullptr : &*found;
}

std::string Redactor::Clean(std::string text) const {
  if (empty()) return text;
  std::string clean;
  std::size_t kept = 0;  // Up to here `clean` has it.
  for (std::size_t at = 0; at < text.size();) {
    const Needle* needle = At(std::string_view(text).substr(at));
    if (needle == nullptr) {
      ++at;
      continue;
    }
    clean.append(text, kept, at - kept) += needle->name;
    at += needle->text.size();
    kept = at;
  }
  if (kept == 0) return text;
  return clean.append(text, kept);
}

void Redactor::Clean(protocol::Blocks& blocks) const {
  if (empty()) return;
  for (protocol::Block& block : blocks) {
    if (auto* text = std::get_if<protocol::TextBlock>(&block))
      text->text = Clean(std::move(text->text));
  }
}

}  // namespace stet::agent
