// The lines of attacks, as they are, in every box and under every mechanism: whatever the analysis
// says of them, nothing happens that the box does not permit, and no key is seen.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/source_dir_fixture.h"
#include "base/text.h"
#include "tests/scale.h"
#include "tests/scenario/box_fixture.h"

namespace stet::scenario {
namespace {

using sandbox::Mechanism;

/// In one command, each in a shell of its own. Few enough that what one destroys is soon there
/// again.
constexpr std::size_t kBatch = 25;

/// `\n`, `\t`, `\\` and `\xNN` as the lists write them.
std::string Plain(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == 'n')
      plain += '\n';
    else if (next == 't')
      plain += '\t';
    else if (next == '\\')
      plain += '\\';
    else if (next == 'x' && i + 2 < text.size())
      plain += static_cast<char>(std::stoi(std::string(text.substr((i += 2) - 1, 2)), nullptr, 16));
    else
      (plain += '\\') += next;
  }
  return plain;
}

/// A line that would end the others with it, or the machine's patience.
bool IsForItself(std::string_view line) {
  return line.contains("kill") || line.contains(":|:") || line.contains('\0');
}

/// Every line, or at the quick scale one of `stride`.
std::vector<std::string> HostileLines(std::size_t stride) {
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (const char* list : {"box_commands.txt", "unasked_commands.txt", "hostile_commands.txt"}) {
    const std::string text =
        ReadFile(fmt::format("{}/tests/data/{}", SourceDir(), list)).value_or("");
    for (std::string_view line : SplitLines(text)) {
      if (line.empty() || line.starts_with('#') || ++count % stride != 0) continue;
      const std::size_t tab = line.find('\t');
      // One list has what must hold in front, and its lines escaped.
      std::string plain =
          tab == std::string_view::npos ? std::string(line) : Plain(line.substr(tab + 1));
      if (!plain.contains('\0')) lines.push_back(std::move(plain));
    }
  }
  EXPECT_GT(count, 2000U);
  return lines;
}

class HostileBoxTest : public BoxTest {
 protected:
  /// Every line in a box; `before` gives what must not change.
  void RunAll(const std::string& box, std::size_t stride, const std::vector<std::string>& kept) {
    const auto state = [&] {
      std::string all;
      for (const std::string& path : kept) all += Tree(At(path));
      return all;
    };
    std::string before = state();
    std::string script;
    std::string batch;
    std::size_t in_batch = 0;
    const auto run = [&] {
      const std::string out = Run(box, script + "echo through").out;
      EXPECT_TRUE(out.contains("through\n")) << batch << out;
      EXPECT_FALSE(out.contains(kSecretText)) << batch << out;
      ASSERT_EQ(state(), before) << batch;
      script.clear();
      batch.clear();
      in_batch = 0;
      Furnish();
      before = state();
    };
    for (const std::string& line : HostileLines(stride)) {
      if (IsForItself(line)) {
        EXPECT_FALSE(Run(box, fmt::format("ulimit -u 200; timeout 1 bash -c {}", Quoted(line)))
                         .out.contains(kSecretText))
            << line;
        continue;
      }
      script += fmt::format("timeout -k 1 1 bash -c {} </dev/null 2>&1 | head -c 65536; cd {}\n",
                            Quoted(line), At("project"));
      batch += line + "\n";
      if (++in_batch == kBatch) run();
    }
    run();
  }
};

INSTANTIATE_TEST_SUITE_P(, HostileBoxTest, testing::ValuesIn(sandbox::kMechanisms), MechanismText);

TEST_P(HostileBoxTest, NoLineHasAnEffectWhereACommandOnlyReads) {
  RunAll("reads", TestScale().hostile_stride, {""});
}

/// What they do to the project's own files is what such a box permits.
TEST_P(HostileBoxTest, NoLineLeavesTheProjectOrChangesWhatIsGuarded) {
  if (GetParam() == Mechanism::kLandlockAlone) GTEST_SKIP() << "not among its means";
  const std::vector<std::string> kept = {
      "user", "other", "project/.git/hooks", "project/.vscode", "project/.claude", "project/.stet"};
  RunAll("edits", TestScale().hostile_stride, kept);
  RunAll("auto", TestScale().hostile_stride, kept);
  EXPECT_EQ(ReadFile(At("project/.git/config")).value_or(""), "[core]\n");
  EXPECT_FALSE(Exists(At("project/.envrc")));
}

}  // namespace
}  // namespace stet::scenario
