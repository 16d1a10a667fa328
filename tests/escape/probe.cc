// probe NAME [ARGUMENT...]: tries one way out of a sandbox, and says how it went: exit code 0 when
// it worked, 1 when it was kept from it, 2 when the attempt itself makes no sense here.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Arguments = std::vector<std::string>;

bool Write(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags, 0644);
  return fd >= 0 && ::write(fd, "escaped", 7) == 7;
}

/// Whether the file can be read and has the word that only the test knows.
bool Reads(const std::string& path, const std::string& word) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  if (fd < 0) return false;
  std::string all;
  std::array<char, 65536> buffer{};
  constexpr std::size_t kMost = 4U << 20U;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0 || all.size() > kMost) break;
    all.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(fd);
  return all.find(word) != std::string::npos;
}

pid_t Pid(const std::string& text) { return static_cast<pid_t>(std::atol(text.c_str())); }

bool ConnectTcp(const Arguments& a) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(a[0].c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool SendUdp(const Arguments& a) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(a[0].c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  // It may be sent into nothing: only the test knows whether it came.
  return fd >= 0 &&
         ::sendto(fd, "escaped", 7, 0, reinterpret_cast<sockaddr*>(&address), sizeof address) == 7;
}

/// A name that begins with @ is abstract.
bool ConnectUnix(const Arguments& a) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, a[0].data(), a[0].size());
  if (a[0][0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + a[0].size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
}

bool HasSocket(int family, int type) { return ::socket(family, type, 0) >= 0; }

bool TraceParent(const Arguments& a) {
  return ::ptrace(PTRACE_ATTACH, Pid(a[0]), nullptr, nullptr) == 0;
}

bool TraceChild(const Arguments&) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const bool traced = ::ptrace(PTRACE_ATTACH, child, nullptr, nullptr) == 0;
  ::kill(child, SIGKILL);
  return traced;
}

bool ReadMemory(const Arguments& a) {
  char byte = 0;
  iovec here{.iov_base = &byte, .iov_len = 1};
  iovec there{.iov_base = std::bit_cast<void*>(std::strtoul(a[1].c_str(), nullptr, 16)),
              .iov_len = 1};
  return ::process_vm_readv(Pid(a[0]), &here, 1, &there, 1, 0) == 1;
}

bool OpenMemory(const Arguments& a) {
  return ::open(("/proc/" + a[0] + "/mem").c_str(), O_RDWR) >= 0;
}

/// Through the root and the folder of every process that is seen.
bool ReadThroughProc(const Arguments& a) {
  constexpr int kMostPids = 4096;
  for (int pid = 1; pid < kMostPids; ++pid) {
    const std::string base = "/proc/" + std::to_string(pid);
    for (const char* way : {"/root", "/cwd"}) {
      if (Reads(base + way + a[0], a[1])) return true;
    }
  }
  return Reads("/proc/" + a[2] + "/root" + a[0], a[1]);
}

bool ReadEnvironments(const Arguments& a) {
  constexpr int kMostPids = 65536;
  for (int pid = 1; pid < kMostPids; ++pid) {
    if (pid != ::getpid() && Reads("/proc/" + std::to_string(pid) + "/environ", a[0])) return true;
  }
  return false;
}

bool JoinNamespace(const Arguments& a) {
  for (const char* kind : {"mnt", "net", "pid", "user"}) {
    const int fd = ::open(("/proc/" + a[0] + "/ns/" + kind).c_str(), O_RDONLY);
    if (fd >= 0 && ::setns(fd, 0) == 0) return true;
  }
  return false;
}

bool CloneUser(const Arguments&) {
  const long pid = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) ::_exit(0);
  return pid > 0;
}

/// A terminal of our own is enough: the call is refused, not the terminal.
bool TypeIntoTerminal(const Arguments&) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return false;
  ::setsid();
  const int slave = ::open(::ptsname(master), O_RDWR);
  const char letter = 'x';
  return slave >= 0 && (::ioctl(slave, TIOCSCTTY, 0) == 0 || errno == EPERM) &&
         ::ioctl(slave, TIOCSTI, &letter) == 0;
}

bool MakeSetuid(const Arguments& a) {
  const int fd = ::open(a[0].c_str(), O_CREAT | O_WRONLY, 04755);
  struct stat facts{};
  const auto is_set = [&] {
    return ::stat(a[0].c_str(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0;
  };
  if (fd >= 0 && is_set()) return true;
  (void)Write(a[0], O_CREAT | O_WRONLY);
  (void)::chmod(a[0].c_str(), 04755);
  (void)::fchmodat(AT_FDCWD, a[0].c_str(), 02755, 0);
  constexpr long kFchmodat2 = 452;
  (void)::syscall(kFchmodat2, AT_FDCWD, a[0].c_str(), 04755, 0);
  return is_set();
}

bool UseBpf(const Arguments&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return ::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes) >= 0;
}

bool UseRing(const Arguments&) {
  std::array<char, 120> parameters{};
  return ::syscall(SYS_io_uring_setup, 1, parameters.data()) >= 0;
}

/// Fresh mounts, and taking back what hides something.
bool ChangeMounts(const Arguments& a) {
  return ::mount("none", a[0].c_str(), "tmpfs", 0, nullptr) == 0 ||
         ::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0 ||
         ::umount2(a[1].c_str(), MNT_DETACH) == 0;
}

bool OpenByHandle(const Arguments& a) {
  struct {
    file_handle head;
    std::array<unsigned char, 128> bytes;
  } handle{};
  handle.head.handle_bytes = handle.bytes.size();
  int mount = 0;
  return ::name_to_handle_at(AT_FDCWD, a[0].c_str(), &handle.head, &mount, 0) == 0 &&
         ::open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY) >= 0;
}

bool HardLink(const Arguments& a) {
  ::unlink(a[1].c_str());
  return ::link(a[0].c_str(), a[1].c_str()) == 0 && Reads(a[1], a[2]);
}

bool SymbolicLink(const Arguments& a) {
  ::unlink(a[1].c_str());
  return ::symlink(a[0].c_str(), a[1].c_str()) == 0 && Reads(a[1], a[2]);
}

bool MakeDevice(const Arguments& a) {
  constexpr unsigned kMajor = 254;
  return ::mknod(a[0].c_str(), S_IFBLK | 0600, makedev(kMajor, 0)) == 0;
}

bool KillIt(const Arguments& a) { return ::kill(Pid(a[0]), SIGKILL) == 0; }

using Attempt = bool (*)(const Arguments&);

const std::map<std::string, Attempt> kAttempts = {
    {"write", [](const Arguments& a) { return Write(a[0], O_WRONLY | O_CREAT); }},
    {"append", [](const Arguments& a) { return Write(a[0], O_WRONLY | O_APPEND); }},
    {"truncate", [](const Arguments& a) { return ::truncate(a[0].c_str(), 0) == 0; }},
    {"remove", [](const Arguments& a) { return ::unlink(a[0].c_str()) == 0; }},
    {"rename", [](const Arguments& a) { return ::rename(a[0].c_str(), a[1].c_str()) == 0; }},
    {"chmod", [](const Arguments& a) { return ::chmod(a[0].c_str(), 0777) == 0; }},
    {"read", [](const Arguments& a) { return Reads(a[0], a[1]); }},
    {"tcp", ConnectTcp},
    {"udp", SendUdp},
    {"unix", ConnectUnix},
    {"vsock", [](const Arguments&) { return HasSocket(AF_VSOCK, SOCK_STREAM); }},
    {"packet", [](const Arguments&) { return HasSocket(AF_PACKET, SOCK_RAW); }},
    {"kill", KillIt},
    {"trace", TraceParent},
    {"trace_child", TraceChild},
    {"read_memory", ReadMemory},
    {"open_memory", OpenMemory},
    {"proc_root", ReadThroughProc},
    {"environments", ReadEnvironments},
    {"join", JoinNamespace},
    {"unshare", [](const Arguments&) { return ::unshare(CLONE_NEWUSER) == 0; }},
    {"clone_user", CloneUser},
    {"chroot", [](const Arguments&) { return ::chroot("/") == 0; }},
    {"mount", ChangeMounts},
    {"setuid_file", MakeSetuid},
    {"device", MakeDevice},
    {"terminal", TypeIntoTerminal},
    {"keys", [](const Arguments&) { return ::syscall(SYS_keyctl, 0, -3, 1) >= 0; }},
    {"bpf", UseBpf},
    {"ring", UseRing},
    {"handle", OpenByHandle},
    {"hard_link", HardLink},
    {"symlink", SymbolicLink},
    {"variable",
     [](const Arguments& a) {
       const char* value = std::getenv(a[0].c_str());
       return value != nullptr && *value != '\0';
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Arguments arguments(argv + 2, argv + argc);
  // An attempt takes what it needs; what is not given is empty.
  constexpr std::size_t kMostArguments = 4;
  arguments.resize(std::max(arguments.size(), kMostArguments));
  const auto found = kAttempts.find(argv[1]);
  if (found == kAttempts.end()) return 2;
  const bool escaped = found->second(arguments);
  std::printf("%s: %s\n", argv[1], escaped ? "escaped" : std::strerror(errno));
  return escaped ? 0 : 1;
}
