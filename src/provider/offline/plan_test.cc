#include "provider/offline/plan.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

std::string Plan(std::string_view text) {
  const auto calls = PlanRequest(text);
  if (!calls) return "?";
  std::string out;
  for (const PlannedCall& call : *calls) out += call.tool + call.args.text + "\n";
  return out;
}

TEST(OfflinePlanTest, EachPlainRequestBecomesItsTool) {
  EXPECT_EQ(Plan("read src/main.cc"), "Read{\"file_path\":\"src/main.cc\"}\n");
  EXPECT_EQ(Plan("Read src/main.cc"), "Read{\"file_path\":\"src/main.cc\"}\n");
  EXPECT_EQ(Plan("list *.cc"), "Glob{\"pattern\":\"*.cc\"}\n");
  EXPECT_EQ(Plan("list files"), "Glob{\"pattern\":\"*\"}\n");
  EXPECT_EQ(Plan("search TODO"), "Grep{\"pattern\":\"TODO\"}\n");
  EXPECT_EQ(Plan("search for int main in src"),
            "Grep{\"pattern\":\"int main\",\"path\":\"src\"}\n");
  EXPECT_EQ(Plan("please run make -j2 && ls"), "Bash{\"command\":\"make -j2 && ls\"}\n");
  EXPECT_EQ(Plan("write a.txt: hello: world"),
            "Write{\"file_path\":\"a.txt\",\"content\":\"hello: world\"}\n");
}

TEST(OfflinePlanTest, AFileIsReadBeforeItIsChanged) {
  EXPECT_EQ(Plan("replace foo with bar in a.txt"),
            "Read{\"file_path\":\"a.txt\"}\n"
            "Edit{\"file_path\":\"a.txt\",\"old_string\":\"foo\",\"new_string\":\"bar\"}\n");
}

TEST(OfflinePlanTest, QuotesHoldTogetherWhatHasTheseWordsInIt) {
  EXPECT_EQ(Plan("replace \"a with b in c\" with 'x in y' in \"my file\""),
            "Read{\"file_path\":\"my file\"}\n"
            "Edit{\"file_path\":\"my file\",\"old_string\":\"a with b in c\",\"new_string\":\"x in "
            "y\"}\n");
  EXPECT_EQ(Plan("search \"a in b\""), "Grep{\"pattern\":\"a in b\"}\n");
  EXPECT_EQ(Plan("write \"a:b\": 'x then read y'"),
            "Write{\"file_path\":\"a:b\",\"content\":\"x then read y\"}\n");
}

TEST(OfflinePlanTest, SeveralAreJoinedByThen) {
  EXPECT_EQ(Plan("write a: b then run cat a, and then read a"),
            "Write{\"file_path\":\"a\",\"content\":\"b\"}\nBash{\"command\":\"cat a\"}\n"
            "Read{\"file_path\":\"a\"}\n");
  EXPECT_EQ(Plan("run echo now and then"), "Bash{\"command\":\"echo now and then\"}\n")
      << "what follows is no request";
  EXPECT_EQ(Plan("run if true; then read x; fi"),
            "Bash{\"command\":\"if true\"}\nRead{\"file_path\":\"x; fi\"}\n");
  EXPECT_EQ(Plan("run \"if true; then read x; fi\""),
            "Bash{\"command\":\"if true; then read x; fi\"}\n");
}

TEST(OfflinePlanTest, WhatIsNotWhollyUnderstoodIsNotDoneInPart) {
  for (const char* text :
       {"", "  ", "hello", "reading a book", "read", "replace a", "replace a with b", "write a",
        "search", "run", "explain the code then read a.txt", "read a then run"})
    EXPECT_EQ(Plan(text), "?") << text;
}

TEST(OfflinePlanTest, TextOfAnyLanguageStaysWhole) {
  EXPECT_EQ(Plan("search 日本語 in src"), "Grep{\"pattern\":\"日本語\",\"path\":\"src\"}\n");
  EXPECT_EQ(Plan("write a.txt: it's 'fine'"),
            "Write{\"file_path\":\"a.txt\",\"content\":\"it's 'fine'\"}\n");
}

}  // namespace
}  // namespace stet::provider
