#include "sandbox/profile.h"

#include <gtest/gtest.h>

namespace stet::sandbox {
namespace {

TEST(ProfileTest, VariablesAreDroppedByNameAndByPattern) {
  Profile profile;
  profile.dropped_variables = {"EXACT", "*_TOKEN", "AWS_*", "*PASS*"};
  EXPECT_EQ(KeptVariables({"EXACT=1", "EXACTLY=2", "GH_TOKEN=3", "TOKEN=4", "AWS_X=5", "MYPASSWD=6",
                           "PATH=/bin:A_TOKEN"},
                          profile),
            (Texts{"EXACTLY=2", "TOKEN=4", "PATH=/bin:A_TOKEN"}));
}

TEST(ProfileTest, InsideMeansTheFolderOrBelowIt) {
  EXPECT_TRUE(Inside("/a/b", "/a/b"));
  EXPECT_TRUE(Inside("/a/b/c", "/a/b"));
  EXPECT_FALSE(Inside("/a/bc", "/a/b"));
  EXPECT_FALSE(Inside("/a", "/a/b"));
  EXPECT_TRUE(Inside("/a", "/"));
}

TEST(ProfileTest, ThereAreFourNetworks) {
  for (const char* name : {"off", "loopback", "hosts", "open"}) EXPECT_TRUE(IsNetwork(name));
  EXPECT_FALSE(IsNetwork(""));
  EXPECT_FALSE(IsNetwork("on"));
}

}  // namespace
}  // namespace stet::sandbox
