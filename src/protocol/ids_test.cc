#include "protocol/ids.h"

#include <gtest/gtest.h>

namespace stet::protocol {
namespace {

TEST(IdsTest, NamesOfClientsAreShortPlainAndNoneOfStetsOwn) {
  for (const char* name : {"a", "terminal-7m2k", "my.phone_2", "Host"})
    EXPECT_TRUE(IsClientName(name)) << name;
  EXPECT_TRUE(IsClientName(std::string(64, 'a')));
  EXPECT_FALSE(IsClientName(std::string(65, 'a')));
  for (const char* name : {"", "host", "model", "cli", "a b", "a@b", "a\nb", "\u00e4", "a/b"})
    EXPECT_FALSE(IsClientName(name)) << name;
}

}  // namespace
}  // namespace stet::protocol
