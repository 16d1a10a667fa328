#include "agent/disk_reach.h"

#include <filesystem>
#include <utility>

#include "base/wildcard.h"
#include "tool/paths.h"

namespace stet::agent {
namespace {

namespace fs = std::filesystem;
using Reach = policy::ShellPath::Reach;

/// Calls `see(entry)` with what is in a folder until it says false; false: it did, or the folder
/// holds more than is left to look at.
template <class See>
bool EachEntry(const std::string& folder, std::size_t& left, const See& see) {
  std::error_code error;
  fs::directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  while (!error && entries != fs::directory_iterator()) {
    if (left == 0) return false;
    --left;
    if (!see(*entries)) return false;
    entries.increment(error);
  }
  return true;
}

bool IsFolder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error) && !error;
}

bool IsLink(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_symlink(error) && !error;
}

}  // namespace

void DiskReach::Resolve(std::vector<policy::ShellPath>& reads, bool deep) {
  std::vector<policy::ShellPath> out;
  for (policy::ShellPath& path : reads) {
    const bool pattern = path.reach == Reach::kMatches && !path.name.empty();
    if (pattern && !deep) {
      ResolvePattern(path, out);
      continue;
    }
    if ((path.reach == Reach::kTree && path.links) || pattern) AddLinks(path, deep, out);
    out.push_back(std::move(path));
  }
  reads = std::move(out);
}

bool DiskReach::HasNoDashes(const std::string& folder) {
  return EachEntry(folder, left_, [](const fs::directory_entry& entry) {
    return !entry.path().filename().string().starts_with('-');
  });
}

void DiskReach::ResolvePattern(const policy::ShellPath& pattern,
                               std::vector<policy::ShellPath>& out) {
  std::vector<Match> matches;
  const bool all = Expand(pattern.path, PatternParts(pattern.name), 0, matches);
  for (const Match& match : matches) AddReal(match.path, match.folder, out);
  // Without a match the shell hands the pattern on as it is.
  if (all && matches.empty())
    AddReal(pattern.path + "/" + pattern.name, false, out);
  else if (!all)
    out.push_back(pattern);
}

bool DiskReach::Expand(const std::string& folder, const std::vector<std::string>& parts,
                       std::size_t at, std::vector<Match>& matches) {
  if (at >= parts.size()) return true;
  const bool last = at + 1 == parts.size();
  const bool hidden = parts[at].starts_with('.') || parts[at].starts_with('[');
  return EachEntry(folder, left_, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with('.') && !hidden) || !MatchPart(parts[at], name)) return true;
    const std::string path = folder == "/" ? "/" + name : folder + "/" + name;
    if (!last) return !IsFolder(entry) || Expand(path, parts, at + 1, matches);
    if (matches.size() >= kMaxMatches) return false;
    matches.push_back({path, IsFolder(entry)});
    return true;
  });
}

void DiskReach::AddLinks(const policy::ShellPath& tree, bool deep,
                         std::vector<policy::ShellPath>& out) {
  std::vector<std::string> folders = {tree.path};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const bool all = EachEntry(folder, left_, [&](const fs::directory_entry& entry) {
      const std::string path = entry.path().string();
      const bool named = !deep || MatchPart(tree.name, entry.path().filename().string());
      if (IsLink(entry)) {
        if (named) AddReal(path, IsFolder(entry), out);
      } else if (IsFolder(entry)) {
        folders.push_back(path);
      } else if (deep && named) {
        AddReal(path, false, out);
      }
      return out.size() < kMaxMatches;
    });
    if (!all) return;
  }
}

void DiskReach::AddReal(const std::string& path, bool folder,
                        std::vector<policy::ShellPath>& out) const {
  const Result<tool::RealPath> real = tool::Resolve(path, workspace_);
  policy::ShellPath read;
  read.path = real ? real->path : path;
  read.reach = !real ? Reach::kAnywhere : folder ? Reach::kTree : Reach::kExact;
  out.push_back(std::move(read));
}

}  // namespace stet::agent
