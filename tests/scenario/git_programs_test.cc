// A repository whose own configuration, attributes and hooks name programs: no git command that a
// model issues runs them unasked, until the project is trusted for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/writer.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

class GitProgramsScenario : public ScriptedTest {
 protected:
  GitProgramsScenario() {
    Put("evil.sh",
        "#!/bin/sh\necho the program of the repository ran\necho \"$0\" >> " + marks_ + "\ncat\n",
        0755);
    Put("a.txt", "one\n");
    Git("git init -q -b main && git add a.txt && git commit -qm one");
    Put("a.txt", "two\n");
  }

  void Put(const std::string& name, const std::string& text, mode_t mode = 0644) {
    ASSERT_TRUE(MakeDirs(ParentDir(project_ + "/" + name)));
    ASSERT_TRUE(ReplaceFile(project_ + "/" + name, text, Durable::kNo, mode));
  }

  /// As a person would, outside of stet.
  void Git(const std::string& command) const {
    SpawnOptions options;
    options.argv = {"/bin/sh", "-c",
                    "export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=u@e GIT_COMMITTER_NAME=u "
                    "GIT_COMMITTER_EMAIL=u@e; " +
                        command};
    options.cwd = project_;
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), {});
    ASSERT_TRUE(ran && ran->exit_code == 0) << command << (ran ? ran->err : "");
  }
  void ExpectItRunsOutside(const std::string& command) const {
    Git(command);
    EXPECT_TRUE(Exists(marks_)) << command << ": the test would prove nothing";
    EXPECT_TRUE(RemoveTree(marks_));
  }

  /// A model that issues these, one after the other; the number of those that ran.
  int Issue(const std::vector<std::string>& commands, const std::string& mode) {
    std::string calls;
    for (const std::string& command : commands) {
      calls += calls.empty() ? "" : ",";
      calls += R"({"call":{"name":"Bash","args":{"command":)";
      AppendJsonString(calls, command);
      calls += "}}}";
    }
    Script(R"({"replies":[{"blocks":[)" + calls +
           R"(]},{"times":0,"blocks":[{"text":"Done."}]}]})");
    const int before = Started(sessions_);
    const Ran ran = Stet({"-p", "--permission-mode", mode, "go"});
    said_ = ran.out + ran.err;
    results_ = sessions_ = Log();
    return Started(sessions_) - before;
  }
  static int Started(const std::string& log) {
    constexpr std::string_view kStarted = R"("type":"tool_started")";
    int count = 0;
    for (std::size_t at = log.find(kStarted); at != std::string::npos;
         at = log.find(kStarted, at + 1))
      ++count;
    return count;
  }

  std::string marks_ =
      project_ + "/marks";  // In the project: a sandbox would not keep it from there.
  std::string evil_ = project_ + "/evil.sh";
  std::string sessions_;  // The logs of those before.
  std::string results_;
  std::string said_;
};

TEST_F(GitProgramsScenario, ProgramsThatItsConfigurationNamesAreNotRunUnasked) {
  Put(".gitattributes", "*.txt filter=x diff=x\n");
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"core.fsmonitor", "git status"},
      {"diff.external", "git diff"},
      {"diff.x.textconv", "git log -p -1"},
      {"diff.x.command", "git diff"},
      {"filter.x.clean", "touch a.txt; git status; git diff --stat"},
  };
  for (const auto& [name, command] : settings) {
    Git(fmt::format("git config {} {}", name, evil_));
    ExpectItRunsOutside(command);
    for (const char* mode : {"default", "auto", "acceptEdits", "plan", "dontAsk"}) {
      EXPECT_EQ(Issue({"git status", "git diff", "git log -p -1", "git show HEAD", "git add a.txt",
                       "cd . && git status", "bash -c 'git diff --stat'", "git stash list"},
                      mode),
                0)
          << name << " in mode " << mode << ": " << results_;
      EXPECT_FALSE(Exists(marks_)) << name << " in mode " << mode;
    }
    EXPECT_TRUE(results_.contains("git would obey the repository")) << results_;
    EXPECT_TRUE(results_.contains(name + " in .git/config")) << results_;
    Git(fmt::format("git config --unset {}", name));
  }
  EXPECT_EQ(Issue({"git status", "git diff --stat"}, "default"), 2) << results_;
}

TEST_F(GitProgramsScenario, ItsHooksAreKeptOff) {
  for (const char* hook : {"post-index-change", "pre-commit", "post-commit"})
    Put(std::string(".git/hooks/") + hook, "#!/bin/sh\necho $0 >> " + marks_ + "\n", 0755);
  ExpectItRunsOutside("touch a.txt; git status");
  Git("touch a.txt");
  EXPECT_EQ(Issue({"git status", "git log"}, "default"), 2) << results_;
  EXPECT_FALSE(Exists(marks_)) << ReadFile(marks_).value_or("");
  EXPECT_TRUE(said_.contains("hook post-commit in .git/hooks/post-commit")) << said_;
  // In mode auto it even commits.
  Git("git config user.name u; git config user.email u@e");
  EXPECT_EQ(Issue({"git add a.txt", "git commit -m two"}, "auto"), 2) << results_;
  EXPECT_TRUE(results_.contains("1 file changed")) << results_;
  EXPECT_FALSE(Exists(marks_)) << ReadFile(marks_).value_or("");
  Git("git config core.hooksPath .git/hooks && touch a.txt");
  EXPECT_EQ(Issue({"git status"}, "auto"), 1) << results_;
  EXPECT_FALSE(Exists(marks_)) << ReadFile(marks_).value_or("");
}

TEST_F(GitProgramsScenario, OnceTrustedTheyRunAndAChangeAsksAgain) {
  Git("git config diff.external " + evil_);
  EXPECT_EQ(program_.Run({"trust", "--cwd", project_, "git"}).exit_code, 0);
  EXPECT_EQ(Issue({"git diff"}, "default"), 1) << results_;
  EXPECT_NE(results_.find("the program of the repository ran"), std::string::npos) << results_;
  EXPECT_FALSE(Exists(marks_)) << "what only reads writes nothing, whoever is trusted";
  Git("git branch other && git branch -u main other");
  EXPECT_EQ(Issue({"git diff"}, "default"), 1) << "what git itself keeps there does not count";
  Git("git config diff.external '" + evil_ + " again'");
  EXPECT_EQ(Issue({"git diff"}, "default"), 0) << results_;
  EXPECT_FALSE(Exists(marks_));
}

TEST_F(GitProgramsScenario, ARepositoryInsideOfTheProjectIsNotObeyedEither) {
  Git("git init -q sub && git init -q --bare bare && git -C bare config core.fsmonitor " + evil_);
  Put("sub/.git/hooks/post-index-change", "#!/bin/sh\necho $0 >> " + marks_ + "\n", 0755);
  Git("cp a.txt sub/ && git -C sub add a.txt && rm -f " + marks_);
  ExpectItRunsOutside("touch sub/a.txt; git -C sub status");
  Git("touch sub/a.txt && ln -s sub link");
  for (const char* mode : {"default", "auto"}) {
    EXPECT_EQ(Issue({"cd sub && git status", "git -C sub status", "cd link && git status",
                     "cd bare && git --work-tree=.. status", "cd bare; git log"},
                    mode),
              0)
        << mode << results_;
    EXPECT_FALSE(Exists(marks_)) << mode;
  }
  EXPECT_EQ(program_.Run({"trust", "--cwd", project_, "--all"}).exit_code, 0);
  EXPECT_EQ(Issue({"git -C sub status"}, "auto"), 0)
      << "trust is for the project's own: " << results_;
}

}  // namespace
}  // namespace stet::scenario
