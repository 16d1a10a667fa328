// What a command did to the project's files, as facts for the log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "protocol/work.h"
#include "tool/checkpoint/checkpoints.h"
#include "tool/project/scan.h"
#include "tool/tool.h"

namespace stet::tool {

struct ShellFacts {
  std::vector<protocol::FileFact>
      facts;  // outside_write, delete and folder, in the order of a walk.
  /// Places that programs obey and that came to be, relative to the project.
  std::vector<std::string> new_guarded = {};
  std::shared_ptr<const ProjectScan>
      scan;  // As the project is now. Null: it could not be looked at.
};

/// What changed since the last look at the project, as the doing of that call. Looks to the end
/// even when the call is cancelled, within the limits of a scan. `before` is the project when the
/// command started; null: nothing could change.
Async<ShellFacts> FactsSince(std::shared_ptr<const ProjectScan> before, Call& call);

/// Changes that were seen, as the doing of that call. What was only touched is none.
std::vector<protocol::FileFact> FactsOf(const std::string& project,
                                        const std::vector<SeenChange>& changes,
                                        const KnownFiles& files, const std::string& call_id);

/// The same of a task, while which our own tools may have written: what they left as it is, which
/// the model knows, is their doing.
std::vector<protocol::FileFact> FactsOfTask(const std::string& project, const Seen& seen,
                                            const KnownFiles& files);

}  // namespace stet::tool
