#include <gtest/gtest.h>

#include "host/connection.h"

namespace stet::host {
namespace {

TEST(IdentityTest, NoClientIsCalledAsTheHostIs) {
  Caller local;
  local.local = true;
  EXPECT_EQ(IdentityOf(local, "terminal-1"), "terminal-1");
  for (const char* wanted : {"host", "model", "a b", "x@phone", ""}) {
    const std::string id = IdentityOf(local, wanted);
    EXPECT_NE(id, wanted);
    EXPECT_TRUE(id.starts_with("client-")) << id;
  }
  Caller remote;
  remote.name = "phone";
  EXPECT_EQ(IdentityOf(remote, "app-1"), "app-1@phone");
  EXPECT_TRUE(IdentityOf(remote, "host").ends_with("@phone"));
  EXPECT_TRUE(IdentityOf(remote, "host").starts_with("client-"));
}

}  // namespace
}  // namespace stet::host
