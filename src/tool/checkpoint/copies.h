// Copies: contents that are kept so that they can be put back, by the SHA-256 of what they are.
//
// One store serves every session of the device, so that what several keep takes its room once. What
// a session keeps has a second name in the session's own folder: the number of its names says
// whether anything needs a copy still (`stet gc`). Only the user may read either folder; nothing in
// them is exported, indexed, or shown to a model. A copy is complete under its names or not there;
// none is ever rewritten. Safe from any thread; blocks on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/beneath.h"
#include "base/fs.h"
#include "base/result.h"

namespace stet::tool {

class Copies {
 public:
  /// Both folders are made with the first copy. `session` is where this session's names are.
  Copies(std::string store, std::string session)
      : store_(std::move(store)), session_(std::move(session)) {}

  struct Copied {
    std::string name;
    FileStat stat;            // Of the file, as it was while it was copied.
    std::uint64_t bytes = 0;  // That the store grew by.
  };
  /// kConflict when the file was written meanwhile, twice; kInvalid when it is larger than
  /// `max_bytes`, or no file.
  Result<Copied> Keep(const Beneath& file, std::uint64_t max_bytes);
  Result<std::string> Keep(std::string_view bytes);

  /// One that another session kept is this session's too; false when it is not there any more.
  bool Adopt(const std::string& name);

  /// The same under the id of git's object, for when no repository has it any more.
  Status KeepAsGit(const std::string& id, std::string_view bytes);
  /// kNotFound when there is none.
  [[nodiscard]] Result<std::string> ReadGit(const std::string& id) const;

  /// kNotFound when there is none, kCorrupt when it is not what its name says.
  [[nodiscard]] Result<std::string> Read(std::string_view name) const;

  /// All that was kept survives a power cut from here on.
  Status Sync();

  static bool IsName(std::string_view text);

 private:
  Status MakeFolders();
  Result<Copied> Copy(const Beneath& file, std::uint64_t max_bytes);
  Status Store(const std::string& temporary, const std::string& name);
  Status Link(const std::string& name);

  std::string store_;
  std::string session_;
  bool made_ = false;
  std::vector<std::string> unsynced_;  // Names.
};

}  // namespace stet::tool
