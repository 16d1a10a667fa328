// policy_bench: what it costs to decide about a call, from what its tool intends to the verdict,
// with the disk looked at on the way: without a command, and with one of 200 characters. In a
// project of its own: a repository with 2,000 files in its index. One JSON line per measurement.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "agent/question.h"
#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "bench/measure.h"
#include "policy/policy.h"

namespace stet::bench {
namespace {

constexpr int kRuns = 2000;
constexpr int kFiles = 2000;
constexpr std::string_view kTypical =
    "cd packages/api && NODE_ENV=test npx jest --runInBand 'src/**/*.test.ts' 2>&1 | grep -E "
    "'FAIL|PASS' | sort -u | head "
    "-50; git diff --stat -- src tests && git log --oneline -5 | cat && echo \"exit: $?\"";

bool Sh(const std::string& folder, const std::string& command) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", command};
  options.cwd = folder;
  const Result<Finished> ran =
      Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(2)), {});
  return ran && ran->exit_code == 0;
}

/// As many rules as a user has who keeps them.
policy::Rules RulesOf(const std::string& project) {
  policy::Rules rules;
  rules.mode = policy::Mode::kAuto;
  rules.project = project;
  rules.home = "/home/u";
  rules.own = {"/home/u/.config/stet", "/home/u/.local/share/stet"};
  for (int i = 0; i < 30; ++i) {
    rules.allow.push_back(policy::GrantFrom(fmt::format("Bash(make part-{})", i)));
    rules.deny.push_back({.tool = "Edit", .specifier = fmt::format("generated/{}/**", i)});
    rules.ask.push_back({.tool = "Bash", .specifier = fmt::format("deploy-{} *", i)});
  }
  rules.exclude = std::make_shared<const IgnoreFile>("*.pem\nprivate/\n/data/*.csv\n");
  return rules;
}

struct Bench {
  tool::Workspace workspace;
  policy::Rules rules;

  void Measure(std::string_view what, std::string_view tool, const tool::Intent& intent) const {
    std::vector<double> times;
    std::size_t allowed = 0;
    for (int i = 0; i < kRuns; ++i) {
      const Stopwatch watch;
      const policy::Decision decision =
          policy::Decide(rules, agent::QuestionOf(tool, intent, workspace, rules),
                         {.sandboxed = true, .hides_excluded = true});
      times.push_back(watch.ms());
      allowed += decision.verdict == policy::Verdict::kAllow ? 1 : 0;
    }
    std::ranges::sort(times);
    fmt::print(R"({{"what":"{}","allowed":{},"median_ms":{:.4f},"p99_ms":{:.4f},"most_ms":{:.4f}}})"
               "\n",
               what, allowed == times.size(), times[times.size() / 2],
               times[times.size() * 99 / 100], times.back());
  }
};

int Main() {
  const TempDir dir;
  const std::string project = dir.path() + "/project";
  if (!MakeDirs(project + "/packages/api/src")) return 1;
  for (int i = 0; i < kFiles; ++i) {
    if (!ReplaceFile(fmt::format("{}/packages/api/src/file-{}.ts", project, i), "x", Durable::kNo))
      return 1;
  }
  if (!Sh(project, "git init -q && git add -A")) return 1;
  Bench bench{.workspace = {.project = project, .cwd = project}, .rules = RulesOf(project)};
  const std::string file = project + "/packages/api/src/file-7.ts";
  tool::Intent read;
  read.reads = {file};
  bench.Measure("read", "Read", read);
  tool::Intent edit;
  edit.effects = true;
  edit.writes = {file};
  bench.Measure("edit", "Edit", edit);
  tool::Intent fetch;
  fetch.effects = true;
  fetch.url = "https://example.com/a";
  bench.Measure("fetch", "WebFetch", fetch);
  tool::Intent command;
  command.effects = true;
  command.command = kTypical;
  bench.Measure("command", "Bash", command);
  command.command = "git status --short";
  bench.Measure("git", "Bash", command);
  return 0;
}

}  // namespace
}  // namespace stet::bench

int main() { return stet::bench::Main(); }
