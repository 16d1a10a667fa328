// What became of files, and asking for it: plain data.
#pragma once

#include <vector>

#include "protocol/work.h"

namespace stet::protocol {

/// A file, link or folder that is not as it was at some event of the session.
struct FileRow {
  STET_FIELDS(FileRow,
              (Text, path),
              (Text, op),  // What was done to it last: write, delete, outside_write, folder.
              (Text, undo),  // What putting it back does there: create, change, delete.
              (bool, can_restore),  // What was there is kept.
              (bool, changed_since),  // Not only the session changed it: it must be named.
              (bool, restored),  // It was found to be as it was, afterwards.
              (Texts, by),  // The calls that changed it, in order: "Bash: make".
              (OptionalText, reason))  // Why it cannot be restored, was not, or must be named.
};
using FileRows = std::vector<FileRow>;

struct FilesParams {
  STET_FIELDS(FilesParams,
              (Text, session_id),
              (OptionalText, target),  // As they were at this event; absent: at the beginning.
              (bool, restore),  // Puts them back.
              (OptionalTexts, include),  // Paths that others changed as well, to be put back too.
              (OptionalBool, stop_tasks))  // Those that run are stopped first; else it is refused.
};
struct FileList {
  STET_FIELDS(FileList, (FileRows, files))
};

}  // namespace stet::protocol
