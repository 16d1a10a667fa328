#include "config/roots.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "base/temp_dir.h"

namespace stet::config {
namespace {

/// Sets the variables that roots come from, and puts the old ones back.
class RootsTest : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {"STET_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"};

  void SetUp() override {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kNames) {
      if (before_.contains(name))
        ::setenv(name, before_[name].c_str(), 1);
      else
        ::unsetenv(name);
    }
  }

  std::map<std::string, std::string> before_;
};

TEST_F(RootsTest, StetHomeMakesBothOneFolder) {
  ::setenv("STET_HOME", "/a/b/", 1);
  EXPECT_EQ(FindRoots()->data, "/a/b");
  EXPECT_EQ(FindRoots()->config, "/a/b");
}

TEST_F(RootsTest, TheXdgFoldersComeNextThenTheHomeFolder) {
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(FindRoots()->data, "/home/u/.local/share/stet");
  EXPECT_EQ(FindRoots()->config, "/home/u/.config/stet");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(FindRoots()->data, "/data/stet");
  EXPECT_EQ(FindRoots()->config, "/home/u/.config/stet");
}

TEST_F(RootsTest, ARelativeFolderIsRefusedByName) {
  ::setenv("STET_HOME", "here", 1);
  ASSERT_FALSE(FindRoots());
  EXPECT_NE(FindRoots().error().message.find("$STET_HOME"), std::string::npos);
}

TEST_F(RootsTest, WithoutAnyVariableTheSystemsHomeFolderIsUsed) { EXPECT_TRUE(FindRoots()); }

TEST_F(RootsTest, TheDeviceIdIsMadeOnceAndKept) {
  const TempDir dir;
  const Roots roots{dir.path() + "/new", dir.path()};
  const std::string id = *DeviceId(roots);
  EXPECT_TRUE(id.starts_with("dev_"));
  EXPECT_EQ(*DeviceId(roots), id);
}

}  // namespace
}  // namespace stet::config
