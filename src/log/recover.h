// Recovery: what opening a log finds in its file, and the two things that only the lock holder does
// about damage: a torn last line is set aside and cut off, a damaged line in the middle is copied
// aside and stays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "log/index.h"
#include "log/index_file.h"
#include "log/paths.h"
#include "protocol/header.h"

namespace stet::log {

struct Scanned {
  Index index;
  std::optional<protocol::Header>
      header;  // Of line 1, or rebuilt by a gap event; nothing when it is lost.
  bool header_on_line_1 = false;
  std::uint64_t first_line_hash = 0;
  std::uint64_t good_end = 0;  // Everything before is folded: good lines and damage that stays.
  std::uint64_t file_end = 0;  // More than good_end when the last line is torn.
  bool missing_lf = false;     // The last line is good but for its LF.
  IndexFile::Kept index_kept;  // How much of the index file is good.
};

/// Folds the log: what the index file keeps if `use_index`, then the rest. `faults`, if given,
/// hears of everything wrong. Fails only as reading does; a newer format in line 1 is for the
/// caller to refuse.
Result<Scanned> ScanLog(const Paths& paths, int fd, bool use_index,
                        std::vector<Fault>* faults = nullptr);

/// Copies the bytes behind good_end aside (flushed) and cuts the log there; adds the LF that is
/// missing.
Status MendTail(const Paths& paths, int fd, Scanned& scanned);

/// Copies damaged bytes aside, flushed.
Status CopyAside(const Paths& paths, int fd, const Damage& damage);

/// The id that the damaged bytes still show, if they do.
std::optional<std::string> LostId(int fd, const Damage& damage);

}  // namespace stet::log
