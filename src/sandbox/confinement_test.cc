#include "sandbox/confinement.h"

#include <atomic>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/guard/guard.h"
#include "base/guard/guard_fixture.h"
#include "base/subprocess/subprocess.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"

namespace stet::sandbox {
namespace {

/// Longer than any test takes; reaching it is a failure.
constexpr std::chrono::seconds kSafety{60};

/// Answers every connection to it with one text, until it is destroyed.
class Listener {
 public:
  explicit Listener(std::string answer)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), any, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 16), 0);
    EXPECT_EQ(::getsockname(socket_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int accepted() const { return accepted_; }

 private:
  void Serve() {
    for (;;) {
      const Fd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      ++accepted_;
      (void)::send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
  }

  Fd socket_;
  std::string answer_;
  int port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::thread thread_;
};

class ConfinementTest : public testing::TestWithParam<Mechanism> {
 protected:
  ConfinementTest() {
    EXPECT_TRUE(MakeDirs(project_));
    profile_.writable = {project_};
    profile_.network = network::kOff;
  }

  void SetUp() override {
    for (const Tried& tried : TryAll()) {
      if (tried.mechanism == GetParam() && !tried.works) GTEST_SKIP() << tried.why_not;
    }
  }
  [[nodiscard]] bool alone() const { return GetParam() == Mechanism::kLandlockAlone; }

  Finished Run(const std::string& script) {
    const Confinement confinement = Confinement::Make(profile_, GetParam()).value();
    SpawnOptions options{.argv = {"bash", "-c", script},
                         .cwd = project_,
                         .merge_stderr = true,
                         .guarded = true,
                         .box = confinement.order()};
    Finished finished =
        Subprocess::Run(std::move(options), Deadline::After(kSafety), CancelToken()).value();
    refused_ = confinement.RefusedHosts();
    return finished;
  }
  std::string Text(const std::string& script) { return Run(script).out; }

  /// Bash that asks the proxy, and shows what comes back.
  static std::string Ask(const std::string& request) {
    return "hostport=${http_proxy#http://}; exec 3<>/dev/tcp/${hostport%:*}/${hostport#*:}; "
           "printf '" +
           request + "\\r\\n\\r\\n' >&3; cat <&3";
  }

  ApartDir temp_;
  const std::string project_ = temp_.Sub("project");
  Profile profile_;
  Texts refused_;
};

INSTANTIATE_TEST_SUITE_P(, ConfinementTest, testing::ValuesIn(kMechanisms), [](const auto& one) {
  std::string name(MechanismName(one.param));
  std::erase(name, '-');
  return name;
});

TEST_P(ConfinementTest, ACommandRunsWithItsInputOutputAndExitCode) {
  const Finished finished = Run("pwd; echo err >&2; exit 7");
  EXPECT_EQ(finished.out, project_ + "\nerr\n");
  EXPECT_EQ(finished.exit_code, 7);
  const Finished killed = Run("kill -9 $$");
  if (GetParam() == Mechanism::kBubblewrap)
    EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  else
    EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(Run("exec nosuchprogram").exit_code, 127);
}

TEST_P(ConfinementTest, OnlyWhatIsWritableCanBeWritten) {
  EXPECT_EQ(Text("echo in >f; cat f"), "in\n");
  ASSERT_TRUE(MakeDirs(temp_.Sub("outside")));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("outside/f"), "old", Durable::kNo));
  const Finished finished = Run("cd ../outside; echo a >f; echo b >new; mv f g; rm -f f; mkdir d");
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_EQ(ReadFile(temp_.Sub("outside/f")).value(), "old");
  EXPECT_EQ(ListDir(temp_.Sub("outside")).value().size(), 1U) << finished.out;
}

TEST_P(ConfinementTest, TemporaryFilesArePrivateAndGoWithIt) {
  EXPECT_EQ(Text("f=$(mktemp) && echo x >$f && cat $f"), "x\n");
  profile_.temp = temp_.Sub("shared");
  ASSERT_TRUE(MakeDirs(profile_.temp));
  Run("echo kept >$TMPDIR/f");
  EXPECT_EQ(Text("cat $TMPDIR/f"), "kept\n");
}

TEST_P(ConfinementTest, CachesThatCannotBeWrittenMoveToTheTemporaryFiles) {
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", temp_.Sub("cache").c_str(), 1), 0);
  EXPECT_EQ(Text("[ $XDG_CACHE_HOME = $TMPDIR/cache ] && mkdir -p $XDG_CACHE_HOME/x && echo yes"),
            "yes\n");
  profile_.writable.push_back(temp_.Sub("cache/one"));
  EXPECT_EQ(Text("echo $XDG_CACHE_HOME"), temp_.Sub("cache") + "\n");
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_P(ConfinementTest, WhatIsHiddenCannotBeRead) {
  ASSERT_TRUE(MakeDirs(temp_.Sub("keys")));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("keys/id"), "sesame", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("netrc"), "sesame", Durable::kNo));
  profile_.hidden = {temp_.Sub("keys"), temp_.Sub("netrc"), temp_.Sub("none")};
  const std::string text =
      Text("cat ../keys/id ../netrc; cat ../keys/*; ln -s ../keys l; cat l/id");
  EXPECT_EQ(text.find("sesame"), std::string::npos) << text;
  if (!alone()) {
    EXPECT_EQ(Text("ls ../keys; cat ../netrc"), "") << "they look empty";
  }
}

TEST_P(ConfinementTest, WhatIsReadOnlyStaysSoAndCannotBeMovedAway) {
  if (alone()) GTEST_SKIP() << "not among its means";
  ASSERT_TRUE(MakeDirs(project_ + "/.git/hooks"));
  ASSERT_TRUE(ReplaceFile(project_ + "/.git/config", "old", Durable::kNo));
  profile_.read_only = {project_ + "/.git/hooks", project_ + "/.git/config", project_ + "/.stet"};
  Run("echo x >.git/hooks/h; echo x >.git/config; rm -rf .git/hooks; mv .git g; mkdir .stet; "
      "echo x >.stet/c; rmdir .stet; ln -sf /x .git/config");
  EXPECT_EQ(ReadFile(project_ + "/.git/config").value(), "old");
  EXPECT_EQ(ListDir(project_ + "/.git/hooks").value().size(), 0U);
  EXPECT_FALSE(Exists(project_ + "/g"));
  EXPECT_FALSE(Exists(project_ + "/.stet")) << "the place for it is removed again";
  EXPECT_EQ(Text("echo i >.git/index.lock && mv .git/index.lock .git/index && cat .git/index"),
            "i\n");
}

TEST_P(ConfinementTest, WithoutANetworkNoSocketCanBeMade) {
  const Listener listener("hello\n");
  const std::string connect = fmt::format("cat </dev/tcp/127.0.0.1/{}", listener.port());
  EXPECT_NE(Run(connect).exit_code, 0);
  EXPECT_EQ(listener.accepted(), 0);
  profile_.network = network::kOpen;
  EXPECT_EQ(Text(connect), "hello\n");
}

TEST_P(ConfinementTest, TheLoopbackIsItsOwn) {
  if (alone()) GTEST_SKIP() << "not among its means";
  const Listener listener("hello\n");
  profile_.network = network::kLoopback;
  const std::string text = Text(fmt::format("cat </dev/tcp/127.0.0.1/{}", listener.port()));
  EXPECT_NE(text.find("Connection refused"), std::string::npos) << text;
  EXPECT_EQ(listener.accepted(), 0);
}

TEST_P(ConfinementTest, ListedHostsAreReachedThroughTheProxyAndNoOthers) {
  if (alone()) GTEST_SKIP() << "not among its means";
  const Listener listener("HTTP/1.1 200 OK\r\n\r\nhello");
  profile_.network = network::kHosts;
  profile_.hosts = {fmt::format("localhost:{}", listener.port())};
  const std::string host = fmt::format("localhost:{}", listener.port());
  EXPECT_NE(Text(Ask("CONNECT " + host + " HTTP/1.1")).find("hello"), std::string::npos);
  EXPECT_NE(Text(Ask("GET http://" + host + "/ HTTP/1.1")).find("hello"), std::string::npos);
  EXPECT_EQ(refused_, Texts());
  const int before = listener.accepted();
  const std::string direct = fmt::format("cat </dev/tcp/127.0.0.1/{}", listener.port());
  EXPECT_NE(Run(direct).exit_code, 0) << "not but through the proxy";
  const std::string text = Text(Ask(fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1", listener.port())) +
                                "; " + Ask("GET http://evil.example/ HTTP/1.1"));
  EXPECT_NE(text.find("403 Forbidden"), std::string::npos) << text;
  EXPECT_NE(text.find("does not let commands reach evil.example:80"), std::string::npos) << text;
  EXPECT_EQ(refused_, (Texts{fmt::format("127.0.0.1:{}", listener.port()), "evil.example:80"}));
  EXPECT_EQ(listener.accepted(), before);
}

TEST_P(ConfinementTest, LimitsHold) {
  profile_.limits.open_files = 20;
  profile_.limits.file_bytes = 4096;
  profile_.limits.cpu_seconds = 1;
  EXPECT_EQ(Text("ulimit -n; ulimit -t"), "20\n1\n");
  EXPECT_NE(Run("head -c 9000 /dev/zero >f").exit_code, 0);
  EXPECT_EQ(StatFile(project_ + "/f").value().size, 4096U);
}

TEST_P(ConfinementTest, NothingOfItIsLeftBehind) {
  const std::string mark = "STET_TEST_MARK=" + temp_.path();
  EXPECT_EQ(Run("export " + mark + "; setsid sleep 1000 & (sleep 1000 &) ; true").exit_code, 0);
  EXPECT_EQ(ProcessesWith(mark), std::vector<pid_t>());
}

TEST_P(ConfinementTest, ARequestToStopReachesTheCommand) {
  const Confinement confinement = Confinement::Make(profile_, GetParam()).value();
  SpawnOptions options{
      .argv = {"bash", "-c",
               "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done"},
      .cwd = project_,
      .guarded = true,
      .box = confinement.order()};
  Subprocess child = Subprocess::Start(std::move(options)).value();
  pollfd out{.fd = child.stdout_fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&out, 1, 30'000), 1);
  child.Kill(SIGTERM);
  pollfd exit{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&exit, 1, 30'000), 1);
  ASSERT_TRUE(child.Reap());
  child.ReadOutput();
  const Finished finished = child.TakeFinished();
  EXPECT_EQ(finished.out, "ready\nasked\n");
  EXPECT_EQ(finished.exit_code, 5);
}

TEST_P(ConfinementTest, WhatCannotBeSetUpIsSaidAndNotRun) {
  profile_.temp = temp_.Sub("nothing here");
  const Finished finished = Run("echo ran");
  if (!alone()) {
    EXPECT_NE(finished.exit_code, 0);
    EXPECT_EQ(finished.out.find("ran\n"), std::string::npos) << finished.out;
  }
  const Finished none = Subprocess::Run({.argv = {"true"}, .guarded = true, .box = "nonsense"},
                                        Deadline::After(kSafety), {})
                            .value();
  EXPECT_EQ(none.exit_code, guard::kCannotConfine);
  EXPECT_NE(none.err.find("was not run in the sandbox"), std::string::npos);
}

TEST(ChooseTest, WhatAMechanismCannotDoIsAnErrorThatSaysSo) {
  Profile profile;
  profile.network = network::kHosts;
  const Status status = CheckMeans(profile, Mechanism::kLandlockAlone);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kUnsupported);
  EXPECT_NE(status.error().message.find("install bubblewrap"), std::string::npos);
  EXPECT_TRUE(CheckMeans(profile, Mechanism::kBubblewrap));
}

TEST(ChooseTest, OneMechanismCanBeForced) {
  ASSERT_EQ(::setenv(kMechanismVariable, "nonsense", 1), 0);
  const Result<Mechanism> none = Choose(Profile(), Need::kBest);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnsupported);
  ASSERT_EQ(::setenv(kMechanismVariable, "landlock-alone", 1), 0);
  EXPECT_FALSE(Choose(Profile(), Need::kWhole));
  ::unsetenv(kMechanismVariable);
}

}  // namespace
}  // namespace stet::sandbox
