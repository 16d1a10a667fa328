// Random shell lines: what bash runs of a line that is understood was found in it.
//
// bash has no programs here: a function of its own is called for each that it looks for, and writes
// down the words.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "policy/shell/shell.h"
#include "tests/scale.h"

namespace stet::policy {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 112> kPieces = {
    "pa",         "pb",      "pc",          "pd",       " ",       " ",          " ",     " ",
    " ",          ";",       "&&",          "||",       "|",       "\n",         "\n",    "&",
    "\\",         "\\\n",    "'",           "\"",       "$'",      "\\'",        "\\\"",  "`",
    "$(",         ")",       "(",           "{ ",       "; }",     "{",          "}",     "<<E",
    "<<-E",       "<<'E'",   "\nE\n",       "E",        "\n\tE\n", "#",          " #",    "<(",
    ">(",         "> f",     ">>f",         "2>&1",     "< f",     "$x",         "${x:-", "${x}",
    "}",          "${x#",    "${x//a/",     "$((",      "))",      "[[ a ]]",    "[ a ]", "if ",
    "then ",      "fi",      "for i in ",   "do ",      "done",    "case a in ", "a)",    ";;",
    "esac",       "g() { ",  "function g ", "!",        "! ",      "a=",         "a=b ",  "*",
    "?",          "[a]",     "~",           "{a,b}",    "echo ",   "time ",      "\t",    "<<<",
    "|&",         "&>",      ">&",          "-",        "--",      "%",          "^",     "=",
    "==",         "+",       "@",           ",",        ".",       "\\ ",        "$",     "$$",
    "$\"",        "!!",      "${",          "$[1]",     "\"$(",    "`\"",        "''",    "\"\"",
    "declare a=", "export ", "((1))",       "[[ a =~ ", "b ]]",    "@(a|b)",     ":",     "\"${x:-",
};

std::string RandomLine(Random& random) {
  std::string line;
  for (std::uint64_t left = 2 + random.Below(13); left > 0; --left)
    line += kPieces[random.Below(kPieces.size())];
  return line;
}

/// The commands that bash runs, word by word.
std::vector<Words> Ran(const TempDir& dir, const std::string& line) {
  const std::string log = dir.Sub("log");
  const std::string script = dir.Sub("script");
  EXPECT_TRUE(ReplaceFile(log, "", Durable::kNo));
  EXPECT_TRUE(ReplaceFile(
      script,
      "command_not_found_handle() { printf '%s\\002' \"$@\" $'\\001' >>" + log + "; }\n" + line,
      Durable::kNo));
  const Result<Finished> ran =
      Subprocess::Run({.argv = {"/bin/bash", "--norc", "--noprofile", script},
                       .env = Words{"PATH=/nonexistent", "HOME=/home/u"},
                       .cwd = dir.Sub("work")},
                      Deadline::After(std::chrono::seconds(20)), CancelToken());
  EXPECT_TRUE(ran && ran->end != Finished::End::kTimeout) << line;
  std::vector<Words> commands(1);
  const std::string text = ReadFile(log).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\002', at), text.size());
    std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word == "\001")
      commands.emplace_back();
    else
      commands.back().push_back(std::move(word));
  }
  commands.pop_back();
  return commands;
}

/// Whether a command that was found may be the one that ran.
bool MayBe(const ShellCommand& found, const Words& ran) {
  if (found.words.empty()) return false;
  // It is asked about: what it starts is not known.
  if (!found.words[0].known() || (found.wraps && found.odd)) return true;
  const bool known = std::ranges::all_of(found.words, &ShellWord::known);
  if (!known) return found.words[0].text == ran[0];
  return std::ranges::equal(found.words, ran, {}, &ShellWord::text);
}

TEST(RandomShellTest, WhatBashRunsWasFound) {
  const TempDir dir;
  ASSERT_TRUE(MakeDirs(dir.Sub("work")));
  Random random(1);
  int understood = 0;
  for (int i = 0; i < TestScale().shell_lines; ++i) {
    const std::string line = RandomLine(random);
    const ShellAnalysis analysis = AnalyseShell(line, {dir.Sub("work"), "/home/u"});
    if (!analysis.understood) continue;
    ++understood;
    for (const Words& ran : Ran(dir, line)) {
      const bool found = std::ranges::any_of(
          analysis.commands, [&](const ShellCommand& command) { return MayBe(command, ran); });
      EXPECT_TRUE(found) << "bash ran " << ran[0] << " in:\n" << line;
    }
  }
  EXPECT_GT(understood, TestScale().shell_lines / 50);
}

}  // namespace
}  // namespace stet::policy
