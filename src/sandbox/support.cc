#include "sandbox/support.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/subprocess/subprocess.h"
#include "base/text.h"
#include "sandbox/confinement.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

namespace stet::sandbox {
namespace {

constexpr std::chrono::seconds kPatience{10};

/// A file that is there everywhere; the trial must not see what is in it.
constexpr const char* kHiddenInTrial = "/etc/passwd";

Profile TrialProfile(Mechanism mechanism, bool hides) {
  Profile profile;
  if (hides) {
    profile.only_hides = true;
    std::error_code error;
    profile.hidden = {std::filesystem::canonical(kHiddenInTrial, error).string()};
    profile.network = network::kOpen;
    return profile;
  }
  profile.network = mechanism == Mechanism::kLandlockAlone ? network::kOff : network::kLoopback;
  return profile;
}

/// Runs `true` in it; where it only hides, a look at what is hidden. The reason why that did not
/// work, empty when it did.
std::string Try(Mechanism mechanism, bool hides) {
  if (!SeccompIsKnown()) return "there is no filter of system calls for this processor";
  if (const int version = LandlockVersion();
      mechanism == Mechanism::kLandlockAlone && version < kLandlockScopes)
    return version == 0 ? std::string("the kernel has no Landlock")
                        : fmt::format("the kernel has Landlock {}, {} is needed (Linux 6.12)",
                                      version, kLandlockScopes);
  const Result<Confinement> made = Confinement::Make(TrialProfile(mechanism, hides), mechanism);
  if (!made) return made.error().Text();
  // Without our environment: there may be keys in it.
  const char* path = ::getenv("PATH");
  std::vector<std::string> command{"true"};
  if (hides) command = {"sh", "-c", fmt::format("! test -f {}", kHiddenInTrial)};
  SpawnOptions options{.argv = std::move(command),
                       .env = {{fmt::format("PATH={}", path != nullptr ? path : "/usr/bin:/bin")}},
                       .cwd = "/",
                       .guarded = true,
                       .box = made->order()};
  const Result<Finished> ran =
      Subprocess::Run(std::move(options), Deadline::After(kPatience), CancelToken());
  if (!ran) return ran.error().Text();
  if (ran->end == Finished::End::kExited && ran->exit_code == 0) return "";
  const std::string said(FirstLine(ran->err));
  return said.empty() ? fmt::format("it ended with {}", ran->exit_code) : said;
}

const Tried& TryOnce(Mechanism mechanism, bool hides = false) {
  static std::mutex mutex;
  static std::array<std::array<std::optional<Tried>, std::size(kMechanisms)>, 2> results;
  const std::lock_guard lock(mutex);
  std::optional<Tried>& result = results[hides ? 1 : 0][static_cast<std::size_t>(mechanism)];
  if (!result) {
    std::string why_not = Try(mechanism, hides);
    result = Tried{mechanism, why_not.empty(), std::move(why_not)};
  }
  return *result;
}

/// What speaks against it, but that it does not work.
Status Suits(const Profile& profile, Mechanism mechanism, Need need) {
  if (mechanism == Mechanism::kLandlockAlone && need == Need::kWhole && !profile.only_reads())
    return Fail(Code::kUnsupported, fmt::format("is not enough: {}", Shortcoming(mechanism)));
  return CheckMeans(profile, mechanism);
}

}  // namespace

std::vector<Tried> TryAll() {
  std::vector<Tried> all;
  for (const Mechanism one : kMechanisms) all.push_back(TryOnce(one));
  return all;
}

Result<Mechanism> Choose(const Profile& profile, Need need) {
  const char* forced = ::getenv(kMechanismVariable);
  std::string reasons;
  for (const Mechanism one : kMechanisms) {
    if (forced != nullptr && *forced != '\0' && MechanismName(one) != forced) continue;
    const Tried& tried = TryOnce(one, profile.takes_nothing_else());
    const Status suits = Suits(profile, one, need);
    if (tried.works && suits) return one;
    reasons += fmt::format("; {}: {}", MechanismName(one),
                           tried.works ? suits.error().message : tried.why_not);
  }
  if (reasons.empty())
    return Fail(
        Code::kUnsupported,
        fmt::format("${} names no mechanism: write namespaces, bubblewrap or landlock-alone",
                    kMechanismVariable));
  return Fail(Code::kUnsupported,
              fmt::format("no sandbox works here{}. Install bubblewrap, or allow user namespaces",
                          reasons));
}

std::string_view Shortcoming(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kNamespaces:
    case Mechanism::kBubblewrap: return "";
    case Mechanism::kLandlockAlone:
      return "commands see other processes and the names of hidden files, can change .git/hooks "
             "and the like and read what is excluded inside of writable folders, can change the "
             "modes of files outside, and have no "
             "loopback of their own";
  }
  return "";
}

}  // namespace stet::sandbox
