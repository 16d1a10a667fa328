#include "policy/shell/shell.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

const ShellPlace kPlace = {"/p", "/home/u"};

ShellAnalysis Analyse(std::string_view line) { return AnalyseShell(line, kPlace); }

/// The programs and words that a line would run, in order: "rm -rf x".
std::vector<std::string> Commands(std::string_view line) {
  const ShellAnalysis analysis = Analyse(line);
  if (!analysis.understood) return {"?"};
  std::vector<std::string> out;
  for (const ShellCommand& command : analysis.commands) {
    if (command.wraps || command.words.empty()) continue;
    std::string text;
    for (const ShellWord& word : command.words) text += (text.empty() ? "" : " ") + word.text;
    out.push_back(text);
  }
  return out;
}

ShellCommand Last(std::string_view line) {
  const ShellAnalysis analysis = Analyse(line);
  return analysis.commands.empty() ? ShellCommand{} : analysis.commands.back();
}

using Lines = std::vector<std::string>;

TEST(ShellTest, EveryCommandOfALineIsFound) {
  EXPECT_EQ(Commands("a && b || c; d & e\nf"), (Lines{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(Commands("a | b |& c"), (Lines{"a", "b", "c"}));
  EXPECT_EQ(Commands("(a; { b; })"), (Lines{"a", "b"}));
  EXPECT_EQ(Commands("if a; then b; elif c; then d; else e; fi"), (Lines{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(Commands("for x in 1; do a; done; while b; do c; done"), (Lines{"a", "b", "c"}));
  EXPECT_EQ(Commands("case x in a) b;; *) c;; esac"), (Lines{"b", "c"}));
  EXPECT_EQ(Commands("f() { a; }; f"), (Lines{"a"}));
  EXPECT_EQ(Commands("echo $(a) `b` <(c) \"$(d)\" ${x:-$(e)}"),
            (Lines{"a", "b", "c", "d", "e", "echo $(a) `b` /dev/fd/63 $(d) ${x:-$(e)}"}));
  EXPECT_EQ(Commands("cat <<E | a && b\n$(c)\nE\nd"), (Lines{"c", "cat", "a", "b", "d"}));
}

TEST(ShellTest, AHeredocMayStandBeforeRedirectionsAndAPipe) {
  EXPECT_EQ(Commands("a <<'E' 2>&1 | b\n$(c)\nE"), (Lines{"a", "b"}));
  EXPECT_EQ(Commands("a <<E 2>/dev/null | b\n$(c)\nE\nd"), (Lines{"c", "a", "b", "d"}));
  EXPECT_EQ(Commands("a - <<E >f 2>&1 | b\nx\nE"), (Lines{"a -", "b"}));
  EXPECT_EQ(Commands("echo '<<E 2>&1 | x'"), (Lines{"echo  2>&1 <<E | x"}))
      << "in quotes only the text changes";
  EXPECT_EQ(Commands("a <<E 2>&1 || b\nx\nE"), (Lines{"a", "b"}));
}

TEST(ShellTest, WrappersAreTakenOff) {
  for (const char* line :
       {"sudo rm x", "env A=b rm x", "timeout -k 1 5 rm x", "nice -n 5 nohup rm x", "time rm x",
        "command rm x", "bash -c 'rm x'", "bash -ec \"rm x\"", "eval rm x", "eval 'rm x'",
        "exec rm x", "stdbuf -o0 rm x", "uv run rm x", "bash <<'E'\nrm x\nE"})
    EXPECT_EQ(Commands(line).back(), "rm x") << line;
  EXPECT_EQ(Commands("xargs -n1 rm").back(), "rm ...");
  EXPECT_EQ(Commands("find src -exec rm {} +").back(), "rm src/*");
  EXPECT_EQ(Commands("python3 -m pytest -q").back(), "pytest -q");
  EXPECT_TRUE(Last("sudo env rm x").privileged);
  EXPECT_TRUE(Last("sudo --unheard-of x rm y").privileged);
  EXPECT_FALSE(IsReadOnly(Analyse("timeout --unheard-of 5 ls")));
}

TEST(ShellTest, WordsAreWhatTheProgramGets) {
  EXPECT_EQ(Commands(R"(r'm' "-r"f a\ b $'\x41\n')"), (Lines{"rm -rf a b A\n"}));
  EXPECT_EQ(Commands("mkdir {a,b}/{c,d}"), (Lines{"mkdir a/c a/d b/c b/d"}));
  EXPECT_EQ(Commands("git show HEAD@{1}"), (Lines{"git show HEAD@{1}"}));
  EXPECT_EQ(Commands("ls ~/x $HOME \"$PWD\""), (Lines{"ls /home/u/x /home/u /p"}));
  EXPECT_EQ(Commands("d=build; ls $d/x").back(), "ls build/x");
  EXPECT_EQ(Commands("ls a\\\n b"), (Lines{"ls a b"}));
  EXPECT_EQ(Commands("python3 - <<'E'\nx\nE"), (Lines{"python3 -"}));
}

TEST(ShellTest, AVariableIsOnlyKnownWhereItIsCertain) {
  for (const char* line :
       {"ls $d", "x && d=a; ls $d", "if x; then d=a; fi; ls $d", "d=a; read d; ls $d",
        "for d in a b; do ls $d; done", "d=a; f() { d=b; }; f; ls $d", "(d=a); ls $d",
        "d=a; eval d=b; ls $d", "d='a b'; ls $d", "declare -n r=d; d=a; r=b; ls $d",
        "d=a; ((d=2)); ls $d", "d=a ls $d"})
    EXPECT_FALSE(Last(line).words.back().known()) << line;
}

TEST(ShellTest, FoldersAreFollowed) {
  EXPECT_EQ(Last("cd a && ls").folders, (Lines{"/p/a"}));
  EXPECT_EQ(Last("cd a; ls").folders, (Lines{"/p/a", "/p"}));
  EXPECT_EQ(Last("cd a || exit; ls").folders, (Lines{"/p/a"}));
  EXPECT_EQ(Last("(cd a); ls").folders, (Lines{"/p"}));
  EXPECT_EQ(Last("cd a | b; ls").folders, (Lines{"/p"}));
  EXPECT_EQ(Last("cd a && cd ../b && ls").folders, (Lines{"/p/b"}));
  EXPECT_EQ(Last("cd && ls").folders, (Lines{"/home/u"}));
  EXPECT_EQ(Last("env -C a ls").folders, (Lines{"/p/a"}));
  for (const char* line : {"cd $x && ls", "cd - && ls", "while x; do cd a; ls; done",
                           "eval 'cd a'; ls", "f() { cd a; }; f; ls"})
    EXPECT_EQ(Last(line).folders, Lines{}) << line;
  EXPECT_EQ(Last("cd a && rm b").loses,
            (std::vector<ShellPath>{{"/p/a/b", ShellPath::Reach::kTree}}));
}

TEST(ShellTest, GitInAnotherFolderIsFlagged) {
  EXPECT_FALSE(Last("git status").git_elsewhere);
  for (const char* line :
       {"cd a && git status", "cd a; git status", "git -C a status", "cd $x && git status"})
    EXPECT_TRUE(Last(line).git_elsewhere) << line;
}

TEST(ShellTest, EffectsAreNamed) {
  const std::vector<std::pair<const char*, ShellEffect>> cases = {
      {"ls -la", ShellEffect::kReadOnly},
      {"sed -n 1,5p f", ShellEffect::kReadOnly},
      {"awk '$2 > 3 {print}' f", ShellEffect::kReadOnly},
      {"git log -p", ShellEffect::kReadOnly},
      {"mkdir a", ShellEffect::kWrites},
      {"git commit -m x", ShellEffect::kWrites},
      {"sed -i s/a/b/ f", ShellEffect::kWrites},
      {"echo x >> f", ShellEffect::kWrites},
      {"make test", ShellEffect::kRunsProject},
      {"./run.sh", ShellEffect::kRunsProject},
      {"npm install", ShellEffect::kFetches},
      {"curl https://x.example", ShellEffect::kFetches},
      {"git fetch", ShellEffect::kFetches},
      {"unheard-of", ShellEffect::kUnknown},
      {"../x", ShellEffect::kUnknown},
      {"kill 1", ShellEffect::kProcess},
      {"git push", ShellEffect::kNetwork},
      {"curl -d x https://x.example", ShellEffect::kNetwork},
      {"curl https://x.example/$s", ShellEffect::kNetwork},
      {"ssh x.example", ShellEffect::kNetwork},
      {"rm x", ShellEffect::kDestroys},
      {"git reset --hard", ShellEffect::kDestroys},
      {"echo x > f", ShellEffect::kDestroys},
      {"mv a b", ShellEffect::kDestroys},
      {"find . -delete", ShellEffect::kDestroys},
      {"sort -o f f", ShellEffect::kDestroys},
  };
  for (const auto& [line, effect] : cases)
    EXPECT_EQ(ShellEffectName(Last(line).effect), ShellEffectName(effect)) << line;
}

TEST(ShellTest, WhatCanBeUndoneIsReversible) {
  for (const char* line : {"ls", "mkdir a", "make", "npm ci"})
    EXPECT_TRUE(Last(line).reversible()) << line;
  for (const char* line : {"rm a", "ls > a", "git push", "unheard-of", "tar xf a --to-command=b"})
    EXPECT_FALSE(Last(line).reversible()) << line;
}

TEST(ShellTest, PathsAreAbsolute) {
  using Reach = ShellPath::Reach;
  EXPECT_EQ(Last("cat a ../b /c/./d").reads,
            (std::vector<ShellPath>{
                {"/p/a", Reach::kExact}, {"/b", Reach::kExact}, {"/c/d", Reach::kExact}}));
  EXPECT_EQ(Last("cat src/*.c").reads,
            (std::vector<ShellPath>{{"/p/src", Reach::kMatches, "*.c"}}));
  EXPECT_EQ(Last("cat $x").reads, (std::vector<ShellPath>{{"", Reach::kAnywhere}}));
  EXPECT_EQ(Last("grep -r x src").reads, (std::vector<ShellPath>{{"/p/src", Reach::kTree}}));
  EXPECT_EQ(Last("rg x").reads, (std::vector<ShellPath>{{"/p", Reach::kTree}}));
  EXPECT_EQ(Last("cat < a").reads, (std::vector<ShellPath>{{"/p/a", Reach::kExact}}));
  EXPECT_EQ(Last("cp a b").loses, (std::vector<ShellPath>{{"/p/b", Reach::kExact}}));
  EXPECT_EQ(Last("ls > /dev/null 2>&1").loses, std::vector<ShellPath>{});
}

TEST(ShellTest, WhatIsNotUnderstoodSaysSo) {
  const std::string deep = std::string(300, '(') + "ls" + std::string(300, ')');
  std::string many;
  while (many.size() < 60'000) many += "a;";
  for (const std::string& line :
       {std::string("ls 'x"), std::string("ls \x01"), std::string("ls \xff"), deep, many,
        "ls " + std::string(kMaxShellBytes, 'x'), std::string("ls\0x", 4)}) {
    const ShellAnalysis analysis = Analyse(line);
    EXPECT_FALSE(analysis.understood) << line.substr(0, 80);
    EXPECT_FALSE(analysis.why.empty());
    EXPECT_FALSE(IsReadOnly(analysis));
  }
}

TEST(ShellTest, AnEmptyLineIsNotReadOnly) {
  for (const char* line : {"", " ", "\n", "# only a comment"})
    EXPECT_FALSE(IsReadOnly(Analyse(line))) << line;
}

}  // namespace
}  // namespace stet::policy
