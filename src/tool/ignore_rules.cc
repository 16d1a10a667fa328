#include "tool/ignore_rules.h"

#include <utility>

#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxIgnoreBytes = std::size_t{1} << 20;

}  // namespace

std::size_t IgnoreRules::Enter(const std::string& folder, std::size_t depth) {
  const std::size_t mark = levels_.size();
  const auto text = ReadRegularFile(folder + "/.gitignore", kMaxIgnoreBytes);
  if (!text) return mark;
  IgnoreFile file(text->bytes);
  if (!file.empty()) levels_.push_back({std::move(file), depth});
  return mark;
}

bool IgnoreRules::Ignores(const std::vector<std::string>& parts, bool is_dir) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    const std::vector<std::string_view> path(
        parts.begin() + static_cast<std::ptrdiff_t>(level->depth), parts.end());
    const IgnoreFile::Verdict verdict = level->file.Judge(path, is_dir);
    if (verdict != IgnoreFile::Verdict::kNothing) return verdict == IgnoreFile::Verdict::kIgnored;
  }
  return false;
}

}  // namespace stet::tool
