// UndoPlan: what must change on the disk so that a project is again as it was at some event, and
// who made each difference. Pure: the log's facts and manifests in, lines out.
//
// What was there at the event is what the first checkpoint behind it says, before which only file
// tools and restores changed anything, and their facts say how it was before them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/work.h"
#include "tool/checkpoint/manifest.h"

namespace stet::tool {

struct UndoLine {
  std::string path;                     // Relative to the project.
  std::optional<ManifestEntry> wanted;  // As it was; absent: nothing was there.
  std::optional<ManifestEntry> now;     // As it is.
  std::vector<std::string> call_ids;    // That changed it since, in order.
  /// Something else changed it as well: no fact tells of it, or it is not as the last fact left it.
  bool unexplained = false;
};

struct UndoInputs {
  std::string project;
  const ManifestEntries& at;      // Of the first checkpoint behind the event, or of now.
  const ManifestEntries& now;     // As the project is.
  const ManifestEntries* before;  // Of the last checkpoint up to the event; may be null.
  /// Changes behind the event, in order; the first `until_checkpoint` of them stand before that
  /// checkpoint.
  const std::vector<protocol::FileFact>& facts;
  std::size_t until_checkpoint = 0;
  /// The SHA-256 of what a fact calls "git:ID"; empty when it cannot be had. May block.
  std::function<std::string(const std::string& id)> sha256_of_git;
};

/// In the order of the paths. A file whose content is kept nowhere has no line as long as it looks
/// the same.
std::vector<UndoLine> PlanUndo(const UndoInputs& inputs);

}  // namespace stet::tool
