#include "sandbox/blocked.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace stet::sandbox {
namespace {

/// Lines that are told of; the rest says the same.
constexpr std::size_t kMaxTold = 3;

constexpr std::array<std::string_view, 6> kWriteErrors = {
    "Read-only file system",  "Permission denied", "Operation not permitted", "EROFS", "EACCES",
    "Device or resource busy"};
/// Of the socket that stands for a hidden file.
constexpr std::array<std::string_view, 2> kStandInErrors = {"No such device or address", "ENXIO"};
constexpr std::array<std::string_view, 2> kAbsenceErrors = {"No such file or directory", "ENOENT"};
constexpr std::array<std::string_view, 9> kNetworkErrors = {"Could not resolve host",
                                                            "Temporary failure in name resolution",
                                                            "Network is unreachable",
                                                            "network is unreachable",
                                                            "EAI_AGAIN",
                                                            "ENETUNREACH",
                                                            "Name or service not known",
                                                            "No route to host",
                                                            "dial tcp"};
constexpr std::array<std::string_view, 6> kMemoryErrors = {
    "cannot allocate", "Cannot allocate memory", "out of memory", "Out of memory", "MemoryError",
    "bad_alloc"};
constexpr std::array<std::string_view, 6> kTraceErrors = {
    "ptrace", "Could not attach", "unshare", "PTRACE", "setns", "io_uring"};

template <std::size_t N>
bool HasAny(std::string_view line, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return line.contains(word); });
}

/// The paths that a line of an error names.
std::vector<std::string> PathsIn(std::string_view line, std::string_view cwd) {
  constexpr std::string_view kEnds = " \t'\"`:,;()[]<>=";
  std::vector<std::string> paths;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(kEnds), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kEnds), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    if (!word.contains('/') || word.starts_with("//")) continue;
    paths.push_back((std::filesystem::path(cwd) / word).lexically_normal());
  }
  return paths;
}

/// The name before what went wrong, as programs say it: `touch: cannot touch 'made': Read-only file
/// system`, `bash: line 1: made: Permission denied`. Empty: none.
std::string_view NameBefore(std::string_view line, std::string_view error) {
  line = line.substr(0, line.find(error));
  if (!line.ends_with(": ")) return "";
  line.remove_suffix(2);
  const std::size_t colon = line.rfind(": ");
  if (colon == std::string_view::npos) return "";
  line.remove_prefix(colon + 2);
  const std::size_t quote = line.find('\'');
  if (quote == std::string_view::npos) return line.contains(' ') ? "" : line;
  line.remove_prefix(quote + 1);
  return line.substr(0, line.find('\''));
}

/// The deepest of `folders` that the path is in.
std::string_view Deepest(const Texts& folders, std::string_view path) {
  std::string_view deepest;
  for (const std::string& folder : folders) {
    if (Inside(path, folder) && folder.size() > deepest.size()) deepest = folder;
  }
  return deepest;
}

std::string ExplainRead(const Profile& profile, const std::string& path) {
  const bool own = Inside(path, "/tmp") || Inside(path, "/dev");
  if (own || !Deepest(profile.writable, path).empty()) return "";
  if (Deepest(profile.readable, path).empty())
    return fmt::format("reading {} was prevented: it is outside of the project", path);
  return fmt::format("writing {} was prevented", path);
}

std::string ExplainPath(const Profile& profile, const std::string& path, bool absence) {
  const std::string_view hidden = Deepest(profile.hidden, path);
  const std::string_view fixed = Deepest(profile.read_only, path);
  const std::string_view writable = Deepest(profile.writable, path);
  if (!hidden.empty() && hidden.size() >= std::max(fixed.size(), writable.size()))
    return fmt::format("{} is hidden from commands", path);
  if (absence) return "";
  if (profile.takes_nothing_else())
    return fixed.empty() ? "" : fmt::format("{} may not be changed: a rule denies it", path);
  if (profile.only_reads()) return ExplainRead(profile, path);
  if (!fixed.empty() && fixed.size() >= writable.size())
    return fmt::format("{} is protected: commands may not change it", path);
  if (!writable.empty() || Inside(path, "/tmp") || Inside(path, "/dev") || Inside(path, "/proc"))
    return "";
  return fmt::format("{} is outside of what commands may write ([sandbox] write adds folders)",
                     path);
}

class Explainer {
 public:
  explicit Explainer(const Ending& ending) : ending_(ending) {}

  std::string Explain() {
    for (const std::string& host : ending_.refused_hosts)
      Tell(fmt::format(
          "{} is not among the hosts that commands may reach ([sandbox] hosts adds it)", host));
    if (ending_.exit_code != 0) {
      std::string_view rest = ending_.output;
      rest.remove_prefix(rest.size() - std::min(rest.size(), kMaxBlockedBytes));
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        LookAt(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    if (told_.empty()) return "";
    std::string text;
    for (const std::string& one : told_) text += fmt::format("(The sandbox: {}.)\n", one);
    if (ending_.profile.takes_nothing_else()) return text;
    if (ending_.profile.only_reads())
      return text +
             "(It was judged to only read, and ran unasked. Call it again, and it is asked.)\n";
    return text +
           "(If it is needed, call Bash again with dangerouslyDisableSandbox: the user is asked "
           "whether it may run once without the sandbox.)\n";
  }

 private:
  void LookAt(std::string_view line) {
    const bool absence = HasAny(line, kAbsenceErrors);
    const bool stand_in = ending_.profile.takes_nothing_else() && HasAny(line, kStandInErrors);
    if (absence || stand_in || HasAny(line, kWriteErrors)) {
      const std::vector<std::string> paths = PathsIn(line, ending_.cwd);
      for (const std::string& path : paths) Tell(ExplainPath(ending_.profile, path, absence));
      if (paths.empty() && !absence) LookAtName(line);
    }
    if (ending_.profile.takes_nothing_else()) return;
    if (ending_.profile.network != network::kOpen && ending_.refused_hosts.empty() &&
        HasAny(line, kNetworkErrors))
      Tell(ending_.profile.network == network::kHosts
               ? "only programs that use HTTP(S)_PROXY reach the hosts that are allowed ([sandbox] "
                 "hosts)"
               : fmt::format("there is no network ([sandbox] network = \"{}\")",
                             ending_.profile.network));
    if (ending_.profile.limits.data_bytes > 0 && HasAny(line, kMemoryErrors))
      Tell(fmt::format("what runs unasked may fill {} MB of memory, each process",
                       ending_.profile.limits.data_bytes >> 20));
    LookForMachine(line);
    if (line.contains("Operation not permitted") && HasAny(line, kTraceErrors))
      Tell("commands may not trace processes, mount, or make namespaces");
  }

  /// A loopback of its own is all that it has of this machine.
  void LookForMachine(std::string_view line) {
    constexpr std::array<std::string_view, 4> kRefused = {"Connection refused", "ECONNREFUSED",
                                                          "Failed to connect to", "curl: (7)"};
    constexpr std::array<std::string_view, 3> kMachine = {"localhost", "127.0.0.1", "::1"};
    const std::string_view network = ending_.profile.network;
    const bool own = network == network::kHosts || network == network::kLoopback;
    if (own && HasAny(line, kRefused) && HasAny(line, kMachine))
      Tell(
          "commands have a loopback of their own, each: servers of this machine, and of other "
          "commands, are not there ([sandbox] hosts = [\"localhost\"] opens this machine's)");
  }

  /// Of a file in the working directory a program says the name alone.
  void LookAtName(std::string_view line) {
    std::vector<std::string_view> errors(kWriteErrors.begin(), kWriteErrors.end());
    if (ending_.profile.takes_nothing_else())
      errors.insert(errors.end(), kStandInErrors.begin(), kStandInErrors.end());
    for (const std::string_view error : errors) {
      const std::string_view name = NameBefore(line, error);
      if (name.empty() || name.contains('/')) continue;
      Tell(ExplainPath(ending_.profile, fmt::format("{}/{}", ending_.cwd, name), false));
    }
  }

  void Tell(std::string what) {
    if (what.empty() || told_.size() >= kMaxTold || std::ranges::find(told_, what) != told_.end())
      return;
    told_.push_back(std::move(what));
  }

  const Ending& ending_;
  std::vector<std::string> told_;
};

}  // namespace

std::string ExplainBlocked(const Ending& ending) { return Explainer(ending).Explain(); }

}  // namespace stet::sandbox
