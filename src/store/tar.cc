#include "store/tar.h"

#include <chrono>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/subprocess/subprocess.h"

namespace stet::store {
namespace {

constexpr std::chrono::minutes kTarTime{30};

/// What tar says on stdout.
Result<std::string> RunTar(std::vector<std::string> argv) {
  SpawnOptions options;
  options.argv = std::move(argv);
  // TAR_OPTIONS could make it run any program; messages are read in the language C.
  options.env = {"LC_ALL=C", "PATH=" + Environment::OfProcess().Get("PATH")};
  ASSIGN_OR_RETURN(Finished finished,
                   Subprocess::Run(std::move(options), Deadline::After(kTarTime), {}));
  if (finished.end == Finished::End::kExited && finished.exit_code == 0)
    return std::move(finished.out);
  return Fail(finished.end == Finished::End::kTimeout ? Code::kTimeout : Code::kInvalid,
              fmt::format("tar failed: {}",
                          finished.err.empty() ? "no message" : finished.err.substr(0, 500)));
}

}  // namespace

Status PackTar(const std::string& tar, const std::string& parent, const std::string& name) {
  RETURN_IF_ERROR(RunTar({"tar", "--create", "--file", tar, "--format=pax", "--force-local",
                          "--directory", parent, name}));
  return {};
}

}  // namespace stet::store
