// Bash: one command, in the foreground until it ends or has been waited for long enough; then, or
// at once, in the background.
#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/editor_terminal.h"
#include "tool/git/notes.h"
#include "tool/git/obeyed.h"
#include "tool/paths.h"
#include "tool/project/look.h"
#include "tool/shell/report.h"

namespace stet::tool {

namespace {

constexpr std::int64_t kDefaultWaitS = 120;
constexpr std::int64_t kMaxTimeoutS = 86'400;
constexpr std::size_t kMaxSummaryBytes = 100;

constexpr std::string_view kSchema =
    R"({"type":"object","properties":{)"
    R"("command":{"type":"string","minLength":1,"description":"The command."},)"
    R"("description":{"type":"string","description":"What it does, in a few words."},)"
    R"("timeout":{"type":"integer","minimum":1,"maximum":86400,)"
    R"("description":"Seconds after which it is stopped."},)"
    R"("wait_time":{"type":"integer","minimum":0,"maximum":600,)"
    R"("description":"Seconds to wait before it goes on in the background."},)"
    R"("background":{"type":"boolean","description":"Do not wait at all."},)"
    R"("stdin":{"type":"string","maxLength":1000000,"description":"Text for its input."})";
/// Under the name that models know from other programs.
constexpr std::string_view kUnsandboxed =
    R"(,"dangerouslyDisableSandbox":{"type":"boolean","description":)"
    R"("Run it without the sandbox. The user is asked. Only when the sandbox kept it from working."})";

std::string Summary(const Args& args) {
  std::string text = args.Text("description").value_or("");
  if (text.empty()) text = args.Text("command").value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  text.resize(Utf8PrefixLength(text, kMaxSummaryBytes));
  return text;
}

std::optional<std::chrono::seconds> Timeout(const Args& args) {
  const auto asked = args.Int("timeout");
  if (!asked) return std::nullopt;
  return std::chrono::seconds(std::clamp<std::int64_t>(*asked, 1, kMaxTimeoutS));
}

std::chrono::seconds WaitTime(const Args& args) {
  return std::chrono::seconds(
      std::clamp<std::int64_t>(args.Int("wait_time").value_or(kDefaultWaitS), 0, kMaxWaitS));
}

/// Whether the command is for the terminal of the client's editor: one that is kept in no sandbox,
/// and that can be waited for in the foreground. All others are run here.
bool IsForTerminal(const Args& args, const Call& call) {
  const bool plain = !args.Flag("background") && !args.Get("stdin") && !args.Get("wait_time");
  const auto timeout = Timeout(args).value_or(kMaxTerminalTime);
  return plain && timeout <= kMaxTerminalTime && call.editor && call.editor->runs() &&
         call.sandbox == nullptr;
}

/// What keeps git from running a repository's hooks (git_programs.h): it holds there as it does
/// here.
std::vector<std::string> GitSettingsIn(std::vector<std::string> variables) {
  std::erase_if(variables, [](const std::string& one) { return !one.starts_with("GIT_CONFIG_"); });
  return variables;
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

/// A command may have removed the folder that the next one should start in.
std::string MakeSureOfCwd(Workspace& workspace) {
  if (Exists(workspace.cwd)) return "";
  workspace.cwd = workspace.project;
  return fmt::format("(The working directory was gone. It is now {}.)\n", workspace.cwd);
}

TaskFacts FactsOf(const std::string& task_id, const Args& args, const Call& call) {
  return {.id = task_id,
          .kind = "shell",
          .name = TaskName(args.Text("command").value_or("")),
          .tool_call_id = call.tool_call_id};
}

protocol::Task TaskEvent(const TaskFacts& facts, std::string_view phase) {
  protocol::Task task;
  task.task_id = facts.id;
  task.kind = facts.kind;
  task.phase = phase;
  task.by = "model";
  if (phase == protocol::phase::kStart) task.name = facts.name;
  task.tool_call_id = facts.tool_call_id;
  return task;
}

class BashTool final : public Tool {
 public:
  explicit BashTool(ShellAccess access)
      : shells_(access.shells),
        variables_(std::move(access.variables)),
        hidden_(std::move(access.hidden)) {
    constexpr std::string_view kEnd = R"(},"required":["command"],"additionalProperties":false})";
    schema_ = fmt::format("{}{}{}", kSchema, access.sandboxed ? kUnsandboxed : "", kEnd);
  }

  [[nodiscard]] std::string_view name() const override { return "Bash"; }
  [[nodiscard]] std::string_view description() const override {
    return "Runs a bash command and gives its output, standard output and error together.\n"
           "- It starts in the working directory with the environment that stet was started with; "
           "login and profile files are not read. A cd inside the project lasts for the next call, "
           "variables do not.\n"
           "- There is no terminal. Input is empty unless stdin is given; programs that ask for a "
           "password, an editor or a confirmation fail: use their options that ask nothing.\n"
           "- What still runs after wait_time seconds (120 unless given, at most 600) goes on in "
           "the background: the call gives the output so far and a task id for BashTask. With "
           "background it does so at once: for servers and watchers. timeout is the hard end, in "
           "the background too.\n"
           "- When the command ends, everything that it started is killed: use background instead "
           "of & or nohup for what should stay.\n"
           "- Long output is shown in part. For files use Read, Edit, Write, Glob and Grep.";
  }
  [[nodiscard]] std::string_view schema() const override { return schema_; }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    Intent intent;
    intent.effects = true;
    intent.command = Args(args).Text("command").value_or("");
    if (intent.command.find('\0') != std::string::npos)
      return Fail(Code::kInvalid, "The command has a NUL byte in it.");
    intent.summary = Summary(Args(args));
    intent.unsandboxed = Args(args).Flag("dangerouslyDisableSandbox");
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const std::string cwd_note = MakeSureOfCwd(call.workspace) + call.sandbox_note;
    // What cannot write leaves nothing to be found.
    const bool reads = call.sandbox != nullptr && call.sandbox->profile.only_reads();
    Result<std::shared_ptr<const ProjectScan>> before = std::shared_ptr<const ProjectScan>();
    if (!reads) before = co_await LookAtProject(call.workspace, call.loop, call.cancel);
    if (!before) co_return Problem("The command was not run: " + before.error().Text());
    if (IsForTerminal(Args(args), call))
      co_return co_await RunInEditor(args, *before, cwd_note, call);
    const bool writes_in_box =
        call.sandbox != nullptr && !reads && !call.sandbox->profile.takes_nothing_else();
    const std::vector<std::string> not_yet =
        writes_in_box ? NotYetObeyed(RepositoriesIn(call.workspace, **before))
                      : std::vector<std::string>();
    if (Args(args).Flag("background"))
      co_return StartTask(Args(args), {.before = *before, .not_yet = not_yet}, cwd_note, call);

    Result<std::unique_ptr<Shell>> shell = Shell::Start(call.loop, CommandOf(Args(args), call));
    if (!shell) co_return Problem("The command was not run: " + shell.error().Text());
    ShellWake wake = ShellWake::kEnded;
    {
      const ShellUpdates updates(**shell, call);
      wake = co_await AwaitShell(**shell, WaitTime(Args(args)), call);
    }
    std::string stopped = "Stopped: the call was cancelled.";
    std::optional<TaskFacts> task;
    if (wake == ShellWake::kWaited && !(*shell)->how()) {
      Result<TaskFacts> moved = RecordMove(**shell, Args(args), call);
      if (moved)
        task = *std::move(moved);
      else
        stopped = "Stopped: " + moved.error().Text();
    }
    if (!task) co_await StopShell(**shell, call);
    ShellFacts facts = co_await FactsSince(*before, call);
    std::string notes = cwd_note;
    notes += SetAsideNote(SetAside(not_yet));
    notes += GitNotes(Args(args).Text("command").value_or(""), variables_(), call);
    if ((*shell)->how()) notes += FollowCwd((*shell)->ended_in(), call.workspace);
    Outcome outcome = Report({.shell = **shell,
                              .task_id = task ? task->id : "",
                              .stopped = std::move(stopped),
                              .notes = std::move(notes)},
                             facts, call);
    if (task) {
      // Ignoring the error on purpose: without a file of its own its output stays where it is.
      std::string path = shells_.OutputPath(task->id).value_or("");
      if (!path.empty() && !(*shell)->MoveOutput(path)) path.clear();
      shells_.Keep(
          std::make_shared<ShellTask>(*std::move(task), *std::move(shell), std::move(path),
                                      ShellStart{.before = facts.scan, .not_yet = not_yet}));
    }
    co_return outcome;
  }

 private:
  /// In a terminal of the client's editor, where people see it run.
  Async<Outcome> RunInEditor(const Raw& args, std::shared_ptr<const ProjectScan> before,
                             std::string notes, Call& call) {
    const TerminalRequest request{.command = Args(args).Text("command").value_or(""),
                                  .hidden = hidden_,
                                  .variables = GitSettingsIn(variables_()),
                                  .timeout = Timeout(Args(args))};
    Result<TerminalRan> ran = co_await RunInTerminal(request, call);
    if (!ran) co_return Problem("The command was not run: " + ran.error().Text());
    ShellFacts facts = co_await FactsSince(before, call);
    notes += ran->note + FollowCwd(ran->ended_in, call.workspace);
    const TerminalReport report{
        .output = ran->output, .how = ran->how, .stopped = ran->stopped, .notes = std::move(notes)};
    co_return Report(report, std::move(facts), call);
  }

  [[nodiscard]] ShellCommand CommandOf(const Args& args, const Call& call) const {
    return {.command = args.Text("command").value_or(""),
            .cwd = call.workspace.cwd,
            .variables = variables_(),
            .input = args.Text("stdin"),
            .keep_input_open = args.Flag("background"),
            .timeout = Timeout(args),
            .sandbox = call.sandbox};
  }

  /// A command in the background from its start.
  Outcome StartTask(const Args& args, ShellStart start, const std::string& note, Call& call) {
    const Result<std::string> task_id = shells_.NewTaskId();
    if (!task_id) return Problem("The command was not run: " + task_id.error().Text());
    Result<std::string> path = shells_.OutputPath(*task_id);
    if (!path) return Problem("The command was not run: " + path.error().Text());
    TaskFacts facts = FactsOf(*task_id, args, call);
    if (const Status recorded = call.record_task(TaskEvent(facts, protocol::phase::kStart));
        !recorded)
      return Problem("The command was not run: " + recorded.error().Text());
    ShellCommand command = CommandOf(args, call);
    command.output_path = *path;
    Result<std::unique_ptr<Shell>> shell = Shell::Start(call.loop, command);
    if (!shell) {
      protocol::Task end = TaskEvent(facts, protocol::phase::kEnd);
      end.status = "failed";
      // Ignoring the error on purpose: the result that follows meets it as well.
      (void)call.record_task(std::move(end));
      return Problem("The command was not run: " + shell.error().Text());
    }
    Outcome outcome =
        Report({.shell = **shell, .task_id = *task_id, .stopped = "", .notes = note}, {}, call);
    shells_.Keep(std::make_shared<ShellTask>(std::move(facts), *std::move(shell), *std::move(path),
                                             std::move(start)));
    return outcome;
  }

  /// On record before the call ends without the command.
  Result<TaskFacts> RecordMove(const Shell& shell, const Args& args, Call& call) {
    ASSIGN_OR_RETURN(const std::string task_id, shells_.NewTaskId());
    TaskFacts facts = FactsOf(task_id, args, call);
    protocol::Task event = TaskEvent(facts, protocol::phase::kStart);
    event.pid = shell.pid();
    RETURN_IF_ERROR(call.record_task(std::move(event)));
    return facts;
  }

  Shells& shells_;
  Variables variables_;
  std::vector<std::string> hidden_;
  std::string schema_;
};

}  // namespace

std::unique_ptr<Tool> MakeBashTool(ShellAccess access) {
  return std::make_unique<BashTool>(std::move(access));
}

}  // namespace stet::tool
