// Program: the real stet binary, run as a user would, with its own home. Scenario tests are written
// with it.
#pragma once

#include <string>
#include <vector>

#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"

namespace stet::scenario {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class Program {
 public:
  Program();
  /// Every request of every session that the test left is made again from its log: it must be what
  /// was sent, byte for byte. Every break of a cached prefix must have its cause, and every
  /// beginning of a short log gives the same however it is read.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs `stet ARGUMENTS`. Fails the test when the program crashes or hangs.
  Ran Run(std::vector<std::string> arguments, std::string input = "") const;

  /// How `stet ARGUMENTS` is started here, for a test that talks to it.
  [[nodiscard]] SpawnOptions Options(std::vector<std::string> arguments) const;

  /// $STET_HOME of this program.
  [[nodiscard]] std::string home() const { return dir_.path() + "/home"; }
  [[nodiscard]] std::string SessionDir(const std::string& id) const {
    return home() + "/sessions/" + id;
  }
  /// A folder for files of the test.
  [[nodiscard]] std::string work() const { return dir_.path() + "/work"; }

 private:
  TempDir dir_;
  std::string binary_;
};

}  // namespace stet::scenario
