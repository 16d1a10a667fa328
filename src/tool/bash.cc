// Bash: one command, run to its end in a process group of its own, without a terminal.
//
// Where the command leaves its working directory comes back through a file: bash reads a start-up
// file of ours (BASH_ENV) that sets an EXIT trap, so the command itself runs unchanged, with its
// own exit code and line numbers. A command that replaces the trap, or the shell, moves nothing.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/subprocess.h"
#include "base/utf8.h"
#include "tool/args.h"
#include "tool/bounded_output.h"
#include "tool/builtin.h"
#include "tool/in_thread.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

constexpr std::int64_t kDefaultTimeoutS = 120;
constexpr std::int64_t kMaxTimeoutS = 600;
constexpr std::size_t kMaxShownBytes = 16'000;
constexpr std::size_t kMaxCwdBytes = 4096;
constexpr std::size_t kMaxSummaryBytes = 100;

/// What makes programs wait for a person, answered in advance.
constexpr std::string_view kFixedVariables[] = {
    "PAGER=cat",
    "GIT_PAGER=cat",
    "GIT_TERMINAL_PROMPT=0",
    "EDITOR=false",
    "VISUAL=false",
    "GIT_EDITOR=false",
    "TERM=dumb",
    "DEBIAN_FRONTEND=noninteractive",
};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// A folder of its own for the two files that go between the shell and us.
class ShellFiles {
 public:
  static Result<ShellFiles> Make() {
    const char* chosen = ::getenv("TMPDIR");
    ASSIGN_OR_RETURN(
        std::string folder,
        MakeTempDir(chosen != nullptr && *chosen == '/' ? chosen : "/tmp", "stet-sh-"));
    ShellFiles files(std::move(folder));
    RETURN_IF_ERROR(files.WriteStart());
    return files;
  }

  ShellFiles(ShellFiles&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  ShellFiles& operator=(ShellFiles&&) = delete;
  ~ShellFiles() {
    // Ignoring the error on purpose: a folder left behind says what it is.
    if (!folder_.empty()) (void)RemoveTree(folder_);
  }

  [[nodiscard]] std::string start() const { return folder_ + "/start"; }

  /// Where the shell was at its end; empty when it did not say.
  [[nodiscard]] std::string EndedIn() const {
    std::string path = ReadFile(folder_ + "/cwd", kMaxCwdBytes).value_or("");
    if (path.ends_with('\n')) path.pop_back();
    return path;
  }

 private:
  explicit ShellFiles(std::string folder) : folder_(std::move(folder)) {}

  static std::string Quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
  }

  /// The group hides what `set -x` would print of the trap.
  [[nodiscard]] Status WriteStart() const {
    const std::string trap =
        fmt::format("{{ builtin pwd -P >|{} || :; }} 2>/dev/null", Quoted(folder_ + "/cwd"));
    std::string script = fmt::format("trap {} EXIT\n", Quoted(trap));
    const char* own = ::getenv("BASH_ENV");
    if (own != nullptr && *own != '\0')
      script += fmt::format("export BASH_ENV={0}\n[ -r {0} ] && . {0}\n", Quoted(own));
    else
      script += "unset BASH_ENV\n";
    // The command must not see how the last line here went.
    return ReplaceFile(start(), script + ":\n", Durable::kNo);
  }

  std::string folder_;
};

struct Ended {
  Finished finished;
  std::string cwd;  // Empty: it did not say.
};

std::string Summary(const Args& args) {
  std::string text = args.Text("description").value_or("");
  if (text.empty()) text = args.Text("command").value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  text.resize(Utf8PrefixLength(text, kMaxSummaryBytes));
  return text;
}

std::int64_t TimeoutS(const Args& args) {
  return std::clamp<std::int64_t>(args.Int("timeout").value_or(kDefaultTimeoutS), 1, kMaxTimeoutS);
}

/// How it ended, when that is worth a line.
std::string EndOf(const Finished& finished, std::int64_t timeout_s) {
  switch (finished.end) {
    case Finished::End::kTimeout:
      return fmt::format("Stopped after {} s, which was its timeout.\n", timeout_s);
    case Finished::End::kCancelled: return "Stopped: the call was cancelled.\n";
    case Finished::End::kKilledBySignal:
      return fmt::format("Killed by signal {}.\n", finished.signal);
    case Finished::End::kExited: break;
  }
  return finished.exit_code == 0 ? "" : fmt::format("Exit code {}\n", finished.exit_code);
}

/// Goes where the shell went, inside the project; what to tell the model of it.
std::string FollowCwd(const std::string& ended_in, Workspace& workspace) {
  if (ended_in.empty() || ended_in == workspace.cwd) return "";
  const auto real = Resolve(ended_in, workspace);
  const auto stat = StatFile(ended_in);
  if (real && real->in_project && stat && stat->is_dir) {
    workspace.cwd = real->path;
    return fmt::format("(The working directory is now {}.)\n", workspace.cwd);
  }
  return fmt::format("(The working directory stays {}: it follows cd inside the project only.)\n",
                     workspace.cwd);
}

class BashTool final : public Tool {
 public:
  explicit BashTool(std::vector<std::string> secret_variables)
      : secret_variables_(std::move(secret_variables)) {}

  [[nodiscard]] std::string_view name() const override { return "Bash"; }
  [[nodiscard]] std::string_view description() const override {
    return "Runs a bash command and gives its output, standard output and error together.\n"
           "- It starts in the working directory; a cd inside the project lasts for the next call, "
           "variables do not.\n"
           "- There is no terminal and no input: use the options of programs that ask nothing.\n"
           "- timeout is in seconds: 120 unless given, at most 600. What is still running at the "
           "end is killed.\n"
           "- Long output is shown in part. For files use Read, Edit, Write, Glob and Grep.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("command":{"type":"string","minLength":1,"description":"The command."},)"
           R"("description":{"type":"string","description":"What it does, in a few words."},)"
           R"("timeout":{"type":"integer","minimum":1,"maximum":600,)"
           R"("description":"Seconds after which it is stopped."}},)"
           R"("required":["command"],"additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    Intent intent;
    intent.effects = true;
    intent.command = Args(args).Text("command").value_or("");
    if (intent.command.find('\0') != std::string::npos)
      return Fail(Code::kInvalid, "The command has a NUL byte in it.");
    intent.summary = Summary(Args(args));
    return intent;
  }

  Task<Outcome> Run(const Raw& args, Call& call) override {
    // A command may have removed the folder that the next one should start in.
    std::string note;
    if (!Exists(call.workspace.cwd)) {
      call.workspace.cwd = call.workspace.project;
      note = fmt::format("(The working directory was gone. It is now {}.)\n", call.workspace.cwd);
    }
    SpawnOptions options{.argv = {"bash", "-c", Args(args).Text("command").value_or("")},
                         .cwd = call.workspace.cwd,
                         .merge_stderr = true,
                         .new_session = true};
    const std::int64_t timeout_s = TimeoutS(Args(args));
    auto work = [this, options = std::move(options), timeout_s](const CancelToken& cancel) mutable {
      return RunShell(std::move(options), timeout_s, cancel);
    };
    const Result<Ended> ended = co_await InThread<Ended>(call.loop, call.cancel, std::move(work));
    if (!ended) co_return Problem("The command was not run: " + ended.error().Text());
    co_return Report(*ended, timeout_s, call, note);
  }

 private:
  [[nodiscard]] Result<Ended> RunShell(SpawnOptions options, std::int64_t timeout_s,
                                       const CancelToken& cancel) const {
    ASSIGN_OR_RETURN(const ShellFiles files, ShellFiles::Make());
    options.env = Environment(files.start());
    Ended ended;
    ASSIGN_OR_RETURN(ended.finished,
                     Subprocess::Run(std::move(options),
                                     Deadline::After(std::chrono::seconds(timeout_s)), cancel));
    ended.cwd = files.EndedIn();
    return ended;
  }

  /// Ours, without secrets, and with what keeps programs from asking.
  [[nodiscard]] std::vector<std::string> Environment(const std::string& start) const {
    std::vector<std::string> variables(std::begin(kFixedVariables), std::end(kFixedVariables));
    variables.push_back("BASH_ENV=" + start);
    const std::size_t fixed = variables.size();
    for (char** own = environ; *own != nullptr; ++own) {
      const std::string_view name = NameOf(*own);
      const bool replaced =
          std::any_of(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(fixed),
                      [&](const std::string& variable) { return NameOf(variable) == name; });
      if (!replaced && std::ranges::find(secret_variables_, name) == secret_variables_.end())
        variables.emplace_back(*own);
    }
    return variables;
  }

  static Outcome Report(const Ended& ended, std::int64_t timeout_s, Call& call,
                        const std::string& cwd_note) {
    const Finished& finished = ended.finished;
    std::string note = "The rest could not be kept.";
    if (finished.out.size() > kMaxShownBytes) {
      if (const auto blob = call.put_blob(finished.out))
        note = fmt::format("The {} is in blob {}.",
                           finished.dropped_out > 0 ? "beginning" : "whole", *blob);
    }
    if (finished.dropped_out > 0)
      note += fmt::format(" {} more bytes came after it and were dropped.", finished.dropped_out);
    std::string text = ReplaceInvalidUtf8(HeadAndTail(finished.out, kMaxShownBytes, note));
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += EndOf(finished, timeout_s);
    text += cwd_note + FollowCwd(ended.cwd, call.workspace);
    if (text.empty()) text = "(no output)\n";
    Outcome outcome = Say(std::move(text));
    outcome.is_error = finished.end != Finished::End::kExited || finished.exit_code != 0;
    outcome.details = Details(finished);
    return outcome;
  }

  static Raw Details(const Finished& finished) {
    const auto bytes = static_cast<std::int64_t>(finished.out.size() + finished.dropped_out);
    return Raw{fmt::format(R"({{"exitCode":{},"signal":{},"bytes":{}}})", finished.exit_code,
                           finished.signal, bytes)};
  }

  std::vector<std::string> secret_variables_;
};

}  // namespace

std::unique_ptr<Tool> MakeBashTool(std::vector<std::string> secret_variables) {
  return std::make_unique<BashTool>(std::move(secret_variables));
}

}  // namespace stet::tool
