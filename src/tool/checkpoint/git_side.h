// GitSide: what of a project's files its repositories keep already, for checkpoints: found out for
// what changed, held while commands run that may delete it, and read back.
//
// Blocks on the disk, and on git; one thread at a time.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/checkpoint/keeping.h"
#include "tool/git/hold.h"
#include "tool/git/tracked.h"

namespace stet::tool {

/// What a file's content was, and where: which repository has it depends on the path.
struct GitContent {
  std::string path;  // Relative to the project.
  std::string id;
};

class GitSide {
 public:
  /// `folder` is this session's alone, made when it is needed.
  explicit GitSide(std::string folder) : folder_(std::move(folder)), held_(folder_ + "/held") {}
  ~GitSide();
  GitSide(const GitSide&) = delete;
  GitSide& operator=(const GitSide&) = delete;

  /// Fills in where the content is of files that a repository has as they are, and holds it there.
  /// The others are given back.
  std::vector<ToKeep> Keep(const std::string& project, std::vector<ToKeep> files);

  /// Before a command: what is needed may lie in another place by now, such as a new pack.
  void HoldOn(const std::string& project);

  /// Something is held that a command could delete. From any thread.
  [[nodiscard]] bool holds() const { return holds_; }
  /// After a command: what it left nowhere is not kept any more.
  std::set<std::string> Lost();

  /// Calls `take` with the content of each object that is still to be had: in a repository of the
  /// project, or held after that was deleted.
  void Read(const std::string& project, const std::vector<GitContent>& wanted,
            const std::function<void(const std::string& id, std::string_view bytes)>& take);

 private:
  TrackedFiles& Files(const std::string& project);
  [[nodiscard]] GitObjects ObjectsOf(std::uint32_t repository) const;
  /// Of repositories that are gone.
  [[nodiscard]] GitObjects HeldAlone(GitFormat format) const;

  std::string folder_;
  HeldObjects held_;
  std::optional<TrackedFiles> files_;
  std::atomic<bool> holds_ = false;
};

}  // namespace stet::tool
