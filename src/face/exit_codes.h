// Exit codes: stable, scripts depend on them.
#pragma once

#include "base/result.h"

namespace stet::face {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRefused = 3;  // Policy refused what the work needed.
inline constexpr int kExitLimit = 4;    // Turns or budget.
inline constexpr int kExitAuth = 5;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitInterrupted = 130;

inline int ExitCodeOf(Code code) {
  switch (code) {
    case Code::kAuth: return kExitAuth;
    case Code::kTimeout: return kExitTimeout;
    case Code::kCancelled: return kExitInterrupted;
    default: return kExitFailed;
  }
}

/// What is wrong with an option of the command line, which it names, is wrong usage.
inline int ExitCodeOf(const Error& error) {
  const bool usage = error.code == Code::kInvalid && error.message.starts_with("--");
  return usage ? kExitUsage : ExitCodeOf(error.code);
}

}  // namespace stet::face
