// `stet setup`, `doctor`, `config` and `completion` with the real program.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "json/view.h"
#include "protocol/device.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class SetupTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return program_.home() + "/config.toml"; }
  void Configure(std::string_view toml) const {
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(path(), toml, Durable::kNo));
  }
  [[nodiscard]] std::string Configured() const { return ReadFile(path()).value_or("(none)"); }
  [[nodiscard]] protocol::DoctorReport Doctor(int exit_code) const {
    const Ran ran = program_.Run({"doctor", "--json"});
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out;
    return Decode<protocol::DoctorReport>(ran.out).value_or(protocol::DoctorReport());
  }
  static std::string VerdictOf(const protocol::DoctorReport& report, std::string_view name) {
    for (const protocol::CheckRow& row : report.checks)
      if (row.name == name) return row.verdict;
    return "(none)";
  }

  Program program_;
};

TEST_F(SetupTest, AnswersMayBePipedIn) {
  const Ran ran = program_.Run({"setup"}, "anthropic\nclaude-sonnet-5-5\nMY_KEY\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(
      Configured(),
      "[model]\nprovider = \"anthropic\"\nid = \"claude-sonnet-5-5\"\napiKeyEnv = \"MY_KEY\"\n");
  EXPECT_NE(ran.err.find("export MY_KEY="), std::string::npos) << ran.err;
}

TEST_F(SetupTest, FlagsAnswerBeforehand) {
  const Ran ran = program_.Run({"setup", "--provider", "openai", "--model", "x", "--yes"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(Configured(), "[model]\nprovider = \"openai\"\nid = \"x\"\n");
  EXPECT_NE(ran.err.find("export OPENAI_API_KEY="), std::string::npos) << ran.err;
}

TEST_F(SetupTest, NothingIsReplacedUnaskedAndTheRestOfTheFileStays) {
  const std::string before =
      "# mine\n[ui]\nbellAfterMs = 5\n[model]\nprovider = \"openai\"\nid = \"a\"\n[model.retry]\n"
      "maxTries = 2\n[policy]\nmode = \"plan\"\n";
  Configure(before);
  const std::vector<std::string> setup = {"setup", "--provider", "mistral", "--model", "m"};
  EXPECT_EQ(program_.Run(setup, "n\n").exit_code, 1);
  EXPECT_EQ(Configured(), before);
  EXPECT_EQ(program_.Run(setup).exit_code, 2) << "no user answers";
  EXPECT_EQ(Configured(), before);
  EXPECT_EQ(program_.Run(setup, "y\n").exit_code, 0);
  EXPECT_EQ(Configured(),
            "# mine\n[ui]\nbellAfterMs = 5\n[policy]\nmode = \"plan\"\n\n[model]\nprovider = "
            "\"mistral\"\nid = \"m\"\n");
  EXPECT_EQ(ReadFile(path() + ".old").value_or(""), before);
}

TEST_F(SetupTest, AProviderThatThereIsNotIsSaidToBeSo) {
  const Ran ran = program_.Run({"setup", "--provider", "nobody", "--model", "m", "--yes"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("nobody"), std::string::npos);
  EXPECT_EQ(Configured(), "(none)");
}

TEST_F(SetupTest, TheDoctorSaysWhatIsWrongAndWhatToDo) {
  EXPECT_EQ(VerdictOf(Doctor(0), "model"), "warn");
  Configure("[model]\nprovider = \"openai\"\nid = \"gpt-5\"\n");
  const protocol::DoctorReport no_key = Doctor(1);
  EXPECT_FALSE(no_key.ok);
  EXPECT_EQ(VerdictOf(no_key, "model"), "fail");
  EXPECT_EQ(VerdictOf(no_key, "configuration"), "ok");
  Configure("[model]\nfoo = 1\n");
  EXPECT_EQ(VerdictOf(Doctor(1), "configuration"), "fail");
  const Ran text = program_.Run({"doctor"});
  EXPECT_NE(text.out.find("config.toml:2: Unsupported config key: model.foo"), std::string::npos)
      << text.out;
}

TEST_F(SetupTest, ASessionThatCannotBeReadIsFound) {
  ASSERT_EQ(program_.Run({"-p", "list *"}).exit_code, 0);
  EXPECT_EQ(VerdictOf(Doctor(0), "sessions"), "ok");
  ASSERT_TRUE(MakeDirs(program_.SessionDir("ses_broken")));
  ASSERT_TRUE(
      ReplaceFile(program_.SessionDir("ses_broken") + "/events.jsonl", "rubbish", Durable::kNo));
  EXPECT_EQ(VerdictOf(Doctor(1), "sessions"), "fail");
}

TEST_F(SetupTest, TheConfigurationIsShownWithItsSources) {
  EXPECT_EQ(program_.Run({"config", "path"}).out, path() + "\n");
  EXPECT_EQ(program_.Run({"config", "check"}).exit_code, 0);
  Configure(
      "[ui]\nbellAfterMs = 5\n[model]\nprovider='openai'\nid='m'\nheaders={'X-Key'='secret'}\n");
  const Ran shown = program_.Run({"config", "show"});
  EXPECT_NE(shown.out.find("= 5  # " + path() + ":2"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("\"strict\"  # default"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("secret"), std::string::npos) << shown.out;
  const Ran json = program_.Run({"config", "show", "--json"});
  EXPECT_EQ(JsonView(json.out)["exists"].Bool(), true) << json.out;
  Configure("[ui]\n\nbellAfter = 5\n");
  const Ran wrong = program_.Run({"config", "check"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.err.find("config.toml:3: Unsupported config key: ui.bellAfter"),
            std::string::npos)
      << wrong.err;
}

TEST_F(SetupTest, TheCompletionWorksInBash) {
  const Ran script = program_.Run({"completion", "bash"});
  ASSERT_EQ(script.exit_code, 0);
  const auto complete = [&](const std::string& words) {
    SpawnOptions options;
    options.argv = {"bash", "-c",
                    script.out + "\nCOMP_WORDS=(" + words +
                        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stet; echo ${COMPREPLY[*]}"};
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(20)), {});
    return ran ? ran->out + ran->err : ran.error().Text();
  };
  EXPECT_EQ(complete("stet sess"), "sessions\n");
  EXPECT_EQ(complete("stet sessions re"), "rewind restore-files repair restore\n");
  EXPECT_EQ(complete("stet sessions ls --j"), "--json\n");
  EXPECT_EQ(complete("stet --output-format ''"), "text json stream-json\n");
  EXPECT_EQ(complete("stet --cwd ''"), "\n") << "bash completes files itself";
  EXPECT_EQ(complete("stet completion z"), "zsh\n");
  EXPECT_EQ(program_.Run({"completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace stet::scenario
