#include "sandbox/confinement.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "sandbox/confine.h"
#include "sandbox/mounts.h"

namespace stet::sandbox {
namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{1} << 20;

/// The empty folders that stand where nothing may be made, in this process: those of one command
/// must not go before those of another that runs at the same time.
class Places {
 public:
  Texts CountUse(const Profile& profile) {
    const std::lock_guard lock(mutex_);
    Texts taken = AbsentPaths(profile);
    for (const std::string& path : profile.read_only) {
      if (counts_.contains(path) && std::ranges::find(taken, path) == taken.end())
        taken.push_back(path);
    }
    for (const std::string& path : taken) ++counts_[path];
    return taken;
  }
  void Return(const Texts& taken) {
    const std::lock_guard lock(mutex_);
    for (const std::string& path : taken) {
      if (--counts_[path] > 0) continue;
      counts_.erase(path);
      // Only an empty folder is removed: another process may have put something into it meanwhile.
      ::rmdir(path.c_str());
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

Places& ThePlaces() {
  static Places places;
  return places;
}

}  // namespace

Status CheckMeans(const Profile& profile, Mechanism mechanism) {
  if (mechanism != Mechanism::kLandlockAlone) return {};
  if (profile.network == network::kLoopback || profile.network == network::kHosts)
    return Fail(Code::kUnsupported,
                fmt::format("network \"{}\" needs namespaces, which this system does not give: "
                            "install bubblewrap, or set [sandbox] network to \"off\" or \"open\"",
                            profile.network));
  return {};
}

Result<OwnFolder> OwnFolder::Make(std::string_view prefix) {
  const char* chosen = ::getenv("TMPDIR");
  ASSIGN_OR_RETURN(std::string path,
                   MakeTempDir(chosen != nullptr && *chosen == '/' ? chosen : "/tmp", prefix));
  return OwnFolder(std::move(path));
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

OwnFolder::~OwnFolder() {
  // Ignoring the error on purpose: a folder left behind says what it is.
  if (!path_.empty()) (void)RemoveTree(path_);
}

Result<Confinement> Confinement::Make(Profile profile, Mechanism mechanism) {
  if (!CanConfine()) return Fail(Code::kUnsupported, "this program has no sandbox");
  RETURN_IF_ERROR(CheckMeans(profile, mechanism));
  ASSIGN_OR_RETURN(OwnFolder folder, OwnFolder::Make("stet-box-"));
  ConfineOrder order;
  order.report = folder.path() + "/report";
  RETURN_IF_ERROR(ReplaceFile(order.report, "", Durable::kNo));
  order.empty = folder.path() + "/empty";
  RETURN_IF_ERROR(ReplaceFile(order.empty, "", Durable::kNo, 0444));
  if (profile.temp.empty()) {
    profile.temp = folder.path() + "/tmp";
    RETURN_IF_ERROR(MakeDirs(profile.temp));
  }
  order.mechanism = MechanismName(mechanism);
  order.profile = profile;
  RETURN_IF_ERROR(ReplaceFile(folder.path() + "/order", Encode(order), Durable::kNo));
  Confinement made(std::move(folder), std::move(profile), mechanism);
  made.absent_ = ThePlaces().CountUse(made.profile_);
  return made;
}

Confinement::~Confinement() { ThePlaces().Return(absent_); }

std::vector<std::string> Confinement::Wrap(std::vector<std::string> command) const {
  return ConfineArguments(folder_.path() + "/order", std::move(command));
}

Texts Confinement::RefusedHosts() const {
  constexpr std::string_view kRefused = "refused ";
  const std::string report = ReadFile(folder_.path() + "/report", kMaxReportBytes).value_or("");
  Texts hosts;
  for (std::string_view rest = report; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with(kRefused)) continue;
    const std::string host(line.substr(kRefused.size()));
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace stet::sandbox
