// Beneath: the name of a file in a folder that is held open, found beneath a root without following
// a link.
//
// A path that was decided on may be made to lead elsewhere at any moment: another program exchanges
// a folder for a link. What goes through here acts in the folder that was found, wherever its path
// leads by then: reading, the temporary file, the rename and the removal are all of that one
// handle. A link anywhere between the root and the file's name fails (kConflict), one at the name
// itself is neither read, nor written through, nor taken for a file. Folders are flushed with what
// changes in them. Safe from any thread; blocks on the disk. Other failures are as in fs.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/result.h"

struct stat;

namespace stet {

/// Of the folders above a file that are missing.
enum class Parents { kMustExist, kMake };

class Beneath {
 public:
  /// `path` is absolute, without ".", ".." or empty parts, and lies beneath `root`: else kInvalid.
  /// Folders are made with 0777 less the umask.
  static Result<Beneath> Open(const std::string& root, const std::string& path,
                              Parents parents = Parents::kMustExist);

  /// What stands there; a link is not followed. kNotFound when nothing does.
  [[nodiscard]] Result<FileStat> Stat() const;

  /// A regular file; kInvalid for what is none.
  [[nodiscard]] Result<Fd> OpenToRead() const;

  struct Content {
    std::string bytes;
    FileStat stat;
  };
  /// The same, whole; kInvalid as well when it is larger.
  [[nodiscard]] Result<Content> Read(std::size_t max_bytes = kMaxReadFile) const;

  /// Where a link leads; kInvalid for what is none.
  [[nodiscard]] Result<std::string> ReadLink() const;

  /// Makes it the file's content. Readers see the old file or the new one, never a part; one that
  /// is there keeps its permission bits and, as far as we may, its owner, a new one gets `mode`
  /// less the umask. One with several names (hard links) stays one file: it is written in place,
  /// in which a crash may leave a part.
  [[nodiscard]] Status Write(std::string_view bytes, mode_t mode) const;

  /// kNotFound when there is none; a folder is left (kInvalid).
  [[nodiscard]] Status Remove() const;

  /// A new link; kConflict when something stands there.
  [[nodiscard]] Status MakeLink(const std::string& target) const;
  /// A folder that is there is fine; kConflict for anything else in its place.
  [[nodiscard]] Status MakeFolder() const;
  /// An empty one; kConflict when something is in it, kNotFound when there is none.
  [[nodiscard]] Status RemoveFolder() const;
  /// Permission bits of a file or folder; a link has none (kInvalid).
  [[nodiscard]] Status SetMode(mode_t mode) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Beneath(Fd folder, std::string path, std::string name)
      : folder_(std::move(folder)), path_(std::move(path)), name_(std::move(name)) {}

  [[nodiscard]] Result<Fd> OpenPlain(int flags) const;
  [[nodiscard]] Status Replace(std::string_view bytes, mode_t mode, const struct stat* old) const;
  [[nodiscard]] Status WriteInPlace(std::string_view bytes, const struct stat& old) const;
  [[nodiscard]] Status FlushFolder() const;

  Fd folder_;         // Without right to read or write by itself (O_PATH).
  std::string path_;  // For messages.
  std::string name_;
};

/// A file of a tree that others wrote: links in its path are followed as long as they stay beneath
/// `root`, and kDenied when one leads out of it. The result's path is the real one.
Result<Beneath> OpenWithin(const std::string& root, const std::string& path);

/// The same, and all of it.
Result<std::string> ReadWithin(const std::string& root, const std::string& path,
                               std::size_t max_bytes);

/// Tests only: folders are found part by part, as on kernels without openat2(2).
void WalkBeneathForTests(bool walk);

}  // namespace stet
