// Gate: where a command waits until a test lets it go on.
#pragma once

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fd.h"

namespace stet::test {

/// A fifo that a command reads, in a folder.
class Gate {
 public:
  explicit Gate(const std::string& folder, const std::string& name = "gate")
      : path_(folder + "/" + name) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }
  /// Returns when the command is there, which then goes on.
  void Open() const {
    const Fd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_GE(fd.get(), 0);
  }

 private:
  std::string path_;
};

}  // namespace stet::test
