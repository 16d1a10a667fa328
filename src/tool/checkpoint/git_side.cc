#include "tool/checkpoint/git_side.h"

#include <algorithm>
#include <map>

#include <sys/stat.h>

#include "base/fs.h"

namespace stet::tool {

/// What a command deleted last is kept; the rest the repositories have.
GitSide::~GitSide() {
  if (holds_) (void)held_.Release();
  held_.LetGo();
}

TrackedFiles& GitSide::Files(const std::string& project) {
  if (!files_ || files_->Stale()) files_.emplace(TrackedFiles::Read(project));
  return *files_;
}

GitObjects GitSide::ObjectsOf(std::uint32_t repository) const {
  const GitRepository& found = files_->repository(repository);
  std::vector<std::string> folders = found.objects;
  if (!folders.empty()) folders.push_back(held_.FolderOf(found.objects.front()));
  return {found.format, std::move(folders), folder_ + "/reader"};
}

std::vector<ToKeep> GitSide::Keep(const std::string& project, std::vector<ToKeep> files) {
  if (files.empty()) return files;
  const TrackedFiles& tracked = Files(project);
  HashBudget budget;
  struct Found {
    std::size_t file;
    GitObject object;
  };
  std::map<std::uint32_t, std::vector<Found>> by_repository;
  for (std::size_t i = 0; i < files.size(); ++i) {
    struct stat now{};
    if (::lstat((project + "/" + files[i].path).c_str(), &now) != 0) continue;
    // It is about the file that the manifest tells of.
    const auto seen = EntryNow(project, files[i].path);
    if (!seen || !seen->LooksLike(*files[i].entry)) continue;
    if (std::optional<GitObject> object = tracked.ObjectOf(files[i].path, now, budget))
      by_repository[object->repository].push_back({i, *std::move(object)});
  }
  std::vector<GitObject> there;
  std::vector<std::size_t> file_of;
  for (const auto& [repository, found] : by_repository) {
    std::vector<GitObject> objects;
    for (const Found& one : found) objects.push_back(one.object);
    const std::vector<bool> has = ObjectsOf(repository).Has(objects);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!has[i]) continue;
      there.push_back(found[i].object);
      file_of.push_back(found[i].file);
    }
  }
  if (there.empty()) return files;
  const std::vector<bool> held = held_.Hold(tracked, there);
  holds_ = true;
  std::vector<bool> kept(files.size(), false);
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!held[i]) continue;
    kept[file_of[i]] = true;
    files[file_of[i]].entry->kept = {.in = Kept::In::kGit, .id = there[i].id};
  }
  std::vector<ToKeep> rest;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!kept[i]) rest.push_back(std::move(files[i]));
  return rest;
}

void GitSide::HoldOn(const std::string& project) {
  if (holds_) (void)held_.Hold(Files(project), {});
}

std::set<std::string> GitSide::Lost() {
  if (!files_) return {};
  const std::vector<std::string> ids = held_.Release();
  return {ids.begin(), ids.end()};
}

GitObjects GitSide::HeldAlone(GitFormat format) const {
  std::vector<std::string> folders;
  if (const auto entries = ListDir(folder_ + "/held")) {
    for (const DirEntry& entry : *entries)
      if (entry.kind == EntryKind::kDir && entry.name != "reading")
        folders.push_back(folder_ + "/held/" + entry.name);
  }
  return {format, std::move(folders), folder_ + "/reader"};
}

void GitSide::Read(const std::string& project, const std::vector<GitContent>& wanted,
                   const std::function<void(const std::string&, std::string_view)>& take) {
  if (wanted.empty()) return;
  const TrackedFiles& tracked = Files(project);
  std::set<std::string> rest;
  HashBudget none{.bytes = 0};
  for (const GitContent& one : wanted) {
    rest.insert(one.id);
    // Repositories in the project are found by what is asked of them.
    (void)tracked.ObjectOf(one.path, {}, none);
  }
  const auto read = [&](const GitObjects& objects) {
    const std::vector<std::string> ids(rest.begin(), rest.end());
    // Ignoring errors on purpose: what cannot be read is not there.
    (void)objects.Read(ids, [&](std::size_t which, std::string_view bytes) {
      rest.erase(ids[which]);
      take(ids[which], bytes);
      return true;
    });
  };
  for (std::uint32_t number = 0; number < tracked.repositories() && !rest.empty(); ++number)
    read(ObjectsOf(number));
  for (const GitFormat format : {GitFormat::kSha1, GitFormat::kSha256})
    if (!rest.empty()) read(HeldAlone(format));
}

}  // namespace stet::tool
