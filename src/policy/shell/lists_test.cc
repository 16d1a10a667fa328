// The recorded lists of commands: none of the hostile ones slips through, and of the ordinary ones
// hardly any is asked.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "base/text.h"
#include "policy/shell/auto.h"
#include "policy/shell/shell.h"

namespace stet::policy {
namespace {

struct Line {
  std::string expected;
  std::string command;
};

int Hex(char c) {
  return std::string_view("0123456789abcdef").find(c) == std::string_view::npos
             ? 0
             : static_cast<int>(std::string_view("0123456789abcdef").find(c));
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] != '\\' || !std::string_view("nrtx\\").contains(next)) {
      out += text[i];
      continue;
    }
    ++i;
    if (next == 'x' && i + 2 < text.size()) {
      out += static_cast<char>(Hex(text[i + 1]) * 16 + Hex(text[i + 2]));
      i += 2;
    } else {
      out += next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : '\\';
    }
  }
  return out;
}

std::vector<Line> ReadList(const std::string& name) {
  const Result<std::string> text = ReadFile(SourceDir() + "/tests/data/" + name);
  std::vector<Line> lines;
  if (!text) return lines;
  for (const std::string_view line : SplitLines(*text)) {
    const std::size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string_view::npos) continue;
    lines.push_back({std::string(line.substr(0, tab)), Unescaped(line.substr(tab + 1))});
  }
  return lines;
}

const ShellPlace kListPlace = {"/p", "/home/u"};
const std::vector<std::string> kRoots = {"/p"};

TEST(ShellListsTest, NoHostileCommandSlipsThrough) {
  const std::vector<Line> lines = ReadList("hostile_commands.txt");
  ASSERT_GE(lines.size(), 300U);
  for (const Line& line : lines) {
    const ShellAnalysis analysis = AnalyseShell(line.command, kListPlace);
    EXPECT_FALSE(IsReadOnly(analysis)) << line.command;
    const bool asks = line.expected == "asks";
    const bool refuses = line.expected == "refuses";
    ASSERT_TRUE(asks || refuses || line.expected == "not-read-only") << line.expected;
    if (asks || refuses) {
      EXPECT_FALSE(AutoVerdict(analysis, false, kRoots).allowed) << line.command;
      EXPECT_FALSE(AutoVerdict(analysis, true, kRoots).allowed) << line.command;
    }
    if (refuses) {
      EXPECT_FALSE(analysis.understood) << line.command;
    }
  }
}

/// Half of them write git's configuration, which no box permits.
TEST(ShellListsTest, OfAThousandOrdinaryCommandsTenAreAsked) {
  const std::vector<Line> lines = ReadList("ordinary_commands.txt");
  ASSERT_EQ(lines.size(), 1000U);
  // What is in version control, or is not there at all, can be had again.
  const IsRestorable restorable = [](const std::string& path) {
    return path != "/p/notes.md" && path != "/p";
  };
  int asked = 0;
  for (const Line& line : lines) {
    const AutoAnswer answer =
        AutoVerdict(AnalyseShell(line.command, kListPlace), true, kRoots, restorable);
    EXPECT_EQ(answer.allowed, line.expected == "allow") << line.command << "\n  " << answer.why;
    if (!answer.allowed) ++asked;
  }
  EXPECT_LE(asked, 10);
}

}  // namespace
}  // namespace stet::policy
