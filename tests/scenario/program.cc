#include "tests/scenario/program.h"

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "json/view.h"
#include "tests/model/cause_fixture.h"
#include "tests/model/projection_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::chrono::seconds kProgramPatience{60};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Program::Program() : binary_(Variable("STET_BIN")) {
  EXPECT_FALSE(binary_.empty()) << "$STET_BIN names the program to test; ./test sets it";
  EXPECT_TRUE(MakeDirs(work()));
}

Program::~Program() {
  // What was started in the background may still work.
  if (!binary_.empty() && Exists(home() + "/host.json")) (void)Run({"host", "stop"});
  const Result<std::vector<DirEntry>> sessions = ListDir(home() + "/sessions");
  if (!sessions || binary_.empty()) return;
  for (const DirEntry& session : *sessions) {
    // A session that cannot be read, or that has not asked a model yet, is not checked.
    const Ran ran = Run({"replay", session.name, "--json"});
    if (ran.out.empty()) continue;
    EXPECT_EQ(JsonView(ran.out)["different"].IntOr(-1), 0) << ran.out;
    test::ExpectCauses(SessionDir(session.name));
    test::ExpectProjections(SessionDir(session.name), 60);
  }
}

SpawnOptions Program::Options(std::vector<std::string> arguments) const {
  SpawnOptions options;
  options.argv = std::move(arguments);
  options.argv.insert(options.argv.begin(), binary_);
  options.env = std::vector<std::string>{
      "STET_HOME=" + home(), "PATH=" + Variable("PATH"), "TZ=UTC", "LC_ALL=C.UTF-8",
      "COLUMNS=100",         "STET_IN_SANDBOX=1"};  // Tests may run as root.
  options.cwd = work();
  return options;
}

Ran Program::Run(std::vector<std::string> arguments, std::string input) const {
  SpawnOptions options = Options(std::move(arguments));
  options.stdin_data = std::move(input);
  const Result<Finished> finished =
      Subprocess::Run(std::move(options), Deadline::After(kProgramPatience), {});
  EXPECT_TRUE(finished) << finished.error().Text();
  if (!finished) return {};
  EXPECT_EQ(finished->end, Finished::End::kExited)
      << "signal " << finished->signal << ": " << finished->err;
  return {finished->exit_code, finished->out, finished->err};
}

}  // namespace stet::scenario
