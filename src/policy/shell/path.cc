#include "policy/shell/path.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet::policy {

std::string AbsolutePath(std::string_view folder, std::string_view path) {
  std::string joined =
      path.starts_with('/') ? std::string(path) : std::string(folder) + "/" + std::string(path);
  std::string out;
  for (std::size_t at = 0; at < joined.size();) {
    const std::size_t end = std::min(joined.find('/', at), joined.size());
    const std::string_view part = std::string_view(joined).substr(at, end - at);
    if (part == "..") {
      out.erase(std::min(out.rfind('/'), out.size()));
    } else if (!part.empty() && part != ".") {
      out += '/';
      out += part;
    }
    at = end + 1;
  }
  return out.empty() ? "/" : out;
}

bool IsInside(std::string_view path, std::string_view folder) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder == "/" || path[folder.size()] == '/';
}

std::vector<ShellPath> PathsOf(const ShellWord& word, std::span<const std::string> folders,
                               ShellPath::Reach reach) {
  if (!word.any_of.empty()) {
    std::vector<ShellPath> all;
    for (const ShellWord& one : word.any_of) {
      for (ShellPath& path : PathsOf(one, folders, reach)) all.push_back(std::move(path));
    }
    return all;
  }
  const std::string_view fixed = std::string_view(word.text).substr(0, word.fixed);
  // What is not known may go up again from where its beginning leads.
  const bool open = word.kind == ShellWord::Kind::kUnknown;
  if (open || (folders.empty() && !fixed.starts_with('/')) ||
      (word.kind == ShellWord::Kind::kPattern && word.text.contains("..")))
    return {{"", ShellPath::Reach::kAnywhere}};
  std::string_view path = word.text;
  std::string_view name;
  if (word.kind == ShellWord::Kind::kPattern) {
    const std::size_t slash = fixed.rfind('/');
    path = slash == std::string_view::npos ? "." : fixed.substr(0, std::max<std::size_t>(slash, 1));
    name = std::string_view(word.text).substr(slash + 1);
    reach = ShellPath::Reach::kMatches;
  }
  if (path.starts_with('/'))
    return {{AbsolutePath("", path), reach, std::string(name), std::string(path)}};
  std::vector<ShellPath> out;
  for (const std::string& folder : folders)
    out.push_back(
        {AbsolutePath(folder, path), reach, std::string(name), fmt::format("{}/{}", folder, path)});
  return out;
}

bool IsSink(std::string_view path) {
  return path == "/dev/null" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path == "/dev/tty" || path == "/dev/zero" || path.starts_with("/dev/fd/");
}

bool IsTemporary(std::string_view path) {
  return path != "/tmp" && path != "/var/tmp" &&
         (IsInside(path, "/tmp") || IsInside(path, "/var/tmp"));
}

}  // namespace stet::policy
