// What the tests of subprocesses share: a shell, run to its end.
#pragma once

#include <chrono>
#include <string>

#include "base/subprocess/subprocess.h"

namespace stet {

/// Longer than any test takes; reaching it is a failure.
inline constexpr std::chrono::seconds kSafety(30);

inline SpawnOptions ShellScript(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}};
}

inline Finished RunShell(std::string script) {
  return Subprocess::Run(ShellScript(std::move(script)), Deadline::After(kSafety), {}).value();
}

}  // namespace stet
