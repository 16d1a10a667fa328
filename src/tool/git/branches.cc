#include "tool/git/branches.h"

#include <filesystem>
#include <string_view>

#include "base/fs.h"
#include "base/text.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxPackedRefs = std::size_t{16} << 20;
constexpr std::size_t kMaxBranchLink = 4096;

std::string NamedIn(const std::string& file, std::string_view lead, const std::string& base) {
  const std::string text = ReadFile(file, kMaxBranchLink).value_or("");
  if (!text.starts_with(lead)) return "";
  const std::string path = text.substr(lead.size(), text.find('\n') - lead.size());
  std::error_code error;
  const auto real = std::filesystem::canonical(std::filesystem::path(base) / path, error);
  return error ? "" : real.string();
}

/// Where the branches of the repository are that git would use in a folder; empty: there is none.
std::string FindShared(const std::string& folder) {
  for (std::string at = folder;; at = ParentDir(at)) {
    std::string git = (at == "/" ? "" : at) + "/.git";
    if (const Result<FileStat> stat = StatFile(git)) {
      if (!stat->is_dir) git = NamedIn(git, "gitdir: ", at);
      const std::string common = NamedIn(git + "/commondir", "", git);
      return common.empty() ? git : common;
    }
    if (at.size() <= 1) return "";
  }
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && !name.starts_with('/') && !name.starts_with('-') && !name.contains("..");
}

/// `origin/topic` of the part behind refs/remotes/, for the name `topic`.
bool IsOfAnyRemote(std::string_view ref, std::string_view name) {
  return ref.size() > name.size() + 1 && ref.ends_with(name) &&
         ref[ref.size() - name.size() - 1] == '/';
}

}  // namespace

bool IsOthersBranch(const std::string& folder, const std::string& name) {
  const std::string git = FindShared(folder);
  if (git.empty() || !IsPlainName(name)) return false;
  if (Exists(git + "/reftable")) return true;
  if (Exists(git + "/refs/remotes/" + name)) return true;
  constexpr std::string_view kRemotes = "refs/remotes/";
  bool here = Exists(git + "/refs/heads/" + name);
  bool elsewhere = false;
  const Result<std::vector<DirEntry>> remotes = ListDir(git + "/refs/remotes");
  for (const DirEntry& remote : remotes.value_or(std::vector<DirEntry>()))
    elsewhere = elsewhere || Exists(git + "/refs/remotes/" + remote.name + "/" + name);
  const Result<FileBytes> packed = ReadRegularFile(git + "/packed-refs", kMaxPackedRefs);
  if (!packed) return Exists(git + "/packed-refs") || (elsewhere && !here);
  for (std::string_view rest = packed->bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view ref = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ref.remove_prefix(std::min(ref.find(' ') + 1, ref.size()));
    if (ref == "refs/heads/" + name) here = true;
    if (!ref.starts_with(kRemotes)) continue;
    ref.remove_prefix(kRemotes.size());
    if (ref == name) return true;
    elsewhere = elsewhere || IsOfAnyRemote(ref, name);
  }
  return elsewhere && !here;
}

}  // namespace stet::tool
