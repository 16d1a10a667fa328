// ProgramTest: the real program, named by $STET_BIN, asks the emulator as a user would have it ask:
// by its configuration file and the environment.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "json/view.h"
#include "protocol/models.h"
#include "tests/model/model_fixture.h"

namespace stet::test {

inline constexpr std::chrono::seconds kPatience{60};

/// What a program that must succeed printed.
inline std::string RunTool(std::vector<std::string> argv) {
  SpawnOptions options{.argv = std::move(argv), .merge_stderr = true};
  const std::string name = options.argv[0];
  const Result<Finished> finished =
      Subprocess::Run(std::move(options), Deadline::After(kPatience), {});
  EXPECT_TRUE(finished) << finished.error().Text() << "; install it: scripts/install_packages test";
  if (!finished) return "";
  EXPECT_EQ(finished->exit_code, 0) << name << ": " << finished->out;
  return finished->out;
}

class ProgramTest : public ModelTest {
 protected:
  struct Checked {
    int exit_code = -1;
    protocol::ModelCheck check;
    std::string err;
  };

  /// `stet models check` of a model at this address, with these variables ("K=V") and no others.
  Checked Check(const std::string& base_url, std::vector<std::string> variables) {
    WriteConfig(base_url);
    const char* binary = std::getenv("STET_BIN");
    EXPECT_NE(binary, nullptr) << "$STET_BIN names the program to test";
    if (binary == nullptr) return {};
    SpawnOptions options;
    options.argv = {binary, "models", "check", "--json"};
    variables.push_back("STET_HOME=" + home_.path());
    variables.emplace_back("STET_IN_SANDBOX=1");  // Tests may run as root.
    variables.push_back("TEST_KEY=sk-secret");
    options.env = std::move(variables);
    const Result<Finished> finished =
        Subprocess::Run(std::move(options), Deadline::After(kPatience), {});
    EXPECT_TRUE(finished) << finished.error().Text();
    if (!finished) return {};
    EXPECT_EQ(finished->end, Finished::End::kExited) << finished->signal;
    EXPECT_EQ(finished->out.find("sk-secret"), std::string::npos);
    EXPECT_EQ(finished->err.find("sk-secret"), std::string::npos);
    Result<protocol::ModelCheck> check = Decode<protocol::ModelCheck>(finished->out);
    EXPECT_TRUE(check) << finished->out << finished->err;
    if (!check) return {};
    return {finished->exit_code, *std::move(check), finished->err};
  }

  void ExpectAnswered(const Checked& checked) {
    EXPECT_TRUE(checked.check.ok) << checked.check.message.value_or("");
    EXPECT_EQ(checked.check.reply, "ready");
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.check.attempts, 1) << checked.err;
  }

  /// A header of the last request that the emulator got.
  [[nodiscard]] std::string ReceivedHeader(std::string_view name) const {
    const std::vector<emulator::RequestRecord> requests = emulator_->Requests();
    EXPECT_FALSE(requests.empty());
    if (requests.empty()) return "";
    return JsonView(requests.back().headers.text)[name].StringOr("");
  }

 private:
  void WriteConfig(const std::string& base_url) const {
    const Status written = ReplaceFile(home_.Sub("config.toml"),
                                       fmt::format(R"(
[model]
type = "custom"
provider = "test"
id = "m"
api = "anthropic-messages"
baseUrl = "{}"
apiKeyEnv = "TEST_KEY"
[model.clocks]
connectMs = 20000
firstByteMs = 20000
idleFailMs = 500
[model.retry]
maxTries = 3
firstWaitMs = 1
longestWaitMs = 2
)",
                                                   base_url),
                                       Durable::kNo);
    EXPECT_TRUE(written) << written.error().Text();
  }

  TempDir home_;
};

inline constexpr std::string_view kReady =
    R"({"replies":[{"times":0,"blocks":[{"text":"ready"}]}]})";

}  // namespace stet::test
