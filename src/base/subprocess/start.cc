// Subprocess::Start. posix_spawn shares our memory with the child until it execs, so starting costs
// the same however large we are, and a failed exec comes back as an errno.
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/guard/guard.h"
#include "base/guard/keeper.h"
#include "base/subprocess/subprocess.h"

namespace stet {

namespace {

constexpr int kFirstFreeFd = 3;
/// For a guard to start its command, on a machine with too much to do.
constexpr std::chrono::seconds kStartWait{20};

struct Pipe {
  Fd read;
  Fd write;
};

/// Keeps clear of 0, 1 and 2, which the child's own are copied over: a process started without them
/// would get them here.
Status LiftFd(Fd& fd) {
  if (fd.get() >= kFirstFreeFd) return {};
  const int lifted = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFreeFd);
  if (lifted < 0) return FailSystem(errno, "make a pipe");
  fd.reset(lifted);
  return {};
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailSystem(errno, "make a pipe");
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  RETURN_IF_ERROR(LiftFd(pipe.read));
  RETURN_IF_ERROR(LiftFd(pipe.write));
  return pipe;
}

struct Control {
  Fd ours;
  Fd guards;
};

Result<Control> MakeControl() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return FailSystem(errno, "make a socket");
  Control control{Fd(ends[0]), Fd(ends[1])};
  RETURN_IF_ERROR(LiftFd(control.ours));
  RETURN_IF_ERROR(LiftFd(control.guards));
  return control;
}

/// Our end only: the child expects a pipe that blocks.
void SetNonBlocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

  /// Not 0: an errno, and a child started with these would be given what is ours.
  [[nodiscard]] int error() const { return error_; }

  void Copy(const Fd& from, int to) {
    Keep(::posix_spawn_file_actions_adddup2(&actions_, from.get(), to));
  }
  void OpenNull(int to) {
    Keep(::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDONLY, 0));
  }
  void ChangeDir(const std::string& path) {
    Keep(::posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()));
  }
  /// What a library opened without O_CLOEXEC stays with us too.
  void CloseFrom(int fd) { Keep(::posix_spawn_file_actions_addclosefrom_np(&actions_, fd)); }

 private:
  void Keep(int error) {
    if (error_ == 0) error_ = error;
  }

  int error_ = 0;
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(bool new_session) {
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    const int group = new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool HasNul(const std::vector<std::string>& strings) {
  return std::ranges::any_of(strings, [](const std::string& s) { return s.find('\0') != s.npos; });
}

Status CheckOptions(const SpawnOptions& options) {
  if (options.argv.empty() || options.argv[0].empty())
    return Fail(Code::kInvalid, "start a program: none is named");
  // The system takes C strings and would silently cut at the NUL.
  if (HasNul(options.argv) || HasNul({options.cwd}) || (options.env && HasNul(*options.env)))
    return Fail(Code::kInvalid,
                fmt::format("start {}: an argument has a NUL byte in it", options.argv[0]));
  if (options.guarded && !guard::Available())
    return Fail(Code::kUnsupported, "start a guard: this program has none");
  return {};
}

Error SpawnError(int error_number, const SpawnOptions& options) {
  const std::string what = "start " + options.argv[0];
  if (!options.cwd.empty()) {
    const auto cwd = StatFile(options.cwd);
    if (!cwd) return Error(cwd.error()).While(what);
    if (!cwd->is_dir)
      return Error(Code::kInvalid, fmt::format("{}: {} is not a folder", what, options.cwd));
  }
  Error error = SystemError(error_number, what);
  if (error_number == E2BIG || error_number == ENOEXEC) error.code = Code::kInvalid;
  return error;
}

Result<Fd> OpenNull() {
  Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) return FailSystem(errno, "open /dev/null");
  return fd;
}

/// A guard is started elsewhere: what the command would have of us is told.
Result<guard::Order> OrderOf(const SpawnOptions& options) {
  constexpr std::string_view kNoNamespace = "STET_NO_PID_NAMESPACE=";
  guard::Order order{.command = options.argv, .cwd = options.cwd, .box = options.box};
  if (options.env)
    order.environment = *options.env;
  else
    for (char** own = environ; *own != nullptr; ++own) order.environment.emplace_back(*own);
  order.own_processes = std::ranges::none_of(order.environment, [&](const std::string& variable) {
    return variable.starts_with(kNoNamespace);
  });
  if (!order.cwd.empty()) return order;
  std::error_code error;
  order.cwd = std::filesystem::current_path(error).string();
  if (error) return Fail(Code::kNotFound, "the current folder is gone");
  return order;
}

}  // namespace

Result<Subprocess> Subprocess::Start(SpawnOptions options) {
  RETURN_IF_ERROR(CheckOptions(options));
  Subprocess child;
  FileActions actions;
  Pipe in;
  if (options.stdin_from == StdinFrom::kPipe || !options.stdin_data.empty()) {
    ASSIGN_OR_RETURN(in, MakePipe());
    SetNonBlocking(in.write);
    actions.Copy(in.read, STDIN_FILENO);
  } else if (options.stdin_from == StdinFrom::kNull) {
    actions.OpenNull(STDIN_FILENO);
  }
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  SetNonBlocking(out.read);
  actions.Copy(out.write, STDOUT_FILENO);
  Pipe err;
  if (!options.merge_stderr) {
    ASSIGN_OR_RETURN(err, MakePipe());
    SetNonBlocking(err.read);
  }
  actions.Copy(options.merge_stderr ? out.write : err.write, STDERR_FILENO);
  child.in_ = std::move(in.write);
  child.out_.fd = std::move(out.read);
  child.err_.fd = std::move(err.read);
  child.input_ = std::move(options.stdin_data);
  child.max_output_bytes_ = options.max_output_bytes;
  if (options.guarded) {
    ASSIGN_OR_RETURN(Fd null, OpenNull());
    RETURN_IF_ERROR(child.StartGuarded(
        options, {.in = in.read                                     ? in.read.get()
                        : options.stdin_from == StdinFrom::kInherit ? STDIN_FILENO
                                                                    : null.get(),
                  .out = out.write.get(),
                  .err = options.merge_stderr ? out.write.get() : err.write.get()}));
    return child;
  }
  if (!options.cwd.empty()) actions.ChangeDir(options.cwd);
  actions.CloseFrom(kFirstFreeFd);
  if (actions.error() != 0) return FailSystem(actions.error(), "start " + options.argv[0]);

  const SpawnAttributes attributes(options.new_session);
  const std::vector<char*> argv = Pointers(options.argv);
  std::vector<char*> env;
  if (options.env) env = Pointers(*options.env);
  pid_t pid = -1;
  if (const int error = ::posix_spawnp(&pid, argv[0], actions.get(), attributes.get(), argv.data(),
                                       options.env ? env.data() : environ))
    return std::unexpected(SpawnError(error, options));
  child.pid_ = pid;
  // glibc 2.36 declares pidfd_open without C linkage.
  child.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd_) return FailSystem(errno, "watch " + options.argv[0]);
  return child;
}

Status Subprocess::StartGuarded(const SpawnOptions& options, guard::Ends ends) {
  ASSIGN_OR_RETURN(const guard::Order order, OrderOf(options));
  ASSIGN_OR_RETURN(Control control, MakeControl());
  ends.control = control.guards.get();
  ASSIGN_OR_RETURN(guard::Started guard, guard::StartGuard(order, ends));
  pid_ = guard.pid;
  pidfd_ = std::move(guard.pidfd);
  control_ = std::move(control.ours);
  control.guards.reset();
  ASSIGN_OR_RETURN(const int error, AwaitStart());
  if (error != 0) return std::unexpected(SpawnError(error, options));
  return {};
}

Result<int> Subprocess::AwaitStart() const {
  const Deadline deadline = Deadline::After(kStartWait);
  do {
    if (const auto news = guard::Hear(control_.get()))
      return news->kind == guard::News::Kind::kFailed ? news->value : 0;
    pollfd word{.fd = control_.get(), .events = POLLIN, .revents = 0};
    ::poll(&word, 1, deadline.PollTimeout());
    if ((word.revents & POLLIN) == 0 && word.revents != 0) break;
  } while (!deadline.Passed());
  return Fail(Code::kUnavailable, "start a guard: it did not answer");
}

}  // namespace stet
