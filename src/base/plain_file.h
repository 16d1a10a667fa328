// Plain files: opening a file of ours at a path where another program may have put anything.
//
// Only a regular file is taken. A symlink at the path is not followed, and a FIFO, a socket or a
// device is neither waited for nor read; those above it in the path are followed. All functions are
// safe from any thread. kInvalid says what stands there instead; all else fails as in fs.h.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/result.h"

namespace stet {

/// As OpenFile.
Result<Fd> OpenPlainFile(const std::string& path, int flags, mode_t mode = 0600);

/// As ReadFile.
Result<std::string> ReadPlainFile(const std::string& path, std::size_t max_bytes = kMaxReadFile);

/// Its size, without opening it.
Result<std::uint64_t> PlainFileSize(const std::string& path);

}  // namespace stet
