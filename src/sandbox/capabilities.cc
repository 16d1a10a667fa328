#include "sandbox/capabilities.h"

#include <array>
#include <cerrno>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stet::sandbox {
namespace {

using CapabilitySets = std::array<__user_cap_data_struct, 2>;

__user_cap_header_struct OwnHeader() { return {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0}; }

Status SetCapabilities(const CapabilitySets& sets) {
  __user_cap_header_struct header = OwnHeader();
  if (::syscall(SYS_capset, &header, sets.data()) != 0)
    return FailSystem(errno, "give up capabilities");
  return {};
}

}  // namespace

bool MayMount() {
  __user_cap_header_struct header = OwnHeader();
  CapabilitySets ours{};
  return ::syscall(SYS_capget, &header, ours.data()) == 0 &&
         (ours[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
}

Status DropCapabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  constexpr int kMostCapabilities = 64;
  // Fails for those that the kernel does not know, and for all where we have none to drop.
  for (int capability = 0; capability < kMostCapabilities; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  return SetCapabilities({});
}

Status DropRiskyCapabilities() {
  __user_cap_header_struct header = OwnHeader();
  CapabilitySets ours{};
  if (::syscall(SYS_capget, &header, ours.data()) != 0)
    return FailSystem(errno, "look at capabilities");
  constexpr unsigned kBits = 32;
  for (const RiskyCapability& one : kRiskyCapabilities) {
    // Fails for those that the kernel does not know.
    ::prctl(PR_CAPBSET_DROP, one.number, 0, 0, 0);
    const auto number = static_cast<unsigned>(one.number);
    __user_cap_data_struct& set = ours.at(number / kBits);
    const unsigned without = ~(1U << (number % kBits));
    set.effective &= without;
    set.permitted &= without;
    set.inheritable &= without;
  }
  return SetCapabilities(ours);
}

}  // namespace stet::sandbox
