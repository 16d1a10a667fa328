// Load: a file as the tools have it. Where the client's editor gives the text of files, its text
// counts, saved or not; else, and when the editor does not give it, what is on the disk.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tool/text_file.h"
#include "tool/tool.h"

namespace stet::tool {

struct Loaded {
  std::string bytes;       // The editor's text as it gave it, or what is on the disk.
  bool in_editor = false;  // The editor gave it.
  bool on_disk = false;    // There is such a file: `stat` is what the system said of it.
  FileStat stat = {};
};

/// Of a real path, in which no link is followed any more. kNotFound when it is neither on the disk
/// nor in the editor; kInvalid for what is no regular file, or larger than kMaxTextBytes. Images,
/// notebooks, and what is no UTF-8 text on the disk are the disk's alone.
Async<Result<Loaded>> Load(std::string path, Call& call);

/// Whether an editor takes this as the whole of that file: UTF-8 text, and no notebook.
bool IsForEditor(std::string_view path, std::string_view bytes);

}  // namespace stet::tool
