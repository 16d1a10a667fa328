// sandbox_bench: measures what a sandbox adds to a command. One JSON line per mechanism.
#include <cstdio>

#include "base/guard/guard.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "bench/measure.h"
#include "sandbox/box.h"
#include "sandbox/confinement.h"
#include "sandbox/support.h"

namespace stet::bench {
namespace {

constexpr int kRuns = 200;
constexpr std::chrono::seconds kPatience{60};

constexpr std::string_view kHelp =
    R"(sandbox_bench: measures what a sandbox adds to `true`, under a guard as commands of models are.

One JSON line per mechanism and network: medians of 200, in ms, taken in turns with runs without; quick: of the fastest tenth.
It takes no arguments. Measure on a quiet machine, with a release build.
)";

/// How long one run of `true` takes, in milliseconds.
Result<double> Once(const sandbox::Profile& profile, std::optional<sandbox::Mechanism> mechanism) {
  const Stopwatch watch;
  SpawnOptions options{.argv = {"true"}, .cwd = profile.writable[0], .guarded = true};
  std::optional<sandbox::Confinement> confinement;
  if (mechanism) {
    ASSIGN_OR_RETURN(sandbox::Confinement made, sandbox::Confinement::Make(profile, *mechanism));
    confinement.emplace(std::move(made));
    options.box = confinement->order();
  }
  ASSIGN_OR_RETURN(const Finished finished,
                   Subprocess::Run(std::move(options), Deadline::After(kPatience), CancelToken()));
  if (finished.exit_code != 0) return Fail(Code::kIo, "the command failed: " + finished.err);
  return watch.ms();
}

/// What it takes when no other process is in the way: of the fastest tenth, the slowest.
double Quick(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 10];
}

Status Measure(const sandbox::Profile& profile, sandbox::Mechanism mechanism) {
  std::vector<double> without;
  std::vector<double> within;
  for (int run = 0; run < kRuns; ++run) {
    ASSIGN_OR_RETURN(const double plain, Once(profile, std::nullopt));
    ASSIGN_OR_RETURN(const double boxed, Once(profile, mechanism));
    without.push_back(plain);
    within.push_back(boxed);
  }
  std::printf(
      "{\"mechanism\":\"%s\",\"network\":\"%s\",\"without_ms\":%.2f,\"within_ms\":%.2f,"
      "\"added_ms\":%.2f,\"quick_added_ms\":%.2f}\n",
      std::string(sandbox::MechanismName(mechanism)).c_str(), profile.network.c_str(),
      Median(without), Median(within), Median(within) - Median(without),
      Quick(within) - Quick(without));
  std::fflush(stdout);
  return {};
}

/// About as many paths as a project in a home folder has.
sandbox::Profile MakeProfile(const TempDir& temp) {
  sandbox::Profile profile;
  for (const char* name : {"project/.git/hooks", "home/.ssh", "home/.aws", "home/.gnupg"})
    CHECK(MakeDirs(temp.Sub(name)), "the folder is writable");
  profile.writable = {temp.Sub("project")};
  profile.read_only = {temp.Sub("project/.git/hooks"), temp.Sub("project/.stet")};
  profile.hidden = {temp.Sub("home/.ssh"), temp.Sub("home/.aws"), temp.Sub("home/.gnupg"), "/run"};
  return profile;
}

Status Run() {
  const TempDir temp;
  sandbox::Profile profile = MakeProfile(temp);
  for (const sandbox::Tried& tried : sandbox::TryAll()) {
    for (const std::string_view network :
         {sandbox::network::kOff, sandbox::network::kHosts, sandbox::network::kOpen}) {
      profile.network = network;
      if (tried.works && sandbox::CheckMeans(profile, tried.mechanism))
        RETURN_IF_ERROR(Measure(profile, tried.mechanism));
    }
  }
  return {};
}

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv, stet::sandbox::MakeBox);
  stet::sandbox::BecomeConfinedIfAsked(argc, argv);
  if (argc > 1) {
    std::printf("%s", std::string(stet::bench::kHelp).c_str());
    return 0;
  }
  if (const stet::Status status = stet::bench::Run(); !status) {
    std::fprintf(stderr, "sandbox_bench: %s\n", status.error().Text().c_str());
    return 1;
  }
  return 0;
}
