// Ways out of the sandbox, tried through the real program under every mechanism that the machine
// has. Each is first tried without one, where it must work: else the test would prove nothing.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/guard/guard_fixture.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

using sandbox::Mechanism;

constexpr std::string_view kWord = "open-sesame-4711";

/// A process of ours outside, which commands would like to get at.
class Victim {
 public:
  Victim() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }
  [[nodiscard]] bool alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
};

class EscapeTest : public testing::TestWithParam<Mechanism> {
 protected:
  void SetUp() override {
    for (const sandbox::Tried& tried : sandbox::TryAll()) {
      if (tried.mechanism == GetParam() && !tried.works)
        GTEST_SKIP() << "not active: " << tried.why_not;
    }
    std::printf("mechanism: %s\n", std::string(sandbox::MechanismName(GetParam())).c_str());
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(MakeDirs(At("project/.git/hooks")));
    ASSERT_TRUE(MakeDirs(At("user/.ssh")));
    ASSERT_TRUE(ReplaceFile(At("project/.git/config"), kWord, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(At("user/.ssh/id_ed25519"), kWord, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/vault", kWord, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(At("outside"), kWord, Durable::kNo));
    // In the project, so that it is seen inside wherever the build is.
    const Result<std::string> probe = ReadFile(STET_ESCAPE_PROBE);
    ASSERT_TRUE(probe) << probe.error().Text();
    ASSERT_TRUE(ReplaceFile(probe_, *probe, Durable::kNo, 0700));
  }

  [[nodiscard]] std::string At(const std::string& name) const { return apart_.Sub(name); }
  [[nodiscard]] bool alone() const { return GetParam() == Mechanism::kLandlockAlone; }

  [[nodiscard]] SpawnOptions Options(std::vector<std::string> arguments) const {
    SpawnOptions options = program_.Options(std::move(arguments));
    for (const std::string& variable :
         {fmt::format("STET_SANDBOX={}", sandbox::MechanismName(GetParam())), "HOME=" + At("user"),
          fmt::format("MY_API_KEY={}", kWord)})
      options.env->push_back(variable);
    options.cwd = At("project");
    return options;
  }
  static int ExitCode(SpawnOptions options, std::string* out = nullptr) {
    const Result<Finished> finished =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {});
    EXPECT_TRUE(finished) << finished.error().Text();
    if (finished && out != nullptr) *out = finished->out + finished->err;
    return finished ? finished->exit_code : -1;
  }
  /// In the sandbox.
  int Run(std::vector<std::string> command, const std::string& network = "off",
          std::string* out = nullptr) const {
    std::vector<std::string> arguments{"sandbox", "--network", network, "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return ExitCode(Options(std::move(arguments)), out);
  }

  /// It works outside, when `works`, and does not inside, whatever the network.
  void Blocked(std::vector<std::string> attempt, bool works = true,
               const std::string& network = "off") const {
    attempt.insert(attempt.begin(), probe_);
    std::string out;
    EXPECT_EQ(Run(attempt, network, &out), 1) << fmt::format("{}", fmt::join(attempt, " ")) << out;
    if (!works) return;
    SpawnOptions outside = Options({});
    outside.argv = attempt;
    EXPECT_EQ(ExitCode(std::move(outside)), 0) << fmt::format("{}", fmt::join(attempt, " "));
  }

  /// Inside of a chroot the kernel gives no process a user namespace.
  static bool GivesNamespaces() {
    return std::ranges::any_of(sandbox::TryAll(), [](const sandbox::Tried& tried) {
      return tried.works && tried.mechanism != Mechanism::kLandlockAlone;
    });
  }

  Program program_;
  sandbox::ApartDir apart_;
  std::string probe_ = At("project/probe");
};

INSTANTIATE_TEST_SUITE_P(, EscapeTest, testing::ValuesIn(sandbox::kMechanisms),
                         [](const auto& one) {
                           std::string name(sandbox::MechanismName(one.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(EscapeMechanismTest, AtLeastOneMechanismIsActiveHere) {
  std::string active;
  for (const sandbox::Tried& tried : sandbox::TryAll())
    active += fmt::format("{}: {}\n", sandbox::MechanismName(tried.mechanism),
                          tried.works ? "active" : tried.why_not);
  std::printf("%s", active.c_str());
  EXPECT_NE(active.find("active"), std::string::npos) << active;
}

TEST_P(EscapeTest, TheSandboxItselfWorks) {
  EXPECT_EQ(Run({probe_, "write", At("project/new")}), 0);
  EXPECT_EQ(Run({probe_, "read", At("project/.git/config"), std::string(kWord)}), 0);
  EXPECT_EQ(Run({"bash", "-c", "exit 7"}), 7);
}

TEST_P(EscapeTest, WritingOutside) {
  Blocked({"append", At("outside")});
  if (!alone()) Blocked({"chmod", At("outside")});  // Not among its means, which it says.
  Blocked({"write", At("user/new")});
  Blocked({"write", "/etc/stet-escape"}, false);
  Blocked({"write", "/dev/shm/../../etc/stet-escape"}, false);
  Blocked({"rename", At("outside"), At("project/taken")}, false);
  Blocked({"remove", At("outside")}, false);
  EXPECT_TRUE(ReadFile(At("outside")).value().starts_with(kWord));
  Blocked({"truncate", At("outside")});
  EXPECT_FALSE(Exists("/etc/stet-escape"));
}

TEST_P(EscapeTest, ReadingSecrets) {
  const std::string word(kWord);
  const std::string key = At("user/.ssh/id_ed25519");
  for (const std::string& secret : {program_.home() + "/vault", key}) {
    Blocked({"read", secret, word});
    Blocked({"read", "/proc/self/root" + secret, word});
    // From one file system to another there is none anyway.
    Blocked({"hard_link", secret, At("project/hard"), word}, secret == key);
    Blocked({"symlink", secret, At("project/soft"), word});
    Blocked({"proc_root", secret, word, std::to_string(::getpid())});
  }
  Blocked({"handle", At("user/.ssh/id_ed25519")}, ::geteuid() == 0);
  Blocked({"variable", "MY_API_KEY"});
  Blocked({"environments", word}, false);
}

TEST_P(EscapeTest, ReadingWhatIsExcluded) {
  if (alone()) GTEST_SKIP() << "not among the means of landlock-alone, which says so";
  const std::string word(kWord);
  ASSERT_TRUE(MakeDirs(At("project/deep/private")));
  ASSERT_TRUE(ReplaceFile(At("project/.stetignore"), "*.csv\nprivate/\n", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml", "[policy]\nexclude = ['/one']\n",
                          Durable::kNo));
  for (const char* name : {"project/data.csv", "project/deep/private/x", "project/one"}) {
    ASSERT_TRUE(ReplaceFile(At(name), kWord, Durable::kNo));
    Blocked({"read", At(name), word});
    Blocked({"read", "/proc/self/root" + At(name), word});
    Blocked({"hard_link", At(name), At("project/hard"), word});
    Blocked({"symlink", At(name), At("project/soft"), word});
  }
  Blocked({"rename", At("project/data.csv"), At("project/data.txt")}, false);
  Blocked({"rename", At("project/deep"), At("project/flat")}, false);
  Blocked({"write", At("project/.stetignore")}, false);
  EXPECT_EQ(ReadFile(At("project/deep/private/x")).value_or(""), word);
  EXPECT_EQ(Run({probe_, "read", At("project/.git/config"), word}), 0) << "the rest is there";
}

TEST_P(EscapeTest, WhatIsProtectedInTheProject) {
  if (alone()) GTEST_SKIP() << "not among the means of landlock-alone, which says so";
  Blocked({"append", At("project/.git/config")});
  Blocked({"write", At("project/.git/hooks/pre-commit")});
  Blocked({"rename", At("project/.git"), At("project/git")}, false);
  Blocked({"rename", At("project/.git/hooks"), At("project/hooks")}, false);
  Blocked({"write", At("project/.stet")}, false);
  EXPECT_FALSE(Exists(At("project/.stet")));
}

TEST_P(EscapeTest, Connecting) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_GE(listener.get(), 0);
  ASSERT_GE(datagrams.get(), 0);
  ASSERT_EQ(::bind(listener.get(), any, size), 0);
  ASSERT_EQ(::listen(listener.get(), 16), 0);
  ASSERT_EQ(::getsockname(listener.get(), any, &size), 0);
  ASSERT_EQ(::bind(datagrams.get(), any, size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  for (const char* network : {"off", "loopback", "hosts"}) {
    if (alone() && network != std::string_view("off")) continue;
    Blocked({"tcp", port}, true, network);
    (void)Run({probe_, "udp", port}, network);
    pollfd came{.fd = datagrams.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&came, 1, 0), 0) << network;
    Blocked({"vsock"}, false, network);
    Blocked({"packet"}, false, network);
  }
  EXPECT_EQ(Run({probe_, "tcp", port}, "open"), 0) << "open is open";
  Blocked({"vsock"}, false, "open");
}

TEST_P(EscapeTest, SocketsOfTheHost) {
  // As of an agent that keeps keys, in a folder for temporary files.
  const std::string path = fmt::format("/tmp/stet-escape-{}", ::getpid());
  const std::string abstract = fmt::format("@stet-escape-{}", ::getpid());
  std::vector<Fd> listeners;
  // And as of a service that has its socket wherever it likes.
  const std::string far = At("s");
  for (const std::string& name : {path, abstract, far}) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path);
    if (name[0] == '@') address.sun_path[0] = '\0';
    listeners.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listeners.back().get(), reinterpret_cast<sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
    ASSERT_EQ(::listen(listeners.back().get(), 16), 0);
  }
  for (const char* network : {"off", "open"}) {
    Blocked({"unix", path}, true, network);
    Blocked({"unix", abstract}, true, network);
    Blocked({"unix", far}, true, network);
  }
  if (!alone()) Blocked({"unix", far}, true, "hosts");
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST_P(EscapeTest, OtherProcesses) {
  const Victim victim;
  (void)Run({probe_, "kill", victim.pid()});
  (void)Run({"bash", "-c", "kill -9 $PPID"});
  EXPECT_TRUE(victim.alive());
  Blocked({"trace_child"});
  Blocked({"trace", victim.pid()}, false);
  Blocked({"open_memory", victim.pid()});
  Blocked({"read_memory", victim.pid(),
           fmt::format("{:x}", reinterpret_cast<std::uintptr_t>(kWord.data()))});
  Blocked({"join", victim.pid()}, ::geteuid() == 0);
  EXPECT_TRUE(victim.alive());
  Blocked({"kill", victim.pid()});
}

TEST_P(EscapeTest, Privileges) {
  const bool root = ::geteuid() == 0;
  ASSERT_TRUE(MakeDirs(At("project/place")));
  Blocked({"mount", At("project/place"), program_.home()}, false);
  Blocked({"unshare"}, GivesNamespaces());
  Blocked({"clone_user"}, GivesNamespaces());
  Blocked({"chroot"}, root);
  Blocked({"setuid_file", At("project/set")});
  Blocked({"device", At("project/disk")}, false);
  Blocked({"terminal"}, root);
  Blocked({"keys"}, root);
  Blocked({"bpf"}, root);
  Blocked({"ring"}, root);
  std::string out;
  EXPECT_EQ(
      Run({"bash", "-c", "grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs' /proc/self/status"}, "off", &out),
      0);
  EXPECT_NE(out.find("CapEff:\t0000000000000000"), std::string::npos) << out;
  EXPECT_NE(out.find("NoNewPrivs:\t1"), std::string::npos) << out;
}

TEST_P(EscapeTest, NothingIsLeftWhenTheProgramIsKilled) {
  const std::string mark = "STET_TEST_MARK=" + program_.work();
  SpawnOptions options =
      Options({"sandbox", "--network", "off", "--", "bash", "-c",
               "export " + mark + "; setsid sleep 1000 & (sleep 1000 &); echo ready; sleep 1000"});
  Subprocess child = Subprocess::Start(std::move(options)).value();
  pollfd out{.fd = child.stdout_fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&out, 1, 30'000), 1);
  ASSERT_EQ(::kill(child.pid(), SIGKILL), 0);
  EXPECT_EQ(AwaitNone(mark, Deadline::After(std::chrono::seconds(10))), std::vector<pid_t>());
}

TEST_P(EscapeTest, AProcessThatIsLeftBehind) {
  const std::string mark = "STET_TEST_MARK=" + program_.work();
  EXPECT_EQ(
      Run({"bash", "-c",
           "export " + mark + "; setsid nohup sleep 1000 >/dev/null 2>&1 & (sleep 1000 &); :"}),
      0);
  EXPECT_EQ(AwaitNone(mark, Deadline::After(std::chrono::seconds(10))), std::vector<pid_t>());
}

}  // namespace
}  // namespace stet::scenario
