#include "sandbox/sockets.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"
#include "sandbox/apart_dir_fixture.h"

namespace stet::sandbox {
namespace {

TEST(SocketsTest, PathsAreReadFromTheTableAndNothingElse) {
  EXPECT_EQ(SocketPaths("Num       RefCount Protocol Flags    Type St Inode Path\n"
                        "0000000000000000: 00000002 00000000 00010000 0001 01 16721 /srv/a b\n"
                        "0000000000000000: 00000002 00000000 00010000 0001 01  1672 /srv/a b\n"
                        "0000000000000000: 00000003 00000000 00000000 0001 03 20012\n"
                        "0000000000000000: 00000002 00000000 00010000 0001 01 16722 @/abstract\n"
                        "0000000000000000: 00000002 00000000 00010000 0001 01 16723 relative\n"
                        "cut"),
            (std::vector<std::string>{"/srv/a b"}));
  EXPECT_TRUE(SocketPaths("").empty());
}

TEST(SocketsTest, WhatIsBoundIsHiddenUnlessItLiesWhereTheCommandMayWrite) {
  const ApartDir dir;
  const std::string path = dir.Sub("s");
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto hides = [&](const Profile& profile) {
    const std::vector<Mount> mounts = PlanSockets(profile);
    return std::ranges::find(mounts, path, &Mount::path) != mounts.end();
  };
  Profile profile;
  EXPECT_TRUE(hides(profile));
  profile.writable = {dir.path()};
  EXPECT_FALSE(hides(profile));
}

}  // namespace
}  // namespace stet::sandbox
