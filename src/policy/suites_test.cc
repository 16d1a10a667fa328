// The recorded suites: rules on lines, lines that must not run unasked without a box, and lines of
// everyday work that must run unasked.
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/random.h"
#include "base/source_dir_fixture.h"
#include "base/text.h"
#include "policy/policy.h"

namespace stet::policy {
namespace {

std::vector<std::string> SuiteLines(const std::string& name) {
  const Result<std::string> text = ReadFile(SourceDir() + "/tests/data/" + name);
  std::vector<std::string> lines;
  if (!text) return lines;
  for (const std::string_view line : SplitLines(*text)) {
    if (!line.starts_with('#') && !line.empty()) lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> Columns(const std::string& line) {
  std::vector<std::string> columns;
  std::size_t at = 0;
  while (at <= line.size()) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    columns.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return columns;
}

Rules SuiteRules(Mode mode, std::string_view allow = "", std::string_view deny = "") {
  return {.mode = mode,
          .project = "/p",
          .home = "/home/u",
          .allow = *ParseRules(allow),
          .ask = {},
          .deny = *ParseRules(deny)};
}

Question SuiteQuestion(const std::string& command) {
  return {.tool = "Bash",
          .effects = true,
          .reads = {},
          .writes = {},
          .command = command,
          .shell = AnalyseShell(command, {.cwd = "/p", .home = "/home/u"})};
}

std::string WhatBecomes(const Decision& decision) {
  if (decision.verdict == Verdict::kAsk) return "asks";
  if (decision.verdict == Verdict::kDeny) return "denies";
  return decision.box == Box::kNone ? "allows" : "boxed";
}

TEST(PolicySuiteTest, RulesTogetherSayOfALineWhatIsWritten) {
  const std::vector<std::string> lines = SuiteLines("rule_pairs.txt");
  ASSERT_GE(lines.size(), 300U);
  int hostile = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> columns = Columns(line);
    ASSERT_EQ(columns.size(), 4U) << line;
    std::string command = columns[3];
    for (std::size_t at; (at = command.find("\\n")) != std::string::npos;)
      command.replace(at, 2, "\n");
    const Decision decision =
        Decide(SuiteRules(Mode::kDefault, columns[1], columns[2]), SuiteQuestion(command));
    EXPECT_EQ(WhatBecomes(decision), columns[0])
        << "under " << columns[1] << (columns[2].empty() ? "" : ", denied " + columns[2]) << ": "
        << command << "\n  " << decision.rule << ": " << decision.reason;
    if (columns[0] == "asks" || columns[0] == "denies") ++hostile;
  }
  EXPECT_GE(hostile, 150);
}

TEST(PolicySuiteTest, TheReasonNamesThePartThatNoRuleCovers) {
  const auto reason = [](std::string_view allow, const std::string& line) {
    return Decide(SuiteRules(Mode::kDefault, allow), SuiteQuestion(line)).reason;
  };
  EXPECT_TRUE(
      reason("Bash(make*)", "make test && rm -rf src").starts_with("no rule covers `rm -rf src`"));
  EXPECT_TRUE(reason("Bash(make*)", "cd /tmp && make test").contains("outside of the project"));
  EXPECT_TRUE(reason("Bash(make*)", "export CC=./x; make").contains("it sets CC"));
  EXPECT_EQ(Decide(SuiteRules(Mode::kDefault, "Bash(make*)"), SuiteQuestion("make | tail -5")).rule,
            "allow:Bash(make*), and the rest only reads");
}

/// Lines that hide the command that they run, or part of it, in each way that we know.
std::vector<std::string> LinesAround(const std::string& command) {
  std::vector<std::string> lines;
  for (const char* around : {"{}",
                             "ls; {}",
                             "ls && {}",
                             "ls | {}",
                             "({})",
                             "{{ {}; }}",
                             "! {}",
                             "if true; then {}; fi",
                             "for i in 1; do {}; done",
                             "while {}; do break; done",
                             "f() {{ {}; }}; f",
                             "echo $({})",
                             "echo `{}`",
                             "cat <({})",
                             "sudo {}",
                             "env {}",
                             "env A=b {}",
                             "nice -n 5 {}",
                             "timeout 5 {}",
                             "nohup {} &",
                             "setsid {}",
                             "command {}",
                             "builtin eval '{}'",
                             "exec {}",
                             "time {}",
                             "jobs -x {}",
                             "xargs {}",
                             "find . -exec {} {{}} +",
                             "find . -exec sh -c '{}' \\;",
                             "fd -x {}",
                             "bash -c '{}'",
                             "sh -c '{}'",
                             "bash <<<'{}'",
                             "echo '{}' | sh",
                             "eval {}",
                             "eval '{}'",
                             "trap '{}' EXIT",
                             "watch '{}'",
                             "su -c '{}'",
                             "systemd-run {}",
                             "unshare -r {}",
                             "script -c '{}' /dev/null",
                             "newtool {}",
                             "newtool --do '{}'",
                             "ssh host {}",
                             "docker run img {}",
                             "python3 -c 'import os; os.system(\"{}\")'",
                             "python3 -c 'run(\"{}\")'",
                             "awk 'BEGIN {{ system(\"{}\") }}'",
                             "sed '1e {}' f",
                             "git -c alias.x='!{}' x",
                             "make -f - <<<'all:;{}'",
                             "make --eval='all:;{}' all",
                             "CC='{}' make",
                             "at now <<<'{}'",
                             "echo '{}' | at now",
                             "sqlite3 x '.shell {}'",
                             "vim -c '!{}' f",
                             "tmux new -d '{}'",
                             "gdb -batch -ex 'shell {}'",
                             "find . -exec $x {} \\;",
                             "f() {{ \"$@\"; }}; f {}",
                             "set -- {}; \"$@\"",
                             "x='{}'; $x",
                             "env -S '{}'",
                             "npm exec -- {}",
                             "git submodule foreach '{}'",
                             "git bisect run {}",
                             "tar -cf /dev/null --checkpoint-action=exec='{}' f",
                             "$X {}",
                             "x='a[$({})]'; echo $((x))",
                             "x='a[$({})]'; [[ $x -eq 1 ]] > f",
                             "[ -v 'a[$({})]' ]",
                             "declare -i x='a[$({})]'",
                             "echo x >&'$({})'",
                             "echo x >&f\"$({})\"",
                             "ls 'unclosed; {}",
                             "PATH=. {}",
                             "alias ls='{}'; ls",
                             "enable -n echo; {}",
                             "source <(echo {})",
                             "busybox {}",
                             "flock f {}",
                             "parallel {} ::: 1",
                             "npx {}",
                             "uv run {}",
                             "coproc {}"})
    lines.push_back(fmt::format(fmt::runtime(around), command));
  return lines;
}

TEST(PolicySuiteTest, NothingPassesByARuleThatDeniesInBypass) {
  struct Denied {
    const char* rule;
    const char* command;
  };
  for (const Denied& denied :
       {Denied{"Bash(touch *)", "touch made"}, Denied{"Bash(touch*)", "touch made"},
        Denied{"Bash(rm *)", "rm -rf src"}, Denied{"Bash(rm -rf *)", "rm -rf src"},
        Denied{"Bash(git push*)", "git push origin main"},
        Denied{"Bash(npm publish*)", "npm publish"}}) {
    for (const std::string& line : LinesAround(denied.command)) {
      Rules rules = SuiteRules(Mode::kBypass, "", denied.rule);
      EXPECT_EQ(Decide(rules, SuiteQuestion(line)).verdict, Verdict::kDeny)
          << denied.rule << " on " << line;
      std::swap(rules.deny, rules.hard);
      const Decision hard = Decide(rules, SuiteQuestion(line));
      EXPECT_TRUE(hard.verdict == Verdict::kDeny && hard.hard) << line;
      std::swap(rules.ask, rules.hard);
      rules.mode = Mode::kAuto;
      EXPECT_NE(Decide(rules, SuiteQuestion(line), {.sandboxed = true}).verdict, Verdict::kAllow)
          << line;
    }
    // And what is known to be something else runs.
    for (const char* other :
         {"ls -la", "make test", "./script.sh", "cat $x", "python3 -c 'print(1)'", "npm test",
          "for f in *.c; do wc -l $f; done", "git status"})
      EXPECT_EQ(Decide(SuiteRules(Mode::kBypass, "", denied.rule), SuiteQuestion(other)).verdict,
                Verdict::kAllow)
          << denied.rule << " on " << other;
  }
}

TEST(PolicySuiteTest, NothingReachesADeniedFileUnseenInBypass) {
  for (const char* line : {"cat $x", "cat \"$(echo secret/a)\"", "cat $(cat f)", "head -1 ${x}t/a",
                           "cp $x b", "eval \"$x\"", "cat < $x", "echo a > $x", "xargs cat",
                           "cat secret/a", "cat s*/a", "cd $x && cat a", "bash -c \"$x\""}) {
    EXPECT_EQ(Decide(SuiteRules(Mode::kBypass, "", "Read(secret)"), SuiteQuestion(line)).verdict,
              Verdict::kDeny)
        << line;
    EXPECT_NE(
        Decide(SuiteRules(Mode::kDefault, "Bash", "Read(secret)"), SuiteQuestion(line)).verdict,
        Verdict::kAllow)
        << line;
  }
  for (const char* line : {"cat a", "make", "git reset --hard", "./run.sh", "echo $x",
                           "for f in src/*.c; do wc -l \"$f\"; done"})
    EXPECT_EQ(Decide(SuiteRules(Mode::kBypass, "", "Read(./secret)"), SuiteQuestion(line)).verdict,
              Verdict::kAllow)
        << line;
}

/// Lines made of a hostile command, wrappers and quotes: the same for the same seed.
class HostileGenerator {
 public:
  std::string Next() {
    std::string line = Quoted(Pick(kHostile));
    for (std::uint64_t left = random_.Below(4); left > 0; --left) line = Wrapped(line);
    return line;
  }

 private:
  static constexpr std::array<std::string_view, 16> kHostile = {
      "touch made",
      "rm -f src/a.txt",
      "cp src/a.txt made",
      "sh src/run.sh",
      "./src/run.sh",
      "sort -o made src/a.txt",
      "sed -n wmade src/a.txt",
      "tee made",
      "git branch made",
      "git log --output=made",
      "sort --outp=made src/a.txt",
      "git diff --outp=made",
      "find . -fprint made",
      "uniq src/a.txt made",
      "tree -o made",
      "git tag -d made",
  };
  static constexpr std::array<std::string_view, 18> kWrapping = {
      "env ",
      "env -i ",
      "env A=b ",
      "nice ",
      "nice -n 3 ",
      "nohup ",
      "timeout 5 ",
      "timeout -k1 5 ",
      "command ",
      "time ",
      "setsid ",
      "stdbuf -o0 ",
      "xargs ",
      "xargs -n1 ",
      "busybox ",
      "exec ",
      "find . -maxdepth 0 -exec ",
      "ionice -c3 ",
  };

  template <std::size_t N>
  std::string Pick(const std::array<std::string_view, N>& from) {
    return std::string(from[random_.Below(N)]);
  }

  /// Each word in some way that means the same.
  std::string Quoted(const std::string& command) {
    std::string out;
    for (std::size_t at = 0; at <= command.size();) {
      const std::size_t end = std::min(command.find(' ', at), command.size());
      out += (out.empty() ? "" : " ") + Word(command.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }

  std::string Word(const std::string& word) {
    switch (random_.Below(8)) {
      case 0: return "'" + word + "'";
      case 1: return "\"" + word + "\"";
      case 2: return "$'" + word + "'";
      case 3: return fmt::format("$'\\x{:02x}{}'", word[0], word.substr(1));
      case 4: return "\\" + word;
      case 5: return word.substr(0, 1) + "''" + word.substr(1);
      case 6: return fmt::format("\"{}\"{}", word.substr(0, 1), word.substr(1));
      default: return word;
    }
  }

  std::string Wrapped(const std::string& line) {
    const bool plain = !line.contains('\'') && !line.contains('"') && !line.contains('\\');
    switch (random_.Below(9)) {
      case 0: return plain ? "bash -c '" + line + "'" : "(" + line + ")";
      case 1: return plain ? "eval \"" + line + "\"" : "{ " + line + "; }";
      case 2: return "echo $(" + line + ")";
      case 3: return "ls src | " + line;
      case 4: return "[ -d src ] && " + line;
      default: {
        std::string prefix = Pick(kWrapping);
        const bool starts = line.starts_with('(') || line.starts_with('{') ||
                            line.starts_with('[') || line.contains(" | ") || line.contains(" && ");
        if (starts || (prefix.starts_with("find") && line.contains(';'))) return "true; " + line;
        if (prefix.starts_with("find")) return prefix + line + " \\;";
        return prefix + line;
      }
    }
  }

  Random random_{7};
};

TEST(PolicySuiteTest, NoHostileLineRunsUnaskedWithoutABox) {
  std::vector<std::string> lines = SuiteLines("unasked_commands.txt");
  ASSERT_GE(lines.size(), 1000U);
  for (const std::string& line : SuiteLines("box_commands.txt")) lines.push_back(line);
  std::set<std::string> made;
  HostileGenerator generator;
  while (made.size() < 600) made.insert(generator.Next());
  lines.insert(lines.end(), made.begin(), made.end());
  int reading = 0;
  int editing = 0;
  for (const std::string& line : lines) {
    const Question question = SuiteQuestion(line);
    for (const Mode mode : {Mode::kDefault, Mode::kPlan, Mode::kAcceptEdits, Mode::kDontAsk}) {
      const Decision decision = Decide(SuiteRules(mode), question);
      EXPECT_FALSE(decision.verdict == Verdict::kAllow && decision.box == Box::kNone) << line;
      if (decision.verdict == Verdict::kAllow && mode == Mode::kAcceptEdits)
        ++(decision.box == Box::kReads ? reading : editing);
      if (decision.verdict == Verdict::kAllow && mode == Mode::kPlan)
        std::printf("  taken for reading: %s\n", line.c_str());
    }
  }
  std::printf(
      "%zu hostile lines, %zu of them made: %d taken for reading, %d for edits of the "
      "project; their boxes must hold them\n",
      lines.size(), made.size(), reading, editing);
  EXPECT_LE(reading, 2);
}

TEST(PolicySuiteTest, OfEverydayLinesNearlyAllRunUnasked) {
  std::map<std::string, int> counted;
  std::map<std::string, int> asked;
  for (const std::string& line : SuiteLines("everyday_commands.txt")) {
    const std::vector<std::string> columns = Columns(line);
    ASSERT_GE(columns.size(), 2U) << line;
    const Question question = SuiteQuestion(line.substr(columns[0].size() + 1));
    const auto count = [&](const std::string& name, const Decision& decision) {
      ++counted[name];
      if (decision.verdict == Verdict::kAllow && decision.box != Box::kNone) return;
      ++asked[name];
      std::printf("  asked in %s: %s (%s: %s)\n", name.c_str(), question.command.c_str(),
                  decision.rule.c_str(), decision.reason.c_str());
    };
    if (columns[0] == "reads") {
      count("default", Decide(SuiteRules(Mode::kDefault), question));
      count("plan", Decide(SuiteRules(Mode::kPlan), question));
    }
    count("auto", Decide(SuiteRules(Mode::kAuto), question, {.sandboxed = true}));
  }
  ASSERT_GE(counted["auto"], 500);
  for (const auto& [name, count] : counted) {
    std::printf("%s: %d of %d lines run unasked\n", name.c_str(), count - asked[name], count);
    EXPECT_LE(asked[name] * 20, count) << name;
  }
}

}  // namespace
}  // namespace stet::policy
