// Exit codes: stable, scripts depend on them.
#pragma once

#include "base/result.h"

namespace stet::cli {

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

}  // namespace stet::cli
