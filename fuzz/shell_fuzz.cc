// Shell commands out of arbitrary bytes: any answer, the same one each time, and what is put behind
// a line that only reads is seen.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/shell/auto.h"
#include "policy/shell/combine.h"
#include "policy/shell/rules.h"
#include "policy/shell/shell.h"

namespace stet::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  const policy::ShellPlace place = {"/p", "/home/u"};
  const std::vector<std::string> roots = {"/p"};
  const policy::ShellAnalysis analysis = policy::AnalyseShell(line, place);
  CHECK(analysis == policy::AnalyseShell(line, place), "the same line has the same answer");
  CHECK(analysis.understood == analysis.why.empty(), "what is not understood says why");

  const bool reads = policy::IsReadOnly(analysis);
  const bool allowed = policy::AutoVerdict(analysis, false, roots).allowed;
  CHECK(!allowed || policy::AutoVerdict(analysis, true, roots).allowed,
        "a sandbox only allows more");
  CHECK(policy::ShellCovers(line, analysis), "a rule covers its own text");
  CHECK(analysis.understood || policy::ShellTouches("rm *", analysis),
        "a deny holds for what is not understood");

  // A line that goes on would take it as its arguments.
  if (reads && !line.ends_with('\\')) {
    const policy::ShellAnalysis more = policy::AnalyseShell(line + "\nrm -rf src", place);
    CHECK(!policy::IsReadOnly(more), "a command on the next line is seen");
    CHECK(policy::ShellTouches("rm *", more), "a deny holds for the command on the next line");
    const std::vector<std::string_view> rules = {"ls*", "cat *", "make*", "git log*"};
    const policy::CombineBounds bounds = {
        .is_home = [](const std::string&) { return true; },
        .only_reads =
            [](const policy::ShellCommand& command) {
              return command.effect == policy::ShellEffect::kReadOnly;
            },
        .may_write = [](const policy::ShellPath&) { return true; }};
    CHECK(policy::CombineRules(rules, more, bounds).kind == policy::Combined::Kind::kNone,
          "rules that say nothing of a command do not let it run together");
  }
  return 0;
}

}  // namespace stet::fuzz
