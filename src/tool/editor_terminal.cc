#include "tool/editor_terminal.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "tool/shell/setup.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

/// Of output, from the end; the most that is asked for.
constexpr std::size_t kMaxOutput = std::size_t{1} << 20;
/// For one that was killed to end.
constexpr std::chrono::seconds kKillTime{5};

/// Lets go of the terminal, however its call ends.
class Terminal {
 public:
  Terminal(std::shared_ptr<Editor> editor, std::string id)
      : editor_(std::move(editor)), id_(std::move(id)) {}
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { editor_->ReleaseTerminal(id_); }

  [[nodiscard]] Editor& editor() const { return *editor_; }
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  std::shared_ptr<Editor> editor_;
  std::string id_;
};

/// "SIGTERM" -> 15; 0 for what is no signal.
int SignalNumber(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < NSIG; ++number) {
    const char* known = ::sigabbrev_np(number);
    if (known != nullptr && name == known) return number;
  }
  return 0;
}

void TakeEnd(const TerminalEnd& end, TerminalRan& ran) {
  if (end.exit_code && end.signal.empty()) {
    ran.how.exit_code = static_cast<int>(*end.exit_code);
    return;
  }
  ran.how.signal = SignalNumber(end.signal);
  if (ran.how.signal != 0) {
    ran.how.why = ShellHow::Why::kSignal;
    return;
  }
  ran.how.why = ShellHow::Why::kStopped;
  ran.stopped = end.signal.empty() ? "How it ended is not known."
                                   : fmt::format("Killed by signal {}.", end.signal);
}

/// Why it is not waited for any longer.
std::string WhyStopped(const Error& error, const TerminalRequest& request) {
  switch (error.code) {
    case Code::kCancelled: return "Stopped: the call was cancelled.";
    case Code::kTimeout:
      if (request.timeout)
        return fmt::format("Stopped after {} s, which was its timeout.", request.timeout->count());
      return fmt::format(
          "Stopped after {} s: in the user's editor a command is not waited for longer. Run it "
          "with background.",
          kMaxTerminalTime.count());
    default:
      return fmt::format("The user's editor does not say how it ended: {}. It may still run.",
                         error.message);
  }
}

Async<void> Await(const Terminal& terminal, const TerminalRequest& request, Call& call,
                  TerminalRan& ran) {
  const std::chrono::milliseconds within = request.timeout.value_or(kMaxTerminalTime);
  const Result<TerminalEnd> end =
      co_await terminal.editor().AwaitTerminal(terminal.id(), within, call.cancel);
  if (end) co_return TakeEnd(*end, ran);
  ran.how.why = ShellHow::Why::kStopped;
  ran.stopped = WhyStopped(end.error(), request);
  const Status killed = co_await terminal.editor().KillTerminal(terminal.id());
  if (!killed) co_return;
  const CancelToken never;
  // Its last words come before its end.
  const Result<TerminalEnd> ended =
      co_await terminal.editor().AwaitTerminal(terminal.id(), kKillTime, never);
  if (ended) ran.how.signal = SignalNumber(ended->signal);
}

}  // namespace

Async<Result<TerminalRan>> RunInTerminal(const TerminalRequest& request, Call& call) {
  const std::shared_ptr<Editor> editor = call.editor;
  CO_ASSIGN_OR_RETURN(const ShellFiles files, ShellFiles::Make(request.hidden));
  CO_ASSIGN_OR_RETURN(ShellOutput output, ShellOutput::Make(files.output()));
  TerminalCommand command{.program = "bash",
                          .arguments = {"-c", request.command},
                          .variables = ShellEnvironment(request.variables, files),
                          .cwd = call.workspace.cwd,
                          .max_bytes = kMaxOutput};
  Result<std::string> opened = co_await editor->OpenTerminal(std::move(command));
  if (!opened)
    co_return Fail(opened.error().code,
                   fmt::format("the user's editor opened no terminal: {}", opened.error().message));
  const Terminal terminal(editor, *std::move(opened));
  call.show_terminal(terminal.id());
  TerminalRan ran{
      .how = {}, .stopped = {}, .note = {}, .ended_in = {}, .output = std::move(output)};
  co_await Await(terminal, request, call, ran);
  const Result<TerminalOutput> said = co_await editor->ReadTerminal(terminal.id());
  if (said) {
    // A terminal may end its lines with both.
    ran.output.Add(ToLf(said->text));
    if (said->truncated) ran.note = "(The editor kept only the end of its output.)\n";
  } else {
    ran.note = fmt::format("(Its output is not known: {}.)\n", said.error().message);
  }
  ran.ended_in = files.EndedIn();
  co_return ran;
}

}  // namespace stet::tool
