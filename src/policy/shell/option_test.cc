#include "policy/shell/option.h"

#include <gtest/gtest.h>

#include "policy/shell/word.h"

namespace stet::policy {
namespace {

/// The options as they are understood, "name:letter=value", and the operands.
std::string Parsed(std::vector<std::string> words, std::string_view description,
                   OptionStyle style = OptionStyle::kGnu) {
  std::vector<ShellWord> known;
  for (std::string& word : words) known.push_back(Known(std::move(word)));
  const ParsedWords parsed = ParseOptions(known, description, style);
  std::string out;
  for (const Option& option : parsed.options) {
    const char letter =
        option.meaning == Meaning::kUnlisted ? '?' : static_cast<char>(option.meaning);
    (((out += option.name) += ':') += letter);
    if (!option.value.text.empty()) out += "=" + option.value.text;
    out += ' ';
  }
  for (const ShellWord& word : parsed.operands) out += "[" + word.text + "]";
  return out;
}

TEST(OptionTest, SeveralLettersBehindOneDashAreAsManyOptions) {
  EXPECT_EQ(Parsed({"-ab", "-c", "x", "-cy", "f"}, "-ab -cd:v"), "a:f b:f c:v=x c:v=y [f]");
  EXPECT_EQ(Parsed({"-az"}, "-ab"), "a:f z:? ");
  EXPECT_EQ(Parsed({"-M50", "f"}, "-MC:a"), "M:a=50 [f]");
  EXPECT_EQ(Parsed({"-name", "x"}, "-name:v", OptionStyle::kSingleDash), "-name:v=x ");
}

TEST(OptionTest, AnAbbreviationIsWhatItStandsForUnlessThatDiffers) {
  constexpr std::string_view kKnown = "--output:w --oneline --on-top --stat:a";
  EXPECT_EQ(Parsed({"--outp=f"}, kKnown), "--output:w=f ");
  EXPECT_EQ(Parsed({"--out", "f"}, kKnown), "--output:w=f ");
  EXPECT_EQ(Parsed({"--on"}, kKnown), "--oneline:f ") << "both do nothing";
  EXPECT_EQ(Parsed({"--o"}, kKnown), "--o:? ");
  EXPECT_EQ(Parsed({"--stat=3", "f"}, kKnown), "--stat:a=3 [f]");
  EXPECT_EQ(Parsed({"--stat", "f"}, kKnown), "--stat:a [f]");
  EXPECT_EQ(Parsed({"--other"}, kKnown), "--other:? ");
}

TEST(OptionTest, AStarListsAllOthersAndAPairHasTwoValues) {
  EXPECT_EQ(Parsed({"--any", "-x"}, "* -x:r"), "--any:f x:r ");
  EXPECT_EQ(Parsed({"--arg", "a", "b", ".x", "f"}, "--arg:2"), "--arg:2=a [.x][f]");
  EXPECT_EQ(Parsed({"--", "-x"}, "-x:r"), "[-x]");
}

TEST(OptionTest, DangerIsWhatDoesMoreThanRead) {
  EXPECT_FALSE(HasDanger("-abc -n:v --file:r -R:T -e:p"));
  EXPECT_TRUE(HasDanger("-abc -o:w"));
  EXPECT_TRUE(HasDanger("--pre:x"));
}

}  // namespace
}  // namespace stet::policy
