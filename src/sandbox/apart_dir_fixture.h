// ApartDir: a folder for one test that lies where a sandbox has nothing of its own: neither below
// /tmp nor below /dev. Removed with everything in it.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/fs.h"

namespace stet::sandbox {

class ApartDir {
 public:
  ApartDir() : path_(MakeTempDir("/var/tmp", "stet-test-").value_or("")) {
    EXPECT_FALSE(path_.empty()) << "/var/tmp is writable";
  }
  ApartDir(const ApartDir&) = delete;
  ApartDir& operator=(const ApartDir&) = delete;
  ~ApartDir() {
    [[maybe_unused]] const auto ignored = RemoveTree(path_);  // A test has nothing to do about it.
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path of `name` inside the folder.
  [[nodiscard]] std::string Sub(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace stet::sandbox
