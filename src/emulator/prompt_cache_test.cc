#include "emulator/prompt_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stet::emulator {
namespace {

/// A prompt of blocks of a hundred tokens, a letter each; behind a letter a dot is a mark.
Prompt Made(std::string_view letters, std::string scope = "m") {
  Prompt prompt;
  prompt.scope = std::move(scope);
  for (const char c : letters) {
    if (c == '.') {
      prompt.blocks.back().mark = true;
      continue;
    }
    prompt.tokens.insert(prompt.tokens.end(), 100, static_cast<std::uint32_t>(c));
    prompt.blocks.push_back({.end = prompt.tokens.size()});
  }
  return prompt;
}

class PromptCacheTest : public testing::Test {
 protected:
  /// "read written rest".
  std::string Charge(Dialect dialect, const Prompt& prompt, bool keep = true) {
    const Usage usage = cache_.Charge(dialect, prompt, rules_, keep);
    return fmt::format("{} {} {}", usage.cache_read, usage.cache_write, usage.input);
  }
  std::string Marked(std::string_view letters, bool keep = true) {
    return Charge(Dialect::kAnthropicMessages, Made(letters), keep);
  }

  PromptCache cache_;
  CacheScript rules_{.minimum = 200};
};

TEST_F(PromptCacheTest, MarksAreWrittenAndFoundAgain) {
  EXPECT_EQ(Marked("ab.cd.e"), "0 400 100");
  EXPECT_EQ(Marked("ab.cd.e"), "400 0 100");
  EXPECT_EQ(Marked("ab.cdef."), "400 200 0");
  EXPECT_EQ(Marked("ab.xy."), "200 200 0");
  EXPECT_EQ(Marked("xb."), "0 200 0");
}

TEST_F(PromptCacheTest, OnlyWhatIsLargeEnoughIsKept) {
  EXPECT_EQ(Marked("a."), "0 0 100");
  EXPECT_EQ(Marked("a."), "0 0 100");
  EXPECT_EQ(Marked("a.b."), "0 200 0");
}

TEST_F(PromptCacheTest, AMarkSeesTwentyBlocks) {
  EXPECT_EQ(Marked("ab."), "0 200 0");
  EXPECT_EQ(Marked("ab" + std::string(20, 'x') + ".", false), "0 2200 0");
  EXPECT_EQ(Marked("ab" + std::string(19, 'x') + ".", false), "200 1900 0");
}

TEST_F(PromptCacheTest, UseKeepsAnEntryAlive) {
  Marked("ab.");
  for (int i = 0; i < 3; ++i) {
    cache_.MoveClock(200'000);
    EXPECT_EQ(Marked("ab."), "200 0 0");
  }
  cache_.MoveClock(300'000);
  EXPECT_EQ(Marked("ab."), "0 200 0");
}

TEST_F(PromptCacheTest, WhatWasNotReadIsNotKept) {
  EXPECT_EQ(Marked("ab.", false), "0 200 0");
  EXPECT_EQ(Marked("ab.", false), "0 200 0");
}

TEST_F(PromptCacheTest, OpenAiReadsAnyBeginningInSteps) {
  const auto take = [&](std::string_view letters, const char* scope = "m") {
    return Charge(Dialect::kOpenAiResponses, Made(letters, scope));
  };
  EXPECT_EQ(take("abcd"), "0 0 400");
  EXPECT_EQ(take("abcde"), "384 0 116");
  EXPECT_EQ(take("abxxx"), "128 0 372");
  EXPECT_EQ(take("axxxx"), "0 0 500");
  EXPECT_EQ(take("abcde", "other"), "0 0 500");
}

TEST_F(PromptCacheTest, NewerOnesReadWholePromptsOnly) {
  rules_.whole = true;
  const auto take = [&](std::string_view letters) {
    return Charge(Dialect::kOpenAiCompletions, Made(letters));
  };
  EXPECT_EQ(take("abcd"), "0 400 0");
  EXPECT_EQ(take("abcde"), "400 100 0");
  EXPECT_EQ(take("abcx"), "0 400 0");
  EXPECT_EQ(take("abcdx"), "400 100 0");
}

TEST_F(PromptCacheTest, GoogleReadsToTheToken) {
  Charge(Dialect::kGoogleGenerativeAi, Made("abcd"));
  EXPECT_EQ(Charge(Dialect::kGoogleGenerativeAi, Made("abcx")), "300 0 100");
  cache_.Clear();
  EXPECT_EQ(Charge(Dialect::kGoogleGenerativeAi, Made("abcx")), "0 0 400");
}

TEST(PromptTest, LettersDigitsAndSignsAreCountedEachInTheirWay) {
  const auto count = [](std::string_view text) {
    const auto of = [](std::string_view one) {
      return ReadPrompt(Dialect::kOpenAiResponses, "m", fmt::format(R"({{"input":"{}"}})", one))
          .count();
    };
    return of(text) - of("");
  };
  EXPECT_EQ(count("hello"), 1);
  EXPECT_EQ(count("hello world"), 2);
  EXPECT_EQ(count("abcdefgh"), 2);
  EXPECT_EQ(count("1234"), 2);
  EXPECT_EQ(count("a1!?  b"), 5);
}

TEST(PromptTest, TheOrderIsTheServersAndMarksAreNoTokens) {
  constexpr std::string_view kBody =
      R"({{"system":[{{"type":"text","text":"s"{0}}}],"tools":[{{"name":"t"{0}}}],"messages":[{{"role":"user","content":"hello"}},{{"role":"user","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"{0}}}]}}]}})";
  const auto read = [&](std::string_view mark) {
    return ReadPrompt(Dialect::kAnthropicMessages, "m", fmt::format(kBody, mark));
  };
  const Prompt plain = read("");
  const Prompt marked = read(R"(,"cache_control":{"type":"ephemeral"})");
  EXPECT_EQ(plain.tokens, marked.tokens);
  std::vector<bool> marks;
  for (const Prompt::Block& block : marked.blocks) marks.push_back(block.mark);
  EXPECT_EQ(marks, (std::vector<bool>{true, true, false, false, true}));
}

TEST(PromptTest, AnythingMayBeSent) {
  for (const std::string_view body :
       {"", "[", "[]", "5", R"({"messages":5})", R"({"messages":[5,[],{"content":null}]})",
        R"({"tools":{},"contents":"x"})"}) {
    for (std::size_t i = 0; i < kDialects; ++i)
      EXPECT_LT(ReadPrompt(static_cast<Dialect>(i), "m", body).count(), 20);
  }
}

}  // namespace
}  // namespace stet::emulator
