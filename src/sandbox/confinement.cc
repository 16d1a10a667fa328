#include "sandbox/confinement.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "sandbox/box.h"
#include "sandbox/landlock.h"

namespace stet::sandbox {
namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{1} << 20;

}  // namespace

Status CheckMeans(const Profile& profile, Mechanism mechanism) {
  if (mechanism == Mechanism::kNamespaces && profile.only_reads() &&
      LandlockVersion() < kLandlockTruncates)
    return Fail(Code::kUnsupported,
                "what may not be read is kept by Landlock 3 (Linux 6.2), which the kernel lacks");
  if (mechanism != Mechanism::kLandlockAlone) return {};
  if (profile.takes_nothing_else())
    return Fail(Code::kUnsupported, "can hide nothing without keeping new files from being read");
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

/// A socket, and not an empty file: nobody can open it, root neither, so that nothing takes what is
/// hidden for empty and writes that down (git would commit it).
Status Confinement::MakeStandIn() {
  ASSIGN_OR_RETURN(OwnFolder folder, OwnFolder::Make("stet-box-"));
  empty_ = folder.path() + "/hidden";
  folder_.emplace(std::move(folder));
  if (::mknod(empty_.c_str(), S_IFSOCK, 0) != 0) return FailSystem(errno, "make " + empty_);
  return {};
}

Status Confinement::MakeFiles() {
  if (profile_.takes_nothing_else()) return MakeStandIn();
  const bool namespaces = mechanism_ == Mechanism::kNamespaces;
  const bool reports = profile_.network == network::kHosts;
  if (namespaces && !reports) return {};
  ASSIGN_OR_RETURN(OwnFolder folder, OwnFolder::Make("stet-box-"));
  const std::string path = folder.path();
  folder_.emplace(std::move(folder));
  if (reports) {
    report_ = path + "/report";
    RETURN_IF_ERROR(ReplaceFile(report_, "", Durable::kNo));
  }
  if (namespaces) return {};
  empty_ = path + "/empty";
  RETURN_IF_ERROR(ReplaceFile(empty_, "", Durable::kNo, 0444));
  if (!profile_.temp.empty()) return {};
  profile_.temp = path + "/tmp";
  return MakeDirs(profile_.temp);
}

Result<Confinement> Confinement::Make(Profile profile, Mechanism mechanism) {
  RETURN_IF_ERROR(CheckMeans(profile, mechanism));
  Confinement made(std::move(profile), mechanism);
  RETURN_IF_ERROR(made.MakeFiles());
  made.order_ = Encode(BoxOrder{.mechanism = std::string(MechanismName(mechanism)),
                                .profile = made.profile_,
                                .empty = made.empty_,
                                .report = made.report_});
  return made;
}

Texts Confinement::RefusedHosts() const {
  constexpr std::string_view kRefused = "refused ";
  if (report_.empty()) return {};
  const std::string report = ReadFile(report_, kMaxReportBytes).value_or("");
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
