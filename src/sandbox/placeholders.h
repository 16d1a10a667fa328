// Placeholders: empty folders that stand, for as long as a command runs, where nothing may be made
// and nothing is, so that something can be mounted there.
//
// Commands of several processes may need the same one: each holds a lock on it, and who holds the
// last takes it away. One that was left behind is known by its time, and is used and taken away by
// the next command. Made and owned by the guard, which outlives us.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

class Placeholders {
 public:
  Placeholders() = default;
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;
  ~Placeholders();

  /// At those of the paths where nothing is. Where we can make nothing, a command cannot either;
  /// and nothing is made where a symlink leads.
  void Make(const Texts& paths);

 private:
  struct Held {
    std::string path;
    Fd folder;
  };
  std::vector<Held> held_;
};

}  // namespace stet::sandbox
