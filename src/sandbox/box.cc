#include "sandbox/box.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/guard/guard.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/capabilities.h"
#include "sandbox/hiding.h"
#include "sandbox/inside.h"
#include "sandbox/mounts.h"
#include "sandbox/namespaces.h"
#include "sandbox/placeholders.h"
#include "sandbox/proxy.h"
#include "sandbox/sockets.h"

namespace stet::sandbox {
namespace {

constexpr std::string_view kInner = "stet-confine-inner";
constexpr std::size_t kMaxOrderBytes = std::size_t{4} << 20;
constexpr int kNotExecutable = 126;
constexpr int kNoSuchCommand = 127;

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A file in memory with these bytes, at its beginning, open across exec.
Result<int> MemoryFile(std::string_view bytes) {
  Fd fd(::memfd_create("stet", 0));
  if (!fd) return FailSystem(errno, "make a file in memory");
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd.release();
}

/// Not one that a command could have put there. Empty: none.
std::string FindBubblewrap(const Profile& profile) {
  const char* path = ::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : "/usr/bin"; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool writable = std::ranges::any_of(
        profile.writable, [&](const std::string& one) { return Inside(folder, one); });
    const std::string file = folder + "/bwrap";
    if (folder.starts_with('/') && !writable && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

class CommandBox final : public guard::Box {
 public:
  CommandBox(BoxOrder order, Mechanism mechanism)
      : order_(std::move(order)), mechanism_(mechanism) {}

  [[nodiscard]] bool MayHaveUserNamespace() const override {
    // One that only hides makes its own, and leaves the processes as they are.
    return mechanism_ == Mechanism::kNamespaces && !order_.profile.takes_nothing_else();
  }

  Status Prepare() override {
    if (order_.profile.takes_nothing_else()) return {};
    if (mechanism_ != Mechanism::kLandlockAlone) placeholders_.Make(order_.profile.read_only);
    return order_.profile.network == network::kHosts ? StartProxy() : Status();
  }

  Status Enter(std::vector<std::string>& command) override {
    if (order_.profile.takes_nothing_else()) return EnterHiding(command);
    if (mechanism_ == Mechanism::kBubblewrap) return WrapInBubblewrap(command);
    if (mechanism_ == Mechanism::kNamespaces)
      RETURN_IF_ERROR(EnterNamespaces(
          Mounts(),
          {.temp = order_.profile.temp, .network = order_.profile.network != network::kOpen}));
    return GiveUp({.profile = order_.profile, .mechanism = mechanism_, .proxy = proxy_});
  }

 private:
  /// What was found a moment ago and is gone now may have been moved to where it would be seen.
  Status EnterHiding(std::vector<std::string>& command) {
    const std::vector<Mount> mounts = PlanHiding(order_.profile);
    for (const Texts* paths : {&order_.profile.hidden, &order_.profile.read_only}) {
      for (const std::string& path : *paths) {
        if (std::ranges::find(mounts, path, &Mount::path) == mounts.end())
          return Fail(Code::kConflict, path + " was moved meanwhile. Try again");
      }
    }
    if (mechanism_ == Mechanism::kBubblewrap) return WrapInBubblewrap(command);
    return HideFromHere(mounts, order_.empty);
  }

  [[nodiscard]] std::vector<std::string> BubblewrapOptions(const BubblewrapWish& wish) const {
    if (order_.profile.takes_nothing_else())
      return HidingArguments(PlanHiding(order_.profile), wish);
    return BubblewrapArguments(order_.profile, Mounts(), wish);
  }

  /// Where a command may have sockets at all, those of this machine are hidden from it.
  [[nodiscard]] std::vector<Mount> Mounts() const {
    const Profile& profile = order_.profile;
    std::vector<Mount> mounts = PlanMounts(profile);
    if (profile.only_reads() || profile.network == network::kOff) return mounts;
    std::ranges::move(PlanSockets(profile), std::back_inserter(mounts));
    return mounts;
  }

  /// A child of the guard, so it ends with the command at the latest.
  Status StartProxy() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return FailSystem(errno, "make a socket for the proxy");
    const int report = ::open(order_.report.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    const pid_t guard = ::getpid();
    const pid_t child = ::fork();
    if (child == 0)
      ServeProxy(order_.profile.hosts, {.control = ends[0], .report = report, .command = guard});
    ::close(ends[0]);
    if (report >= 0) ::close(report);
    proxy_ = ends[1];
    if (child < 0) return FailSystem(errno, "start the proxy");
    return {};
  }

  /// bwrap calls this program again, inside.
  Status WrapInBubblewrap(std::vector<std::string>& command) {
    const std::string program = FindBubblewrap(order_.profile);
    if (program.empty()) return Fail(Code::kUnsupported, "bwrap is not installed");
    std::array<char, 4096> cwd{};
    if (::getcwd(cwd.data(), cwd.size()) == nullptr)
      return FailSystem(errno, "find the working directory");
    std::string arguments;
    for (const std::string& one :
         BubblewrapOptions({.cwd = cwd.data(), .empty = order_.empty, .privileged = MayMount()}))
      arguments += one + '\0';
    ASSIGN_OR_RETURN(const int options, MemoryFile(arguments));
    ASSIGN_OR_RETURN(const int order, MemoryFile(Encode(order_)));
    if (proxy_ >= 0) ::fcntl(proxy_, F_SETFD, 0);  // bwrap hands it on.
    const int self = ::open(guard::kProgram, O_RDONLY);
    if (self < 0) return FailSystem(errno, "open this program");
    std::vector<std::string> line{program,
                                  "--args",
                                  fmt::format("{}", options),
                                  "--",
                                  fmt::format("/proc/self/fd/{}", self),
                                  std::string(kInner),
                                  fmt::format("{}", order),
                                  fmt::format("{}", proxy_)};
    std::ranges::move(command, std::back_inserter(line));
    command = std::move(line);
    // The process that waits outside must not end before the command by a signal meant for that.
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    return {};
  }

  BoxOrder order_;
  Mechanism mechanism_;
  Placeholders placeholders_;
  int proxy_ = -1;  // This side's end of the socket to the proxy; -1: there is none.
};

int Number(const char* text) {
  int number = -1;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

[[noreturn]] void BeInner(int order_fd, int proxy, std::vector<std::string> command) {
  const Status inside = [&]() -> Status {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadFile(fmt::format("/proc/self/fd/{}", order_fd), kMaxOrderBytes));
    ASSIGN_OR_RETURN(const BoxOrder order, Decode<BoxOrder>(text));
    if (order.profile.takes_nothing_else()) return {};
    return GiveUp({.profile = order.profile, .mechanism = Mechanism::kBubblewrap, .proxy = proxy});
  }();
  if (!inside) {
    (void)WriteAll(STDERR_FILENO, fmt::format("stet: the command was not run in the sandbox: {}\n",
                                              inside.error().Text()));
    ::_exit(guard::kCannotConfine);
  }
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  const std::vector<char*> argv = Pointers(command);
  ::execvp(argv[0], argv.data());
  const int why = errno;
  (void)WriteAll(STDERR_FILENO, fmt::format("stet: {}: {}\n", argv[0], std::strerror(why)));
  ::_exit(why == ENOENT ? kNoSuchCommand : kNotExecutable);
}

}  // namespace

Result<std::unique_ptr<guard::Box>> MakeBox(std::string_view order) {
  ASSIGN_OR_RETURN(BoxOrder wanted, Decode<BoxOrder>(order));
  const auto mechanism = MechanismFrom(wanted.mechanism);
  if (!mechanism) return Fail(Code::kInvalid, "the order names no mechanism");
  return std::make_unique<CommandBox>(std::move(wanted), *mechanism);
}

void BecomeConfinedIfAsked(int argc, char** argv) {
  constexpr int kFirst = 4;
  if (argc > kFirst && argv[1] == kInner)
    BeInner(Number(argv[2]), Number(argv[3]), {argv + kFirst, argv + argc});
}

}  // namespace stet::sandbox
