#include "tool/shell/shell.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

namespace stet::tool {

namespace {

Result<Fd> CopyOf(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) return FailSystem(errno, "watch a command");
  return copy;
}

/// In the sandbox, with the files that go between bash and us.
Status Confine(const sandbox::Chosen& chosen, const ShellFiles& files, SpawnOptions& options,
               std::optional<sandbox::Confinement>& confinement) {
  sandbox::Profile profile = chosen.profile;
  profile.writable.push_back(files.folder());
  ASSIGN_OR_RETURN(sandbox::Confinement made,
                   sandbox::Confinement::Make(std::move(profile), chosen.mechanism));
  confinement.emplace(std::move(made));
  options.box = confinement->order();
  if (profile.only_reads()) options.env->emplace_back("GIT_OPTIONAL_LOCKS=0");
  options.env = sandbox::KeptVariables(*std::move(options.env), chosen.profile);
  return {};
}

}  // namespace

Result<std::unique_ptr<Shell>> Shell::Start(Loop& loop, const ShellCommand& command) {
  ASSIGN_OR_RETURN(ShellFiles files, ShellFiles::Make());
  ASSIGN_OR_RETURN(
      ShellOutput output,
      ShellOutput::Make(command.output_path.empty() ? files.output() : command.output_path));
  const bool has_input = command.input || command.keep_input_open;
  SpawnOptions options{.argv = {"bash", "-c", command.command},
                       .env = ShellEnvironment(command.variables, files),
                       .cwd = command.cwd,
                       .stdin_from = has_input ? StdinFrom::kPipe : StdinFrom::kNull,
                       .merge_stderr = true,
                       .guarded = true};
  std::optional<sandbox::Confinement> confinement;
  if (command.sandbox != nullptr)
    RETURN_IF_ERROR(Confine(*command.sandbox, files, options, confinement));
  ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(std::move(options)));
  std::unique_ptr<Shell> shell(
      new Shell(loop, std::move(process), std::move(files), std::move(output)));
  if (confinement) shell->confinement_.emplace(*std::move(confinement));
  ASSIGN_OR_RETURN(shell->out_, CopyOf(shell->process_.stdout_fd()));
  if (has_input) {
    ASSIGN_OR_RETURN(shell->in_, CopyOf(shell->process_.stdin_fd()));
    shell->watch_in_ = std::make_unique<FdWatch>(
        loop, shell->in_.get(), [self = shell.get()](bool, bool) { self->FeedInput(); });
    shell->input_ = command.input.value_or("");
    shell->close_input_ = !command.keep_input_open;
    shell->FeedInput();
  }
  shell->WatchOutput(loop);
  if (command.timeout) {
    shell->timeout_s_ = *command.timeout;
    shell->timeout_.Start(*command.timeout,
                          [self = shell.get()] { self->StopBecause(ShellHow::Why::kTimeout); });
  }
  return shell;
}

Shell::Shell(Loop& loop, Subprocess process, ShellFiles files, ShellOutput output)
    : files_(std::move(files)),
      output_(std::move(output)),
      process_(std::move(process)),
      timeout_(loop),
      kill_(loop) {}

void Shell::WatchOutput(Loop& loop) {
  watch_out_ = std::make_unique<FdWatch>(loop, out_.get(), [this](bool, bool) {
    ReadOutput();
    if (process_.stdout_fd() < 0) watch_out_.reset();
  });
  watch_out_->Want(true, false);
  watch_exit_ =
      std::make_unique<FdWatch>(loop, process_.pidfd(), [this](bool, bool) { TakeEnd(); });
  watch_exit_->Want(true, false);
}

bool Shell::ReadOutput() {
  process_.ReadOutput();
  const std::string text = process_.TakeOutput();
  if (text.empty()) return false;
  output_.Add(text);
  if (on_output_) on_output_(text);
  return true;
}

void Shell::FeedInput() {
  if (!input_.empty()) {
    const auto sent = process_.WriteInput(input_);
    input_.erase(0, sent.value_or(input_.size()));
  }
  if (input_.empty() && close_input_) process_.CloseInput();
  if (process_.stdin_fd() < 0) {
    // The copy would keep the pipe open.
    watch_in_.reset();
    in_.reset();
  } else {
    watch_in_->Want(false, !input_.empty());
  }
}

Status Shell::Write(std::string_view bytes) {
  if (how_) return Fail(Code::kConflict, "It has ended.");
  if (!watch_in_ || close_input_) return Fail(Code::kConflict, "Its input is closed.");
  if (input_.size() + bytes.size() > kMaxInputBytes)
    return Fail(Code::kFull, "It does not read its input. Nothing was written.");
  input_ += bytes;
  FeedInput();
  return {};
}

void Shell::CloseInput() {
  if (!watch_in_) return;
  close_input_ = true;
  FeedInput();
}

void Shell::OnEnd(std::function<void()> listener) {
  if (how_)
    listener();
  else
    on_end_.push_back(std::move(listener));
}

void Shell::StopBecause(ShellHow::Why why) {
  if (how_ || stopped_because_) return;
  stopped_because_ = why;
  timeout_.Cancel();
  process_.Kill(SIGTERM);
  kill_.Start(kGrace, [this] {
    process_.Kill(SIGKILL);
    // Only the kernel can keep it longer than this.
    kill_.Start(Subprocess::kReapWait, [this] { TakeEnd(); });
  });
}

void Shell::Kill() {
  if (how_) return;
  if (!stopped_because_) stopped_because_ = ShellHow::Why::kStopped;
  process_.Kill(SIGKILL);
}

void Shell::KillAndWait() {
  if (how_) return;
  Kill();
  pollfd exit{.fd = process_.pidfd(), .events = POLLIN, .revents = 0};
  const Deadline deadline = Deadline::After(Subprocess::kReapWait);
  while (::poll(&exit, 1, deadline.PollTimeout()) <= 0 && !deadline.Passed()) {
  }
  TakeEnd();
}

void Shell::TakeEnd() {
  if (how_) return;
  while (ReadOutput()) {
  }
  process_.Reap();
  const Finished finished = process_.TakeFinished();
  how_ = ShellHow{.why = finished.signal != 0 ? ShellHow::Why::kSignal : ShellHow::Why::kExited,
                  .exit_code = finished.exit_code,
                  .signal = finished.signal};
  if (stopped_because_) how_->why = *stopped_because_;
  ended_in_ = files_.EndedIn();
  timeout_.Cancel();
  kill_.Cancel();
  watch_out_.reset();
  watch_in_.reset();
  watch_exit_.reset();
  out_.reset();
  in_.reset();
  for (const auto& listener : std::exchange(on_end_, {})) listener();
}

}  // namespace stet::tool
