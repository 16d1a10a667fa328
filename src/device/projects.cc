#include "device/projects.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/lock.h"
#include "device/model_access.h"

namespace stet::device {

struct ProjectBook {
  STET_FIELDS(ProjectBook, (protocol::Projects, projects))
};

namespace {

Result<ProjectBook> ReadProjects(const config::Roots& roots) {
  const Result<std::string> text = ReadFile(roots.projects());
  if (!text && text.error().code == Code::kNotFound) return ProjectBook();
  if (!text) return std::unexpected(text.error());
  Result<ProjectBook> book = Decode<ProjectBook>(*text);
  if (!book)
    return Fail(Code::kCorrupt, fmt::format("{} is damaged: remove it, and register your projects "
                                            "again",
                                            roots.projects()));
  return book;
}

bool Within(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || path.starts_with(folder + "/");
}

}  // namespace

Result<std::string> FolderAt(const std::string& path) {
  if (!path.starts_with('/')) return Fail(Code::kInvalid, "a folder is named by its whole path");
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_directory(real, error))
    return Fail(Code::kNotFound, fmt::format("there is no folder {}", path));
  return real.string();
}

Result<protocol::Projects> Projects::List() const {
  ASSIGN_OR_RETURN(const ProjectBook book, ReadProjects(roots_));
  return book.projects;
}

Result<protocol::Project> Projects::Register(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string folder, FolderAt(path));
  RETURN_IF_ERROR(MakeDirs(roots_.data));
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(roots_.projects() + ".lock"));
  ASSIGN_OR_RETURN(ProjectBook book, ReadProjects(roots_));
  const auto known = std::ranges::find(book.projects, folder, &protocol::Project::path);
  if (known != book.projects.end()) return *known;
  protocol::Project& made = book.projects.emplace_back();
  made.project_id = "p_" + Sha256Hex(folder).substr(0, 16);
  made.path = folder;
  made.name = std::filesystem::path(folder).filename().string();
  made.added_at = SystemClock().Now();
  RETURN_IF_ERROR(ReplaceFile(roots_.projects(), Encode(book) + "\n", Durable::kYes, 0600));
  return made;
}

Status Projects::Remove(const std::string& project_id) {
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Acquire(roots_.projects() + ".lock"));
  ASSIGN_OR_RETURN(ProjectBook book, ReadProjects(roots_));
  const auto gone = std::erase_if(book.projects, [&](const protocol::Project& project) {
    return project.project_id == project_id;
  });
  if (gone == 0)
    return Fail(Code::kNotFound,
                fmt::format("no project {}: it may have been removed already", project_id));
  return ReplaceFile(roots_.projects(), Encode(book) + "\n", Durable::kYes, 0600);
}

Result<bool> Projects::Contains(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::string folder, FolderAt(path));
  ASSIGN_OR_RETURN(const ProjectBook book, ReadProjects(roots_));
  return std::ranges::any_of(book.projects, [&](const protocol::Project& project) {
    return Within(folder, project.path);
  });
}

Result<protocol::Browsed> Projects::Browse(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::string home, FolderAt(ProcessEnvironment("HOME")));
  ASSIGN_OR_RETURN(const std::string folder, path.empty() ? home : FolderAt(path));
  ASSIGN_OR_RETURN(const bool own, Contains(folder));
  const bool seen = Within(folder, home) || own;
  if (!seen)
    return Fail(Code::kDenied,
                fmt::format("{} is neither in the home folder nor in a project", path));
  protocol::Browsed browsed;
  browsed.path = folder;
  if (folder != home && Within(folder, home))
    browsed.parent = std::filesystem::path(folder).parent_path().string();
  ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, ListDir(folder));
  for (const DirEntry& entry : entries) {
    if (entry.kind == EntryKind::kDir && !entry.name.starts_with('.'))
      browsed.folders.push_back(entry.name);
  }
  return browsed;
}

}  // namespace stet::device
