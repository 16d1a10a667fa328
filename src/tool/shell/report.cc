#include "tool/shell/report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "sandbox/blocked.h"

namespace stet::tool {

namespace {

constexpr std::chrono::milliseconds kUpdateEvery{100};

/// How it ended, when that is worth a line.
std::string EndOf(const ShellHow& how, std::chrono::seconds timeout, const std::string& stopped) {
  switch (how.why) {
    case ShellHow::Why::kTimeout:
      return fmt::format("Stopped after {} s, which was its timeout.\n", timeout.count());
    case ShellHow::Why::kStopped: return stopped + "\n";
    case ShellHow::Why::kSignal: return fmt::format("Killed by signal {}.\n", how.signal);
    case ShellHow::Why::kExited: break;
  }
  return how.exit_code == 0 ? "" : fmt::format("Exit code {}\n", how.exit_code);
}

std::string StateOf(const ShellReport& report) {
  const auto& how = report.shell.how();
  std::string end = how ? EndOf(*how, report.shell.timeout(), report.stopped) : "";
  if (report.task_id.empty()) return end;
  if (!how)
    return fmt::format("It runs in the background as task {}. BashTask reads what it writes.\n",
                       report.task_id);
  return fmt::format("Task {} has ended.\n{}", report.task_id,
                     end.empty() ? "Exit code 0\n" : std::move(end));
}

/// What is told of a command, wherever it ran.
struct Told {
  const ShellOutput& output;
  const std::optional<ShellHow>& how;
  std::uint64_t from = 0;
  std::string task_id;
  std::string end;  // Lines behind the output.
  std::string kept_back = {};
};

Raw Details(const Told& told, const ShellFacts& facts) {
  Raw raw{""};
  JsonWriter writer(raw.text);
  writer.BeginObject();
  if (told.how) {
    writer.Member("exitCode", std::int64_t{told.how->exit_code});
    writer.Member("signal", std::int64_t{told.how->signal});
  }
  writer.Member("bytes", static_cast<std::int64_t>(told.output.total()));
  if (!told.task_id.empty()) writer.Member("taskId", told.task_id);
  if (facts.scan) {
    writer.Key("scan").BeginObject();
    writer.Member("entries", static_cast<std::int64_t>(facts.scan->top->entries));
    writer.Member("capped", facts.scan->capped);
    writer.Member("ms", facts.scan->ms).EndObject();
  }
  writer.EndObject();
  return raw;
}

Outcome Tell(const Told& told, ShellFacts facts, Call& call) {
  std::string text = told.output.Show(told.from, call.put_blob);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += told.end;
  if (!facts.new_guarded.empty())
    text += fmt::format(
        "(It made {}{}, which other programs obey: the user should look at it first.)\n",
        facts.new_guarded.front(),
        facts.new_guarded.size() == 1
            ? ""
            : fmt::format(" and {} more such places", facts.new_guarded.size() - 1));
  if (text.empty()) text = "(no output)\n";
  Outcome outcome = Say(std::move(text));
  outcome.kept_back = told.kept_back;
  outcome.is_error = told.how && !told.how->success();
  outcome.details = Details(told, facts);
  outcome.writes = std::move(facts.facts);
  return outcome;
}

/// What the sandbox kept it from, once it has ended.
std::string BlockedIn(const Shell& shell, const Workspace& workspace) {
  const sandbox::Confinement* confinement = shell.confinement();
  if (confinement == nullptr || !shell.how()) return "";
  const std::string output = shell.output().Tail(sandbox::kMaxBlockedBytes);
  return sandbox::ExplainBlocked({.profile = confinement->profile(),
                                  .cwd = workspace.cwd,
                                  .output = output,
                                  .exit_code = shell.how()->exit_code,
                                  .refused_hosts = confinement->RefusedHosts()});
}

}  // namespace

Outcome Report(const ShellReport& report, ShellFacts facts, Call& call) {
  const std::string blocked = BlockedIn(report.shell, call.workspace);
  const Told told{.output = report.shell.output(),
                  .how = report.shell.how(),
                  .from = report.from,
                  .task_id = report.task_id,
                  .end = StateOf(report) + report.notes + blocked,
                  .kept_back = std::string(FirstLine(blocked))};
  return Tell(told, std::move(facts), call);
}

Outcome Report(const TerminalReport& report, ShellFacts facts, Call& call) {
  const std::optional<ShellHow> how = report.how;
  const Told told{.output = report.output,
                  .how = how,
                  .from = 0,
                  .task_id = "",
                  .end = EndOf(report.how, std::chrono::seconds(0), report.stopped) + report.notes};
  return Tell(told, std::move(facts), call);
}

ShellUpdates::ShellUpdates(Shell& shell, Call& call)
    : shell_(shell), call_(call), timer_(call.loop) {
  shell_.OnOutput([this](std::string_view text) { OnOutput(text); });
}

void ShellUpdates::OnOutput(std::string_view text) {
  pending_.append(text.substr(text.size() - std::min(text.size(), kMaxUpdateBytes)));
  if (pending_.size() > kMaxUpdateBytes) pending_.erase(0, pending_.size() - kMaxUpdateBytes);
  if (std::exchange(waiting_, true)) return;
  timer_.Start(kUpdateEvery, [this] {
    waiting_ = false;
    call_.update(ReplaceInvalidUtf8(std::exchange(pending_, {})));
  });
}

Async<ShellWake> AwaitShell(Shell& shell, std::chrono::milliseconds wait, Call& call) {
  const Pending<ShellWake> wake(call.loop);
  Timer timer(call.loop);
  timer.Start(wait, [wake] { wake.Set(ShellWake::kWaited); });
  shell.OnEnd([wake] { wake.Set(ShellWake::kEnded); });
  const CancelRegistration cancelled =
      call.cancel.OnCancel([wake] { wake.Set(ShellWake::kCancelled); });
  co_return co_await wake;
}

Async<void> StopShell(Shell& shell, Call& call) {
  const Pending<bool> ended(call.loop);
  shell.OnEnd([ended] { ended.Set(true); });
  shell.Stop();
  (void)co_await ended;
}

}  // namespace stet::tool
