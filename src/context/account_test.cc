#include "context/account.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"

namespace stet::context {
namespace {

using provider::Dialect;
using provider::PartKind;

constexpr std::int64_t kBytesPerToken = 5;

/// Requests made of parts of a thousand tokens each, and a server that counts them so.
class AccountTest : public log::LogTest {
 protected:
  AccountTest() : log_(Create()) { Use(Dialect::kAnthropicMessages, "claude-sonnet-5"); }

  void Use(Dialect dialect, const std::string& id) {
    model_.provider = "p";
    model_.id = id;
    model_.dialect = dialect;
    model_.prices = provider::Prices{
        .input = 2'000'000, .output = 0, .cache_read = 200'000, .cache_write = 2'500'000};
  }

  /// One letter a part: 't' a tool, 's' the system, 'e' effort, others messages. A mark stands
  /// behind the last tool, the system and the last message.
  static provider::WireRequest Wire(std::string_view letters) {
    provider::WireRequest wire;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const char c = letters[i];
      const char next = i + 1 < letters.size() ? letters[i + 1] : '\0';
      const std::size_t begin = wire.body.size();
      wire.body.append(1000 * kBytesPerToken, c == 'T' ? 't' : c);
      if (c == 'T') wire.body.back() = '+';
      const bool tool = c == 't' || c == 'T';
      const bool effort = c == 'e' || c == 'E';
      wire.parts.push_back(
          {.kind = tool                   ? PartKind::kTool
                   : effort               ? PartKind::kThinking
                   : c == 's' || c == 'S' ? PartKind::kSystem
                                          : PartKind::kMessage,
           .mark = next == '\0' || (tool && next != 't' && next != 'T') || c == 's' || c == 'S',
           .begin = begin,
           .end = wire.body.size()});
    }
    return wire;
  }

  protocol::Prefix Begin(std::string_view letters) {
    return account_.Begin("turn", model_, Wire(letters), *log_);
  }
  void End(std::string_view letters, std::int64_t read = 0) {
    protocol::Usage usage;
    usage.input = (static_cast<std::int64_t>(letters.size()) * 1000) - read;
    usage.cache_read = read;
    account_.End("turn", usage);
  }
  /// Sends it, and gives what is foreseen.
  protocol::Prefix Send(std::string_view letters) {
    protocol::Prefix prefix = Begin(letters);
    End(letters, prefix.cached.value_or(0));
    return prefix;
  }
  static protocol::Prefix Expected(std::int64_t equal_parts, std::optional<std::string> cause,
                                   protocol::OptionalInt cost, std::int64_t cached) {
    protocol::Prefix prefix;
    prefix.equal_bytes = equal_parts * 1000 * kBytesPerToken;
    prefix.cause = std::move(cause);
    prefix.cost = cost;
    prefix.cached = cached;
    return prefix;
  }

  std::unique_ptr<log::Log> log_;
  FakeClock time_;
  Account account_{time_};
  provider::Model model_;
};

TEST_F(AccountTest, WhatGoesOnIsReadFromTheCache) {
  EXPECT_EQ(Send("ttsa"), Expected(0, {}, {}, 0));
  EXPECT_EQ(Send("ttsabc"), Expected(4, {}, {}, 4000));
  EXPECT_EQ(Send("ttsabcd"), Expected(6, {}, {}, 6000));
}

TEST_F(AccountTest, ABreakHasItsCauseAndItsPrice) {
  Send("ttsab");
  const auto foreseen = [&] {
    return account_.Foresee("turn", model_, Wire("tTsab"), *log_).cause;
  };
  EXPECT_EQ(foreseen(), "unexplained") << "no toolset says why the tools differ";
  Append(*log_, {.payload = protocol::Toolset{.blob = "b", .cause = "window"}});
  EXPECT_EQ(foreseen(), "window");
  Append(*log_, {.payload = protocol::Toolset{.blob = "b", .cause = "option"}});
  EXPECT_EQ(Send("tTsab"), Expected(1, "option", 5 * 2300, 0));
  EXPECT_EQ(Send("tTSab"), Expected(2, "instructions", 3 * 2300, 2000));
  EXPECT_EQ(Send("tTSeab"), Expected(3, "effort", 2 * 2300, 3000));
  EXPECT_EQ(Send("tTSax"), Expected(3, "effort", 3 * 2300, 3000));
}

TEST_F(AccountTest, EventsTellWhyTheConversationDiffers) {
  const std::string first = Append(*log_, log::User("one"));
  Append(*log_, log::Assistant("two"));
  Send("tsab");
  EXPECT_EQ(Send("tsac").cause, "unexplained");
  ASSERT_TRUE(log_->Rewind(first, log_->leaf_id()));
  EXPECT_EQ(Send("tsb").cause, "rewind");
  EXPECT_EQ(Send("tsc").cause, "unexplained") << "the rewind has been told";
  const auto append = [&](protocol::Payload payload) {
    Append(*log_, {.payload = std::move(payload)});
  };
  append(protocol::ContentReplacement());
  EXPECT_EQ(Send("tsd").cause, "replacement");
  append(protocol::Snip());
  EXPECT_EQ(Send("tsx").cause, "snip");
  append(protocol::Compaction());
  EXPECT_EQ(Send("ts").cause, "compaction") << "also when only something is gone";
}

TEST_F(AccountTest, AnotherModelHasAnotherCacheAndBothAreRemembered) {
  Send("tsab");
  model_.id = "claude-haiku-5-5";
  EXPECT_EQ(Send("tsab"), Expected(0, "model", 4 * 2300, 0));
  model_.id = "claude-sonnet-5";
  EXPECT_EQ(Send("tsabcd"), Expected(4, {}, {}, 4000));
}

TEST_F(AccountTest, PurposesAreComparedApartAndShareTheCache) {
  Send("tsab");
  const protocol::Prefix prefix = account_.Begin("compaction", model_, Wire("tsabz"), *log_);
  EXPECT_EQ(prefix, Expected(0, {}, {}, 4000));
}

TEST_F(AccountTest, WhatRestedTooLongIsReadAnewWithoutABreak) {
  Send("tsab");
  time_.Advance(std::chrono::minutes(4));
  EXPECT_EQ(Send("tsabc").cached, 4000);
  time_.Advance(std::chrono::minutes(4));
  EXPECT_EQ(Send("tsabcd").cached, 5000);
  time_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(Send("tsabcde"), Expected(6, {}, {}, 0));
}

TEST_F(AccountTest, ARequestThatWasNotAnsweredIsNotCached) {
  Send("tsab");
  Begin("tsabcd");
  account_.End("turn", std::nullopt);
  EXPECT_EQ(Send("tsabcde"), Expected(6, {}, {}, 4000));
}

TEST_F(AccountTest, MoreThanTwentyBlocksBackIsOutOfSight) {
  Send("tsa");
  EXPECT_EQ(Begin("tsa" + std::string(19, 'x')).cached, 3000);
  account_.End("turn", std::nullopt);
  EXPECT_EQ(Begin("tsa" + std::string(20, 'x')).cached, 2000) << "the system has its own mark";
}

TEST_F(AccountTest, WhatIsTooSmallIsNotCached) {
  Use(Dialect::kAnthropicMessages, "claude-haiku-4-5");
  Send("tsa");
  EXPECT_EQ(Send("tsab").cached, 0);
  EXPECT_EQ(Send("tsabc").cached, 0);
  EXPECT_EQ(Send("tsabcd").cached, 5000);
}

TEST_F(AccountTest, OpenAiCachesAnyPrefixInSteps) {
  Use(Dialect::kOpenAiResponses, "gpt-5");
  Send("tsab");
  EXPECT_EQ(Send("tsabc").cached, 4000 / 128 * 128);
  Append(*log_, log::User("one"));
  ASSERT_TRUE(log_->Rewind({}, log_->leaf_id()));
  constexpr std::int64_t kWas = 4992;  // 39 steps.
  constexpr std::int64_t kIs = 2944;   // 23 steps.
  EXPECT_EQ(Send("tsad"), Expected(3, "rewind", (kWas - kIs) * 23 / 10, kIs));
}

TEST_F(AccountTest, NewerOnesOfOpenAiCacheWholePromptsForLonger) {
  Use(Dialect::kOpenAiResponses, "gpt-5.6-sol");
  Send("tsab");
  time_.Advance(std::chrono::minutes(29));
  EXPECT_EQ(Send("tsabc").cached, 4000);
  EXPECT_EQ(Send("tsad").cached, 0);
}

TEST_F(AccountTest, GoogleCachesFromItsMinimumOn) {
  Use(Dialect::kGoogleGenerativeAi, "gemini-2.5-pro");
  Send("ts");
  EXPECT_EQ(Send("tsa").cached, 0);
  EXPECT_EQ(Send("tsab").cached, 3000);
}

TEST_F(AccountTest, AnotherProcessGoesOnWithWhatItPrimed) {
  protocol::Usage usage;
  usage.input = 4000;
  account_.Prime("turn", model_, Wire("tsab"), usage, time_.Now(), log_->index().entries().size());
  EXPECT_EQ(Send("tsabc"), Expected(4, {}, {}, 4000));
}

TEST_F(AccountTest, ForeseeingChangesNothing) {
  Send("tsab");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(account_.Foresee("turn", model_, Wire("tsx"), *log_),
              Expected(2, "unexplained", 2 * 2300, 2000));
  }
  EXPECT_EQ(Send("tsabc"), Expected(4, {}, {}, 4000));
}

TEST_F(AccountTest, ManyBranchesAndModelsAreForgottenNotKept) {
  for (int i = 0; i < 100; ++i) {
    model_.id = "claude-sonnet-" + std::to_string(i % 12);
    Send("ts" + std::string(1, static_cast<char>('0' + (i % 9))) + "b");
  }
  model_.id = "claude-sonnet-3";
  EXPECT_EQ(Send("ts9b").cause, "unexplained");
}

TEST(CacheRulesTest, TheMinimumIsTheModels) {
  const auto minimum = [](std::string id) {
    provider::Model model;
    model.id = std::move(id);
    model.dialect = Dialect::kAnthropicMessages;
    return RulesFor(model).minimum;
  };
  EXPECT_EQ(minimum("claude-opus-5-5"), 512);
  EXPECT_EQ(minimum("claude-sonnet-4-5"), 1024);
  EXPECT_EQ(minimum("claude-opus-4-8"), 1024);
  EXPECT_EQ(minimum("claude-opus-4-7"), 2048);
  EXPECT_EQ(minimum("claude-haiku-4-5"), 4096);
  EXPECT_EQ(minimum("anything"), 1024);
}

TEST(CacheRulesTest, OpenAisRuleChangedWithAVersion) {
  const auto kind = [](std::string id) {
    provider::Model model;
    model.id = std::move(id);
    model.dialect = Dialect::kOpenAiCompletions;
    return RulesFor(model).kind;
  };
  for (const char* id : {"gpt-5.5", "gpt-5", "gpt-4o", "o3", "gpt-oss-120b", "gpt-", "llama"})
    EXPECT_EQ(kind(id), CacheRules::Kind::kPrefix) << id;
  for (const char* id : {"gpt-5.6-sol", "gpt-6-luna", "gpt-6.1-sol", "openai/gpt-6.1-sol"})
    EXPECT_EQ(kind(id), CacheRules::Kind::kWhole) << id;
}

}  // namespace
}  // namespace stet::context
