// FileHistory: what a session's log says of files: the facts and checkpoints behind an event.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/roots.h"
#include "log/log.h"
#include "protocol/work.h"
#include "tool/checkpoint/checkpoints.h"

namespace stet::lane {

struct FileHistory {
  std::vector<protocol::FileFact> facts;     // That this device wrote, in order; no reads.
  std::vector<protocol::FileFact> foreign;   // That another one did.
  std::size_t until_checkpoint = 0;          // How many of `facts` stand before the next one.
  std::optional<std::string> at;             // That checkpoint's manifest.
  std::optional<std::string> before;         // The last one's up to the event.
  std::map<std::string, std::string> calls;  // What each call was, for people: "Bash: make".
};

/// Behind the first `from` events of the log. This device's events begin with the seq `own_since`.
Result<FileHistory> ReadFileHistory(const log::Log& log, log::Ordinal from,
                                    std::uint64_t own_since);

/// That go on from the last one in the log, which outlives them.
std::shared_ptr<tool::Checkpoints> MakeCheckpoints(const config::Roots& roots, const log::Log& log,
                                                   std::uint64_t own_since);

}  // namespace stet::lane
