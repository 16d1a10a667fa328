#include "policy/policy.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

Rules In(Mode mode, std::string_view allow = "", std::string_view deny = "") {
  return {.mode = mode,
          .project = "/p",
          .home = "/home/u",
          .allow = *ParseRules(allow),
          .ask = {},
          .deny = *ParseRules(deny)};
}

Question Command(const std::string& command) {
  return {.tool = "Bash",
          .effects = true,
          .reads = {},
          .writes = {},
          .command = command,
          .shell = AnalyseShell(command, {.cwd = "/p", .home = "/home/u"})};
}

Question Write(const std::string& path) {
  return {.tool = "Write", .effects = true, .reads = {}, .writes = {path}, .command = ""};
}

Question Read(const std::string& path) {
  return {.tool = "Read", .effects = false, .reads = {path}, .writes = {}, .command = ""};
}

TEST(PolicyTest, ReadingInsideTheProjectIsAllowedAndOutsideAsked) {
  const Rules rules = In(Mode::kDefault);
  EXPECT_EQ(Decide(rules, Read("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Read("/p")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Read("/pq/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, Read("/etc/passwd")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, ChangesAndCommandsAreAskedUnlessTheyOnlyRead) {
  const Rules rules = In(Mode::kDefault);
  EXPECT_EQ(Decide(rules, Write("/p/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, Command("make")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, Command("ls -la")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("cat a | grep b | wc -l")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("cat /etc/passwd")).verdict, Verdict::kAsk) << "outside";
  EXPECT_EQ(Decide(rules, Command("cat a > b")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, EachModeIsWhatItsNameSays) {
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Write("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Write("/q/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Command("make")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Command("mkdir -p a/b")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Command("mkdir /q")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(In(Mode::kPlan, "Write"), Write("/p/a")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kPlan, "Bash"), Command("make")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kPlan), Command("git log --oneline")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kPlan), Read("/p/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kBypass), Command("rm -rf /")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(In(Mode::kBypass, "", "Bash(rm *)"), Command("rm -rf /")).verdict,
            Verdict::kDeny);
}

TEST(PolicyTest, ARuleForACommandCoversNoOtherBehindIt) {
  const Rules rules = In(Mode::kDefault, "Bash(git status*),Read");
  EXPECT_EQ(Decide(rules, Command("git status")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("git status -s")).verdict, Verdict::kAllow);
  for (const char* trick :
       {"git status; rm -rf x", "git status && x", "git status\nrm x", "git status $(rm x)",
        "git status `rm x`", "git status > x", "git push"})
    EXPECT_EQ(Decide(rules, Command(trick)).verdict, Verdict::kAsk) << trick;
}

TEST(PolicyTest, AutoRunsWhatIsKnownToBeHarmlessAndAsksAboutTheRest) {
  const Rules rules = In(Mode::kAuto);
  EXPECT_EQ(Decide(rules, Write("/p/a")).verdict, Verdict::kAllow);
  for (const char* harmless :
       {"ls -la src", "git status", "git diff --stat", "cat a b", "date +%s"})
    EXPECT_EQ(Decide(rules, Command(harmless)).verdict, Verdict::kAllow) << harmless;
  for (const char* asked :
       {"rm a", "ls; rm a", "cat /etc/passwd", "cat ../x", "git push", "git -c core.pager=x log",
        "git diff --output x", "date -s 1", "cat a > b", "find . -delete", "A=b ls", ""})
    EXPECT_NE(Decide(rules, Command(asked)).verdict, Verdict::kAllow) << asked;
}

TEST(PolicyTest, DontAskDeniesWhatWouldBeAsked) {
  EXPECT_EQ(Decide(In(Mode::kDontAsk), Command("make")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kDontAsk, "Bash(make)"), Command("make")).verdict, Verdict::kAllow);
}

TEST(PolicyTest, AGrantCoversTheSameCallAgainAndNothingElse) {
  Rules rules = In(Mode::kDefault);
  const Question command = Command("rm *");
  rules.allow.push_back(GrantFrom(RuleText(GrantFor(rules, command))));
  EXPECT_EQ(Decide(rules, command).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("rm x")).verdict, Verdict::kAsk) << "the star is a star";
  rules.allow.push_back(GrantFor(rules, Command("make && (cd a; ls)")));
  EXPECT_EQ(Decide(rules, Command("make && (cd a; ls)")).verdict, Verdict::kAllow);
  rules.allow.push_back(GrantFor(rules, Write("/p/a")));
  EXPECT_EQ(Decide(rules, Write("/p/b")).verdict, Verdict::kAllow) << "files of the project";
  rules = In(Mode::kDefault);
  rules.allow.push_back(GrantFor(rules, Write("/q/a")));
  EXPECT_EQ(Decide(rules, Write("/q/b")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, AnAddressIsAskedUnlessItsDomainIsAllowed) {
  const Rules rules = In(Mode::kDefault, "WebFetch(domain:example.com)");
  const auto fetch = [](const std::string& url) {
    return Question{
        .tool = "WebFetch", .effects = false, .reads = {}, .writes = {}, .command = "", .url = url};
  };
  EXPECT_EQ(Decide(rules, fetch("https://example.com/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, fetch("https://docs.example.com:8080/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, fetch("https://badexample.com/a")).verdict, Verdict::kAsk);
  EXPECT_EQ(Decide(rules, fetch("https://example.com@evil.org/")).verdict, Verdict::kAsk);
}

TEST(PolicyTest, DenyBeatsAllow) {
  const Rules rules = In(Mode::kDefault, "Bash", "Bash(rm *)");
  EXPECT_EQ(Decide(rules, Command("ls -l")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("rm -rf x")).verdict, Verdict::kDeny);
}

TEST(PolicyTest, ADeniedFileIsDeniedToEveryToolAndCommand) {
  const Rules rules = In(Mode::kBypass, "Bash,Read,Edit", "Read(secret)");
  EXPECT_EQ(Decide(rules, Read("/p/secret/a")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Read("/p/other/a")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Write("/p/secret/a")).verdict, Verdict::kDeny);
  Question grep = Read("/p/secret");
  grep.tool = "Grep";
  EXPECT_EQ(Decide(rules, grep).verdict, Verdict::kDeny);
  for (const char* command : {"cat secret/a", "cd secret && cat a", "cp secret/a b",
                              "cat < secret/a", "grep -r x .", "tar cf - .", "cat s*/a"})
    EXPECT_EQ(Decide(rules, Command(command)).verdict, Verdict::kDeny) << command;
  EXPECT_EQ(Decide(rules, Command("cat other/a")).verdict, Verdict::kAllow);
}

TEST(PolicyTest, WhatIsExcludedIsClosedToAll) {
  Rules rules = In(Mode::kBypass, "Read,Write,Bash");
  rules.exclude = std::make_shared<const IgnoreFile>("private/\n*.csv\n");
  EXPECT_EQ(Decide(rules, Read("/p/private/a")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Read("/p/x/data.csv")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Write("/p/private/a")).rule, "exclude");
  EXPECT_EQ(Decide(rules, Command("head data.csv")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Read("/p/a.txt")).verdict, Verdict::kAllow);
  rules.mode = Mode::kAuto;
  rules.allow.clear();
  EXPECT_EQ(Decide(rules, Command("grep -r x .")).verdict, Verdict::kAsk) << "it may come by";
  EXPECT_EQ(Decide(rules, Command("cat a.txt")).verdict, Verdict::kAllow);
  Circumstances now{.sandboxed = true};
  EXPECT_EQ(Decide(rules, Command("python3 x.py"), now).verdict, Verdict::kAsk);
  now.hides_excluded = true;
  EXPECT_EQ(Decide(rules, Command("python3 x.py"), now).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("grep -r x ."), now).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("head data.csv"), now).verdict, Verdict::kDeny)
      << "named all the same";
}

TEST(PolicyTest, WhatGitWouldRunForARepositoryIsAskedUnlessGrantedHere) {
  Question status = Command("git status");
  status.shell->commands[0].git_runs = "core.fsmonitor in .git/config";
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto, Mode::kPlan}) {
    Rules rules = In(mode, "Bash,Bash(git *)");
    const Circumstances now{.sandboxed = true};
    const Decision decision = Decide(rules, status, now);
    EXPECT_EQ(decision.verdict, Verdict::kAsk) << ModeName(mode);
    EXPECT_TRUE(decision.firm && decision.reason.contains("core.fsmonitor")) << decision.reason;
    rules.allow.push_back(GrantFrom("Bash(git status)", Source::kUser));
    EXPECT_EQ(Decide(rules, status, now).verdict, Verdict::kAsk) << "it was given somewhere else";
    rules.allow.push_back(GrantFrom("Bash(git status)", Source::kLocal));
    EXPECT_EQ(Decide(rules, status, now).verdict, Verdict::kAllow) << ModeName(mode);
  }
  EXPECT_EQ(Decide(In(Mode::kDontAsk), status).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kBypass), status).verdict, Verdict::kAllow);
}

TEST(PolicyTest, WhatOnlyReadsIsKeptToThatWhereverItDoes) {
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kPlan}) {
    for (const char* line : {"ls", "cd sub && git status", "git -C sub log", "# nothing"}) {
      const Decision decision = Decide(In(mode), Command(line));
      if (decision.verdict != Verdict::kAllow) continue;
      EXPECT_EQ(decision.box, Box::kReads) << line << " in " << ModeName(mode);
    }
  }
  EXPECT_EQ(Decide(In(Mode::kAcceptEdits), Command("mkdir a")).box, Box::kEdits);
}

TEST(PolicyTest, GitOutsideOfTheProjectOrWhoKnowsWhereIsAsked) {
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto}) {
    for (const char* line : {"cd /q && git status", "git -C /q log", "cd $x && git status"})
      EXPECT_EQ(Decide(In(mode), Command(line)).verdict, Verdict::kAsk) << line;
  }
  EXPECT_EQ(Decide(In(Mode::kDefault), Command("cd sub && git status")).verdict, Verdict::kAllow);
}

TEST(PolicyTest, GuardedPlacesAreAskedAboutInEveryModeUnlessGrantedByName) {
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto, Mode::kBypass}) {
    Rules rules = In(mode, "Write,Edit,Bash");
    for (const char* path :
         {"/p/.git/hooks/pre-commit", "/p/.git/config", "/p/.GIT/Hooks/x", "/p/.stet/config.toml",
          "/home/u/.bashrc", "/home/u/.ssh/authorized_keys", "/p/.vscode/tasks.json",
          "/p/.git/modules/a/hooks/x", "/p/.envrc", "/p/.claude/settings.json"})
      EXPECT_EQ(Decide(rules, Write(path)).rule, "guarded") << path;
    EXPECT_EQ(Decide(rules, Command("echo x > .git/hooks/pre-commit")).rule, "guarded");
    EXPECT_EQ(Decide(rules, Command("cp a ~/.bashrc")).rule, "guarded");
    const Question hook = Write("/p/.git/hooks/pre-commit");
    rules.allow.push_back(GrantFor(rules, hook));
    EXPECT_EQ(Decide(rules, hook).verdict, Verdict::kAllow) << "granted is not asked again";
    EXPECT_EQ(Decide(rules, Write("/p/.git/hooks/other")).verdict, Verdict::kAsk);
  }
}

TEST(PolicyTest, WhatLooksSecretIsReadOnlyWhenSomebodySaysSo) {
  const Rules rules = In(Mode::kAuto, "Read,Bash");
  for (const char* path : {"/p/.env", "/p/a/.env.local", "/p/key.pem", "/home/u/.aws/credentials",
                           "/p/ID_RSA", "/p/secrets.yaml"})
    EXPECT_EQ(Decide(rules, Read(path)).rule, "secrets") << path;
  EXPECT_EQ(Decide(rules, Command("cat .env")).rule, "secrets");
  for (const char* path : {"/p/.env.example", "/p/id_rsa.pub", "/p/environment.cc", "/p/keys.md"})
    EXPECT_EQ(Decide(rules, Read(path)).verdict, Verdict::kAllow) << path;
}

TEST(PolicyTest, StetsOwnFilesAreClosedInEveryMode) {
  Rules rules = In(Mode::kBypass, "Write,Read,Bash");
  rules.own = {"/d/sessions", "/c/config.toml"};
  rules.sealed = {"/d/vault"};
  EXPECT_EQ(Decide(rules, Write("/d/sessions/s/events.jsonl")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Write("/c/config.toml")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Read("/c/config.toml")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Read("/d/vault")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Command("cat /d/vault")).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(rules, Command("rm -rf /d/sessions")).verdict, Verdict::kDeny);
}

TEST(PolicyTest, AChangeThatReachesFurtherThanItsPathIsAsked) {
  Question write = Write("/p/a");
  write.caution = "a has 2 names";
  for (const Mode mode : {Mode::kAcceptEdits, Mode::kAuto})
    EXPECT_EQ(Decide(In(mode, "Write"), write).rule, "caution");
}

TEST(PolicyTest, LeavingTheSandboxIsAlwaysAsked) {
  Question command = Command("make");
  command.unsandboxed = true;
  Rules rules = In(Mode::kAuto, "Bash");
  rules.allow.push_back(GrantFor(rules, command));
  EXPECT_EQ(Decide(rules, command).rule, "unsandboxed");
}

TEST(PolicyTest, ADecisionSaysWhoMadeItsRule) {
  Rules rules = In(Mode::kDefault);
  rules.deny = *ParseRules("Bash(rm *)", Source::kProject);
  rules.allow = *ParseRules("Bash(make)", Source::kUser);
  EXPECT_EQ(Decide(rules, Command("rm a")).rule, "deny:Bash(rm *), the project's file");
  EXPECT_EQ(Decide(rules, Command("make")).rule, "allow:Bash(make), your configuration");
}

TEST(PolicyTest, PatternsStartAtTheProjectTheHomeOrTheRoot) {
  const auto denies = [](std::string_view rule, const std::string& path) {
    return Decide(In(Mode::kBypass, "", rule), Read(path)).verdict == Verdict::kDeny;
  };
  EXPECT_TRUE(denies("Read(src/*.key)", "/p/src/a.key"));
  EXPECT_FALSE(denies("Read(src/*.key)", "/p/src/b/a.key"));
  EXPECT_TRUE(denies("Read(*.key)", "/p/src/b/a.key"));
  EXPECT_TRUE(denies("Read(./docs)", "/p/docs/a/b"));
  EXPECT_TRUE(denies("Read(~/mail)", "/home/u/mail/inbox"));
  EXPECT_TRUE(denies("Read(/etc/*)", "/etc/ssh/key"));
  EXPECT_TRUE(denies("Read(//etc/shadow)", "/etc/shadow"));
  EXPECT_FALSE(denies("Read(/etc/*)", "/p/etc/a"));
}

TEST(PolicyTest, RulesAreReadFromAList) {
  const auto rules = ParseRules("Read, Bash(git log *) Edit");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 3U);
  EXPECT_EQ((*rules)[1].specifier, "git log *");
  EXPECT_FALSE(ParseRules("Bash(git"));
  EXPECT_FALSE(ParseRules("(x)"));
  EXPECT_EQ((*ParseRules("Bash(echo $(date))"))[0].specifier, "echo $(date)");
}

TEST(PolicyTest, ARuleForAToolThatThereIsNotIsAnError) {
  for (const char* wrong : {"bash(make)", "Bsah(make)", "Raed", "Webfetch", "Bassh(x)", "Writ"})
    EXPECT_FALSE(ParseRules(wrong)) << wrong;
  EXPECT_EQ(ParseRules("Bsah(make)").error().message, "there is no tool Bsah: is Bash meant?");
  for (const char* right : {"Bash", "mcp__a__b", "mcp__*", "*", "Task(x)", "CountWords", "Lint"})
    EXPECT_TRUE(ParseRules(right)) << right;
  const std::vector<std::string> tools = {"CountWords"};
  EXPECT_TRUE(CheckTools(*ParseRules("Bash(x),CountWords,mcp__a__b"), tools));
  EXPECT_FALSE(CheckTools(*ParseRules("Lint(x)"), tools));
}

TEST(PolicyTest, WhatTheRunWithholdsIsDeniedInEveryMode) {
  for (const Mode mode :
       {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto, Mode::kDontAsk, Mode::kBypass}) {
    Rules rules = In(mode, "Bash,Write");
    Circumstances now{.run = {.may_write = false, .may_run = true, .reason = "the tests fail"}};
    const Decision write = Decide(rules, Write("/p/a"), now);
    EXPECT_EQ(write.verdict, Verdict::kDeny);
    EXPECT_EQ(write.rule, "run:write");
    EXPECT_EQ(write.reason, "the tests fail");
    EXPECT_EQ(Decide(rules, Read("/p/a"), now).verdict, Verdict::kAllow);
    EXPECT_EQ(Decide(rules, Command("make"), now).verdict, Verdict::kAllow);
    now.run = {.may_write = true, .may_run = false, .reason = "no"};
    EXPECT_EQ(Decide(rules, Command("make"), now).rule, "run:run");
    // An effect that nothing is known of needs both.
    Question other;
    other.tool = "Deploy";
    other.effects = true;
    EXPECT_EQ(Decide(rules, other, now).rule, "run:run");
  }
}

TEST(PolicyTest, AWayOutOfTheSandboxIsAlwaysAsked) {
  Question question = Command("make");
  question.unsandboxed = true;
  for (const Mode mode : {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto}) {
    EXPECT_EQ(Decide(In(mode, "Bash"), question).rule, "unsandboxed");
    EXPECT_EQ(Decide(In(mode, "Bash(make)"), question).verdict, Verdict::kAsk);
  }
  EXPECT_EQ(Decide(In(Mode::kDontAsk, "Bash"), question).verdict, Verdict::kDeny);
  EXPECT_EQ(Decide(In(Mode::kDefault, "Bash", "Bash"), question).verdict, Verdict::kDeny);
}

TEST(PolicyTest, AHardRuleComesFirstAndSaysSo) {
  Rules rules = In(Mode::kBypass, "Bash");
  rules.hard = *ParseRules("Bash(git push*)");
  const Decision decision = Decide(rules, Command("git push --force"));
  EXPECT_EQ(decision.verdict, Verdict::kDeny);
  EXPECT_TRUE(decision.hard);
  EXPECT_EQ(decision.rule, "hard:Bash(git push*)");
  EXPECT_FALSE(Decide(In(Mode::kBypass, "", "Bash"), Command("x")).hard);
}

TEST(PolicyTest, WhatRulesForbidIsSaidAsFilesWhereABoxCanHideThem) {
  const Places places{.project = "/p", .home = "/home/u"};
  const auto files = [&](const std::string& text) {
    return ForbiddenBy((*ParseRules(text))[0], places);
  };
  EXPECT_EQ(files("Read(secret)"), (ForbiddenFiles{"/p", "secret", true}));
  EXPECT_EQ(files("Edit(./a/*.lock)"), (ForbiddenFiles{"/p", "/a/*.lock", false}));
  EXPECT_EQ(files("Read(//srv/keys)"), (ForbiddenFiles{"/srv/keys", "", true}));
  EXPECT_EQ(files("Grep(~/.aws/**)"), (ForbiddenFiles{"/home/u/.aws", "", true}));
  EXPECT_EQ(files("Read(~/notes/*.md)"), (ForbiddenFiles{"/home/u/notes", "/*.md", true}));
  for (const char* wide : {"Read(/**/.env)", "Read(~/**/id)", "Read(~/*)", "Read(/home/u)",
                           "Read(/)", "Read(/p/**)", "Bash(x)", "Read", "Read(!x)"})
    EXPECT_FALSE(files(wide)) << wide;
}

TEST(PolicyTest, WhereWhatIsDeniedIsHiddenNothingIsRefusedBecauseItMayReachThat) {
  Rules rules = In(Mode::kBypass);
  rules.deny = *ParseRules("Read(secret)");
  EXPECT_EQ(Decide(rules, Command("cat $x")).verdict, Verdict::kDeny);
  Circumstances now;
  now.hides_denied = true;
  EXPECT_EQ(Decide(rules, Command("cat $x"), now).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("cat secret"), now).verdict, Verdict::kDeny);
  rules.deny = *ParseRules("Read(/**/.env)");
  EXPECT_EQ(Decide(rules, Command("cat $x"), now).verdict, Verdict::kDeny) << "it may be anywhere";
  rules.deny = *ParseRules("Edit(locked)");
  EXPECT_EQ(Decide(rules, Command("touch $x"), now).verdict, Verdict::kDeny)
      << "what is not there yet cannot be kept from being made";
}

TEST(PolicyTest, AlwaysForACommandThatIsRepeatedMeansWhatItBeginsWith) {
  Rules rules = In(Mode::kDefault);
  const Rule rule = GrantFrom(RuleText(GrantFor(rules, Command("npm run test -- --watch"))));
  EXPECT_EQ(RuleText(rule), "Bash(npm run test:*)");
  EXPECT_FALSE(rule.exact);
  rules.allow = {rule};
  EXPECT_EQ(Decide(rules, Command("npm run test")).verdict, Verdict::kAllow);
  EXPECT_EQ(Decide(rules, Command("npm run test -- -u")).verdict, Verdict::kAllow);
  for (const char* line : {"npm run tests", "npm run build", "npm run test && rm x",
                           "npm run test > /etc/x", "NODE_OPTIONS=x npm run test"})
    EXPECT_EQ(Decide(rules, Command(line)).verdict, Verdict::kAsk) << line;
  EXPECT_TRUE(GrantFrom("Bash(rm:*)").exact) << "nothing that GrantFor gives";
  rules.ask = *ParseRules("Bash(npm *)");
  EXPECT_EQ(RuleText(GrantFor(rules, Command("npm run test"))), "Bash(npm run test)")
      << "a wider one would not be heard";
}

TEST(PolicyTest, GitThatWritesItsConfigurationIsAskedBeforeAnyOfItRan) {
  for (const Mode mode : {Mode::kAuto, Mode::kAcceptEdits}) {
    Rules rules = In(mode);
    const Circumstances now{.run = {}, .sandboxed = true, .hides_excluded = true};
    for (const char* line :
         {"git branch -m a b", "git branch -u origin/x", "git branch --unset-upstream",
          "git remote add x y", "git remote set-url x y", "git config user.name x",
          "git checkout --track origin/x", "git switch -t origin/x", "git init",
          "git submodule update --init"})
      EXPECT_EQ(Decide(rules, Command(line), now).verdict, Verdict::kAsk) << line;
    for (const char* line : {"git commit -m x", "git add -A", "git branch x"})
      EXPECT_EQ(Decide(rules, Command(line), now).verdict, Verdict::kAllow) << line;
  }
  const Decision ruled = Decide(In(Mode::kAuto, "Bash(git *)"), Command("git remote add x y"));
  EXPECT_EQ(ruled.verdict, Verdict::kAllow);
  EXPECT_TRUE(ruled.outward) << "a rule is a person's word, and no box fits it";
}

}  // namespace
}  // namespace stet::policy
