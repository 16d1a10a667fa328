// Capabilities: what a process may do as root, and gives up before it becomes a command.
#pragma once

#include "base/result.h"

namespace stet::sandbox {

struct RiskyCapability {
  const char* name;
  int number;
};

/// By these root looks past a mount: it unmounts, traces a process outside, opens by a handle,
/// reads memory or devices, or puts something into the kernel.
inline constexpr RiskyCapability kRiskyCapabilities[] = {{"CAP_DAC_READ_SEARCH", 2},
                                                         {"CAP_SYS_MODULE", 16},
                                                         {"CAP_SYS_RAWIO", 17},
                                                         {"CAP_SYS_PTRACE", 19},
                                                         {"CAP_SYS_ADMIN", 21},
                                                         {"CAP_SYS_BOOT", 22},
                                                         {"CAP_MKNOD", 27},
                                                         {"CAP_PERFMON", 38},
                                                         {"CAP_BPF", 39},
                                                         {"CAP_CHECKPOINT_RESTORE", 40}};

/// Whether we may mount without a user namespace.
bool MayMount();

/// Gives up every capability, for good.
Status DropCapabilities();

/// Gives up those of the list above, for good.
Status DropRiskyCapabilities();

}  // namespace stet::sandbox
