#include "base/guard/descendants.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/guard/guard.h"

namespace stet::guard {

namespace {

/// How many processes are held at once; a usual limit of descriptors is 1024.
constexpr std::size_t kBatch = 256;
/// How often we look for new processes before those found are killed. A process that forks faster
/// is caught in a later round, when the processes that it made have been killed.
constexpr int kMaxLooks = 20;
constexpr long kFirstWaitNs = 500'000;
constexpr long kMaxWaitNs = 50'000'000;
constexpr std::size_t kMaxProcFile = std::size_t{4} << 20;

pid_t NumberIn(std::string_view text) {
  pid_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// The parent's number; -1 when there is no such process.
pid_t ParentOf(pid_t pid) {
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid), kMaxProcFile);
  if (!stat) return -1;
  // "7 (name) S 1 ...": a name may have anything in it.
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat->size()) return -1;
  const std::string_view rest = std::string_view(*stat).substr(name_end + 4);
  return NumberIn(rest.substr(0, rest.find(' ')));
}

std::vector<pid_t> NumbersIn(const std::string& folder) {
  std::vector<pid_t> numbers;
  const auto entries = ListDir(folder);
  if (!entries) return numbers;
  for (const DirEntry& entry : *entries) {
    if (const pid_t number = NumberIn(entry.name); number > 0) numbers.push_back(number);
  }
  return numbers;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const pid_t task : NumbersIn(tasks)) {
    const auto list = ReadFile(fmt::format("{}/{}/children", tasks, task), kMaxProcFile);
    if (!list) continue;
    std::string_view rest = *list;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (const pid_t child = NumberIn(rest.substr(0, end)); child > 0) children.push_back(child);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return children;
}

std::unordered_map<pid_t, std::vector<pid_t>> AllChildren() {
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : NumbersIn("/proc")) {
    if (const pid_t parent = ParentOf(pid); parent > 0) children[parent].push_back(pid);
  }
  return children;
}

/// Held by descriptors that cannot come to mean another process.
std::vector<Fd> OpenAll(const Descendant* begin, const Descendant* end) {
  std::vector<Fd> held;
  for (const Descendant* process = begin; process != end; ++process) {
    Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, process->pid, 0)));
    if (fd && ParentOf(process->pid) == process->parent) held.push_back(std::move(fd));
  }
  return held;
}

/// Stops all there are, until a look finds none that was not stopped before.
void StopDescendants(From from) {
  std::unordered_set<pid_t> seen;
  for (int look = 0; look < kMaxLooks; ++look) {
    std::vector<Descendant> found = Descendants(::getpid(), from);
    std::erase_if(found, [&](const Descendant& one) { return !seen.insert(one.pid).second; });
    if (found.empty()) return;
    Signal(found, SIGSTOP);
  }
}

/// False when there is no child left.
bool ReapWhatEnded() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return pid == 0;
  }
}

void AwaitChild(long wait_ns) {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const timespec wait{.tv_sec = 0, .tv_nsec = wait_ns};
  ::sigtimedwait(&child, nullptr, &wait);
}

}  // namespace

From BestSource() {
  const pid_t self = ::getpid();
  const std::string list = fmt::format("/proc/{0}/task/{0}/children", self);
  return ::access(list.c_str(), R_OK) == 0 ? From::kChildren : From::kStat;
}

std::vector<Descendant> Descendants(pid_t root, From from) {
  std::unordered_map<pid_t, std::vector<pid_t>> all;
  if (from == From::kStat) all = AllChildren();
  std::vector<Descendant> found;
  std::unordered_set<pid_t> seen{root};
  pid_t parent = root;
  for (std::size_t next = 0;; ++next) {
    for (const pid_t child : from == From::kStat ? all[parent] : ChildrenOf(parent)) {
      if (seen.insert(child).second) found.push_back({.pid = child, .parent = parent});
    }
    if (next == found.size()) return found;
    parent = found[next].pid;
  }
}

void Signal(const std::vector<Descendant>& processes, int signal) {
  for (std::size_t at = 0; at < processes.size(); at += kBatch) {
    // All of them are held before one is signalled: the end of a parent changes its children's.
    const std::size_t end = std::min(at + kBatch, processes.size());
    for (const Fd& held : OpenAll(processes.data() + at, processes.data() + end))
      ::syscall(SYS_pidfd_send_signal, held.get(), signal, nullptr, 0);
  }
}

bool IsUnderGuard(pid_t pid) {
  constexpr int kMostAncestors = 1000;
  const auto ancestors = [](pid_t of) {
    std::vector<pid_t> found;
    for (pid_t at = of; at > 1 && found.size() < kMostAncestors; at = ParentOf(at))
      found.push_back(at);
    return found;
  };
  const std::vector<pid_t> own = ancestors(::getpid());
  const std::vector<pid_t> others = ancestors(pid);
  if (others.empty() || ParentOf(pid) < 0) return true;
  return std::ranges::any_of(others, [&](pid_t one) {
    if (std::ranges::find(own, one) != own.end()) return false;
    return ReadFile(fmt::format("/proc/{}/comm", one), kMaxProcFile).value_or("") ==
           std::string(kName) + "\n";
  });
}

void KillDescendants() {
  const From from = BestSource();
  for (long wait_ns = kFirstWaitNs; ReapWhatEnded(); wait_ns = std::min(wait_ns * 2, kMaxWaitNs)) {
    StopDescendants(from);
    Signal(Descendants(::getpid(), from), SIGKILL);
    AwaitChild(wait_ns);
  }
}

}  // namespace stet::guard
