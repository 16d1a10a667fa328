// TempDir: a fresh folder for one test, removed with everything in it when it goes out of scope.
//
// It lies under $STET_TEST_TMP, else /dev/shm when that is writable, else /tmp. For tests only: it
// ends the process when it cannot be made. One owner; not for sharing between threads.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/fs.h"

namespace stet {

class TempDir {
 public:
  TempDir() {
    auto made = MakeTempDir(Parent(), "stet-test-");
    CHECK(made, "the folder for tests is writable");
    path_ = *std::move(made);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    [[maybe_unused]] const auto ignored = RemoveTree(path_);  // A test has nothing to do about it.
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// The path of `name` inside the folder.
  [[nodiscard]] std::string Sub(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  static std::string Parent() {
    if (const char* chosen = std::getenv("STET_TEST_TMP"); chosen && *chosen) return chosen;
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  }

  std::string path_;
};

}  // namespace stet
