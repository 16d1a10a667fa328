#include "rpc/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::rpc {
namespace {

class ListenerTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Listener>> Listen() {
    return Listener::Unix(loop_, path_, [](Fd, const Peer&) {});
  }

  TempDir dir_;
  std::string path_ = dir_.Sub("s");
  Loop loop_;
};

TEST_F(ListenerTest, TheSocketIsTheUsersAloneAndItsNameGoesWithIt) {
  const mode_t before = ::umask(0);
  auto listener = Listen();
  ::umask(before);
  ASSERT_TRUE(listener) << listener.error().Text();
  EXPECT_EQ(StatFile(path_)->mode, 0600U);
  listener->reset();
  EXPECT_FALSE(Exists(path_));
}

TEST_F(ListenerTest, ASocketThatIsListenedOnIsNotReplaced) {
  auto first = Listen();
  ASSERT_TRUE(first);
  const auto second = Listen();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kBusy);
}

TEST_F(ListenerTest, ASocketThatNobodyListensOnIsReplaced) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path_.begin(), path_.end(), address.sun_path);
  {
    const Fd left(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_TRUE(Exists(path_));
  EXPECT_TRUE(Listen());
}

TEST_F(ListenerTest, AFileIsNeverReplaced) {
  ASSERT_TRUE(ReplaceFile(path_, "precious", Durable::kNo));
  const auto listener = Listen();
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Code::kConflict);
  EXPECT_EQ(*ReadFile(path_), "precious");
}

TEST_F(ListenerTest, TheNameOfAnotherIsNotRemoved) {
  auto first = Listen();
  ASSERT_TRUE(first);
  ASSERT_TRUE(Remove(path_));
  auto second = Listen();
  ASSERT_TRUE(second);
  first->reset();
  EXPECT_TRUE(Exists(path_));
}

TEST_F(ListenerTest, APathThatIsTooLongIsRefused) {
  path_ = dir_.Sub(std::string(120, 'x'));
  EXPECT_EQ(Listen().error().code, Code::kInvalid);
}

TEST_F(ListenerTest, AddressesAreInNumbers) {
  const auto listen = [&](const std::string& address, std::uint16_t port) {
    return Listener::Tcp(loop_, address, port, [](Fd, const Peer&) {});
  };
  auto listener = listen("localhost", 0);
  ASSERT_TRUE(listener) << listener.error().Text();
  const std::string address = (*listener)->address();
  EXPECT_TRUE(address.starts_with("127.0.0.1:")) << address;
  const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(10)));
  EXPECT_EQ(listen("127.0.0.1", port).error().code, Code::kBusy);
  EXPECT_EQ(listen("a.example", 0).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::rpc
