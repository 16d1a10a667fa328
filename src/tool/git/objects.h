// GitObjects: reads blobs out of folders of objects, without obeying a repository's configuration.
//
// git itself reads them (`git cat-file`), in an empty environment and for a repository of ours that
// has no settings, no refs and no objects but those: no hook, filter, monitor, replacement or
// promisor of the user's repository is known to it, and it writes nothing. Every wait has a
// deadline. Without git on PATH nothing is there. Calls block; safe from any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tool/git/tracked.h"

namespace stet::tool {

/// Larger objects count as not there.
inline constexpr std::uint64_t kMaxGitObject = std::uint64_t{256} << 20;

class GitObjects {
 public:
  /// `folders`: where objects are, those of a repository (GitRepository::objects) and what was kept
  /// of it (HeldObjects::FolderOf). `scratch`: a folder of stet's own for its repository, made when
  /// it is missing.
  GitObjects(GitFormat format, std::vector<std::string> folders, std::string scratch);

  /// Which of them are there: blobs of just these sizes. What cannot be found out is not there.
  [[nodiscard]] std::vector<bool> Has(
      std::span<const GitObject> objects,
      Deadline deadline = Deadline::After(std::chrono::seconds(10))) const;

  /// `take` gets each object with its place in `ids`, in their order, and says whether it wants
  /// more. One that is missing, no blob, too large or damaged (its bytes are hashed) is left out;
  /// an error says that others may have been as well.
  using Take = std::function<bool(std::size_t which, std::string_view bytes)>;
  Status Read(std::span<const std::string> ids, const Take& take,
              Deadline deadline = Deadline::After(std::chrono::minutes(2))) const;

 private:
  GitFormat format_;
  std::vector<std::string> folders_;
  std::string scratch_;
};

}  // namespace stet::tool
