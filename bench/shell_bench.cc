// shell_bench: what it costs to understand a shell command: one of 200 characters, the recorded
// ordinary ones, and a long script. One JSON line per measurement.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/text.h"
#include "bench/measure.h"
#include "policy/shell/auto.h"
#include "policy/shell/shell.h"

namespace stet::bench {
namespace {

constexpr int kRuns = 2000;
constexpr std::string_view kTypical =
    "cd packages/api && NODE_ENV=test npx jest --runInBand 'src/**/*.test.ts' 2>&1 | grep -E "
    "'FAIL|PASS' | sort -u | head "
    "-50; git diff --stat -- src tests && git log --oneline -5 | cat && echo \"exit: $?\"";

/// How long one decision takes, in ms.
double Decide(const std::string& line) {
  const std::vector<std::string> roots = {"/p"};
  const Stopwatch watch;
  (void)policy::AutoVerdict(policy::AnalyseShell(line, {"/p", "/home/u"}), true, roots);
  return watch.ms();
}

void Print(std::string_view what, std::size_t bytes, std::vector<double> times) {
  std::ranges::sort(times);
  fmt::print(R"({{"what":"{}","bytes":{},"median_ms":{:.4f},"p99_ms":{:.4f},"most_ms":{:.4f}}})"
             "\n",
             what, bytes, times[times.size() / 2], times[times.size() * 99 / 100], times.back());
}

int Main() {
  const std::string typical(kTypical);
  std::vector<double> times;
  times.push_back(Decide(typical));
  Print("first", typical.size(), times);
  times.clear();
  for (int i = 0; i < kRuns; ++i) times.push_back(Decide(typical));
  Print("typical", typical.size(), std::move(times));

  const Result<std::string> list = ReadFile(STET_SOURCE_DIR "/tests/data/ordinary_commands.txt");
  if (!list) return 1;
  times.clear();
  std::size_t bytes = 0;
  for (const std::string_view line : SplitLines(*list)) {
    const std::string command(line.substr(line.find('\t') + 1));
    bytes += command.size();
    times.push_back(Decide(command));
  }
  const std::size_t average = bytes / times.size();
  Print("ordinary", average, std::move(times));

  std::string script;
  while (script.size() < 8000) script += "if [ -f a ]; then cat a | sort > /tmp/b; fi\n";
  times.clear();
  for (int i = 0; i < 50; ++i) times.push_back(Decide(script));
  Print("script", script.size(), std::move(times));
  return 0;
}

}  // namespace
}  // namespace stet::bench

int main() { return stet::bench::Main(); }
