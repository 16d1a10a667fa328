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

Status UnpackTar(const std::string& tar, const std::string& into) {
  // By itself tar takes the end of the file for the end of the tar; asked for block numbers it says
  // which of the two it saw.
  ASSIGN_OR_RETURN(const std::string said,
                   RunTar({"tar", "--extract", "--block-number", "--file", tar, "--force-local",
                           "--no-same-owner", "--no-same-permissions", "--directory", into}));
  if (said.contains("** Block of NULs **")) return {};
  return Fail(Code::kInvalid,
              "the tar is cut: it does not end as a tar does, so members may be missing; fetch or "
              "export it again");
}

}  // namespace stet::store
