#include "base/wildcard.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(WildcardTest, PartsMatch) {
  for (const auto& [pattern, name] :
       std::vector<std::pair<const char*, const char*>>{{"*", ""},
                                                        {"*", "abc"},
                                                        {"a*c", "abbc"},
                                                        {"a?c", "abc"},
                                                        {"*.cc", "x.cc"},
                                                        {"[a-c]x", "bx"},
                                                        {"[!a]x", "bx"},
                                                        {"[^a]", "b"},
                                                        {"[]a]", "]"},
                                                        {"[a-]", "-"},
                                                        {"\\*", "*"},
                                                        {"[\\]]", "]"},
                                                        {"[", "["},
                                                        {"a*b*c", "aXbYbc"}})
    EXPECT_TRUE(MatchPart(pattern, name)) << pattern << " " << name;
  for (const auto& [pattern, name] :
       std::vector<std::pair<const char*, const char*>>{{"", "a"},
                                                        {"a", ""},
                                                        {"?", ""},
                                                        {"*.cc", "x.h"},
                                                        {"[a-c]", "d"},
                                                        {"\\*", "a"},
                                                        {"a*b", "ac"},
                                                        {"[!a]", "a"}})
    EXPECT_FALSE(MatchPart(pattern, name)) << pattern << " " << name;
}

TEST(WildcardTest, HostilePatternsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(MatchPart(pattern + "b", std::string(4000, 'a')));
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "**/a/";
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "a/";
  EXPECT_FALSE(Glob::Parse(deep + "b")->Matches(path));
}

TEST(GlobPatternTest, WithoutASlashItMatchesAtAnyDepth) {
  const Glob glob = *Glob::Parse("*.cc");
  EXPECT_TRUE(glob.Matches("a.cc"));
  EXPECT_TRUE(glob.Matches("x/y/a.cc"));
  EXPECT_FALSE(glob.Matches("x/a.cc/b"));
}

TEST(GlobPatternTest, WithASlashItStartsAtTheTop) {
  EXPECT_TRUE(Glob::Parse("src/**/*.h")->Matches("src/a.h"));
  EXPECT_TRUE(Glob::Parse("src/**/*.h")->Matches("src/x/y/a.h"));
  EXPECT_FALSE(Glob::Parse("src/*.h")->Matches("src/x/a.h"));
  EXPECT_FALSE(Glob::Parse("src/*.h")->Matches("y/src/a.h"));
  EXPECT_TRUE(Glob::Parse("./a/*")->Matches("a/b"));
  EXPECT_TRUE(Glob::Parse("**")->Matches("a/b"));
}

TEST(GlobPatternTest, BracesAreAlternatives) {
  const Glob glob = *Glob::Parse("{src,test/{a,b}}/*.{cc,h}");
  EXPECT_TRUE(glob.Matches("src/x.h"));
  EXPECT_TRUE(glob.Matches("test/b/x.cc"));
  EXPECT_FALSE(glob.Matches("test/x.cc"));
  EXPECT_TRUE(Glob::Parse("a{b")->Matches("a{b")) << "braces without an end are characters";
  EXPECT_FALSE(Glob::Parse(""));
  std::string many;
  for (int i = 0; i < 30; ++i) many += "{a,b}";
  EXPECT_FALSE(Glob::Parse(many));
}

}  // namespace
}  // namespace stet
