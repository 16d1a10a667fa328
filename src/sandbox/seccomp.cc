#include "sandbox/seccomp.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace stet::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArch = 0;
#endif

#if defined(__x86_64__)
constexpr std::uint32_t kX32 = 0x40000000;  // Calls of another table have it.
#endif
constexpr std::uint32_t kFchmodat2 = 452;  // Younger than our headers.
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                         CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
constexpr std::uint32_t kSetIdBits = S_ISUID | S_ISGID;
constexpr std::uint32_t kTmpFile = O_TMPFILE & ~O_DIRECTORY;

constexpr std::uint32_t kRefused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_setns,
    SYS_unshare,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_vhangup,
    SYS_sethostname,
    SYS_setdomainname,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};

/// What changes a file without opening it for writing.
constexpr std::uint32_t kAttributes[] = {
    SYS_fchmod,   SYS_fchmodat,  kFchmodat2,    SYS_fchown,      SYS_fchownat,     SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#if defined(__x86_64__)
    SYS_chmod,    SYS_chown,     SYS_lchown,    SYS_utime,       SYS_utimes,       SYS_futimesat,
#endif
};

/// A program of the kernel's filter machine, written call by call. Each piece looks at one call and
/// falls through to the next when it does not refuse.
class Writer {
 public:
  void Load(std::size_t offset) {
    Add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void LoadCall() { Load(offsetof(seccomp_data, nr)); }
  /// The lower half: what is compared here has 32 bits, and the kernel looks at no more.
  void LoadArgument(std::size_t index) {
    Load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
  }
  void Return(std::uint32_t what) { Add(BPF_STMT(BPF_RET | BPF_K, what)); }

  void ReturnIfEqual(std::uint32_t value, std::uint32_t what) {
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    Return(what);
  }
  void ReturnUnlessEqual(std::uint32_t value, std::uint32_t what) {
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    Return(what);
  }
  void ReturnIfAny(std::uint32_t bits, std::uint32_t what) {
    Add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    Return(what);
  }

  /// `body` is run for that call only; the number is loaded again behind it.
  template <class Body>
  void For(std::uint32_t call, Body body) {
    const std::size_t jump = program_.size();
    Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0));
    body();
    LoadCall();
    program_[jump].jf = static_cast<std::uint8_t>(program_.size() - jump - 1);
  }
  /// Skips `body` unless one of the bits is set.
  template <class Body>
  void IfAny(std::uint32_t bits, Body body) {
    const std::size_t jump = program_.size();
    Add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 0));
    body();
    program_[jump].jf = static_cast<std::uint8_t>(program_.size() - jump - 1);
  }

  std::vector<sock_filter> TakeProgram() { return std::move(program_); }

 private:
  void Add(sock_filter one) { program_.push_back(one); }
  std::vector<sock_filter> program_;
};

void RefuseForeignCalls(Writer& writer) {
  writer.Load(offsetof(seccomp_data, arch));
  writer.ReturnUnlessEqual(kArch, kRefuse);
  writer.LoadCall();
#if defined(__x86_64__)
  writer.ReturnIfAny(kX32, kRefuse);
#endif
}

/// The mode of a call that makes or changes a file, at this argument.
void RefuseSetIdBits(Writer& writer) {
  const auto mode_at = [&](std::uint32_t call, std::size_t argument) {
    writer.For(call, [&] {
      writer.LoadArgument(argument);
      writer.ReturnIfAny(kSetIdBits, kRefuse);
    });
  };
  // Without these flags the mode is not an argument at all.
  const auto opens = [&](std::uint32_t call, std::size_t flags) {
    writer.For(call, [&] {
      writer.LoadArgument(flags);
      writer.IfAny(O_CREAT | kTmpFile, [&] {
        writer.LoadArgument(flags + 1);
        writer.ReturnIfAny(kSetIdBits, kRefuse);
      });
    });
  };
  mode_at(SYS_fchmod, 1);
  mode_at(SYS_fchmodat, 2);
  mode_at(kFchmodat2, 2);
  mode_at(SYS_mknodat, 2);
  opens(SYS_openat, 2);
#if defined(__x86_64__)
  mode_at(SYS_chmod, 1);
  mode_at(SYS_creat, 1);
  mode_at(SYS_mknod, 1);
  opens(SYS_open, 1);
#endif
}

void RefuseSockets(Writer& writer, const SyscallRules& rules) {
  writer.For(SYS_socket, [&] {
    writer.LoadArgument(0);
    writer.ReturnIfEqual(AF_NETLINK, kAllow);  // Tells of the namespace's own devices only.
    if (rules.local) writer.ReturnIfEqual(AF_UNIX, kAllow);
    if (rules.inet) {
      writer.ReturnIfEqual(AF_INET, kAllow);
      writer.ReturnIfEqual(AF_INET6, kAllow);
    }
    writer.Return(kRefuse);
  });
}

}  // namespace

bool SeccompIsKnown() { return kArch != 0; }

std::vector<sock_filter> SeccompFilter(const SyscallRules& rules) {
  Writer writer;
  RefuseForeignCalls(writer);
  for (const std::uint32_t call : kRefused) writer.ReturnIfEqual(call, kRefuse);
  writer.ReturnIfEqual(SYS_clone3, kUnknown);
  writer.ReturnIfEqual(SYS_openat2, kUnknown);
  writer.For(SYS_clone, [&] {
    writer.LoadArgument(0);
    writer.ReturnIfAny(kNewNamespaces, kRefuse);
  });
  writer.For(SYS_ioctl, [&] {
    writer.LoadArgument(1);
    writer.ReturnIfEqual(TIOCSTI, kRefuse);
    writer.ReturnIfEqual(TIOCLINUX, kRefuse);
  });
  RefuseSockets(writer, rules);
  if (!rules.attributes) {
    for (const std::uint32_t call : kAttributes) writer.ReturnIfEqual(call, kRefuse);
  }
  RefuseSetIdBits(writer);
  writer.Return(kAllow);
  return writer.TakeProgram();
}

Status ApplySeccomp(const SyscallRules& rules) {
  if (!SeccompIsKnown())
    return Fail(Code::kUnsupported, "there is no filter of system calls for this processor");
  std::vector<sock_filter> program = SeccompFilter(rules);
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    return FailSystem(errno, "filter system calls");
  return {};
}

}  // namespace stet::sandbox
