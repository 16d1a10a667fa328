// BashTask: reads, feeds and stops a command that runs in the background.
#include <algorithm>

#include <fmt/format.h>

#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/git/obeyed.h"
#include "tool/shell/report.h"

namespace stet::tool {

namespace {

class BashTaskTool final : public Tool {
 public:
  explicit BashTaskTool(Shells& shells) : shells_(shells) {}

  [[nodiscard]] std::string_view name() const override { return "BashTask"; }
  [[nodiscard]] std::string_view description() const override {
    return "Works with a command that Bash left running in the background.\n"
           "- read gives the output since the last time and whether it still runs. It waits up to "
           "wait_time seconds (0 unless given, at most 600) for the command to end.\n"
           "- write sends stdin to its input, newlines included as they are; without stdin it "
           "closes the input. Then it does what read does. Only a command that was started with "
           "background takes input.\n"
           "- stop ends it and everything that it started, and gives the rest of its output.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("task_id":{"type":"string","minLength":1,"description":"As Bash gave it: shell-1."},)"
           R"("action":{"type":"string","enum":["read","write","stop"]},)"
           R"("stdin":{"type":"string","maxLength":1000000,"description":"For write."},)"
           R"("wait_time":{"type":"integer","minimum":0,"maximum":600,)"
           R"("description":"Seconds to wait for its end."}},)"
           R"("required":["task_id","action"],"additionalProperties":false})";
  }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace&) const override {
    const std::string action = Args(args).Text("action").value_or("");
    Intent intent;
    // What is written may be a command for the program that reads it.
    intent.effects = action == "write";
    intent.summary = fmt::format("{} {}", action, Args(args).Text("task_id").value_or(""));
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const std::string task_id = Args(args).Text("task_id").value_or("");
    const std::string action = Args(args).Text("action").value_or("");
    const auto found = shells_.Find(task_id);
    if (!found) {
      const std::optional<std::string> past = shells_.PastOf(task_id);
      if (!past) co_return Problem(found.error().Text());
      co_return action == "read" ? Say(*past) : Problem(*past);
    }
    ShellTask& task = **found;
    if (action == "write") {
      if (const Status written = Write(Args(args), task.shell()); !written)
        co_return Problem(written.error().Text());
    }
    if (action == "stop") {
      task.Stop("model");
      co_await StopShell(task.shell(), call);
    } else {
      const ShellUpdates updates(task.shell(), call);
      const std::chrono::seconds wait(
          std::clamp<std::int64_t>(Args(args).Int("wait_time").value_or(0), 0, kMaxWaitS));
      (void)co_await AwaitShell(task.shell(), wait, call);
    }
    ShellFacts facts;
    if (task.before && task.shell().how()) {
      const auto before = std::exchange(task.before, nullptr);
      facts = co_await FactsSince(before, call);
    }
    Outcome outcome = Report({.shell = task.shell(),
                              .from = task.read_to,
                              .task_id = task.facts().id,
                              .stopped = "It was stopped.",
                              .notes = SetAsideNote(task.set_aside())},
                             std::move(facts), call);
    task.read_to = task.shell().output().total();
    co_return outcome;
  }

 private:
  static Status Write(const Args& args, Shell& shell) {
    if (const auto text = args.Text("stdin")) return shell.Write(*text);
    shell.CloseInput();
    return {};
  }

  Shells& shells_;
};

}  // namespace

std::unique_ptr<Tool> MakeBashTaskTool(Shells& shells) {
  return std::make_unique<BashTaskTool>(shells);
}

}  // namespace stet::tool
