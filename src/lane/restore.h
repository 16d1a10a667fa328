// Restore: what became of files after some event, and putting them back as they were: what tools,
// commands and hooks did, and what others did to the same files.
//
// A checkpoint is taken first, so that putting back can itself be undone. Counts only what was
// found to be as wanted afterwards.
#pragma once

#include "base/async.h"
#include "protocol/files.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

/// The files that are not as they were at `wanted.target`, whatever the branch (absent: before the
/// session did anything). With `restore`, those are put back that only the session changed, and
/// those that `wanted.include` names. Nothing outside of the project and the folders added to it is
/// touched, nothing in a repository's own folder, and no link is followed. The lane is at rest, and
/// stays so until it ends.
Async<Result<protocol::FileRows>> FilesSince(agent::Workbench& bench, protocol::FilesParams wanted);

}  // namespace stet::lane
