#include "emulator/request_facts.h"

#include <gtest/gtest.h>

namespace stet::emulator {
namespace {

TEST(RequestFactsTest, ThePathTellsTheDialect) {
  EXPECT_EQ(DialectAt("/v1/messages"), Dialect::kAnthropicMessages);
  EXPECT_EQ(DialectAt("/proxy/v1/chat/completions"), Dialect::kOpenAiCompletions);
  EXPECT_EQ(DialectAt("/v1/responses"), Dialect::kOpenAiResponses);
  EXPECT_EQ(DialectAt("/v1beta/models/g-2:streamGenerateContent"), Dialect::kGoogleGenerativeAi);
  EXPECT_FALSE(DialectAt("/v1/messages/count_tokens"));
  EXPECT_FALSE(DialectAt("/v1beta/models/g:generateContent"));
}

TEST(RequestFactsTest, AnthropicToolResultsCountUntilTheModelSpeaks) {
  constexpr std::string_view kCall =
      R"({"role":"user","content":"go"},{"role":"assistant","content":[]},)";
  constexpr std::string_view kResult =
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]})";
  const auto read = [](const std::string& body) {
    const RequestFacts facts = ReadFacts(Dialect::kAnthropicMessages, "/v1/messages", body);
    return std::pair(facts.has_tool_result, facts.last_user);
  };
  const std::string start = R"({"messages":[)" + std::string(kCall);
  EXPECT_EQ(read(start + std::string(kResult) + "]}"), std::pair(true, std::string("go")));
  EXPECT_EQ(read(start + std::string(kResult) + R"(,{"role":"assistant","content":"ok"},)" +
                 R"({"role":"user","content":[{"type":"text","text":"more"}]}]})"),
            std::pair(false, std::string("more")));
}

TEST(RequestFactsTest, EveryDialectHasItsOwnWayOfResults) {
  const std::string completions =
      R"({"model":"m","stream":true,"stop":["X"],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"r"}]})";
  const RequestFacts one = ReadFacts(Dialect::kOpenAiCompletions, "/", completions);
  EXPECT_TRUE(one.has_tool_result && one.stream);
  EXPECT_EQ(one.last_user, "a\nb");
  EXPECT_EQ(one.stop_sequence, "X");
  const std::string responses =
      R"({"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c"},{"type":"function_call_output","call_id":"c"}]})";
  EXPECT_TRUE(ReadFacts(Dialect::kOpenAiResponses, "/", responses).has_tool_result);
  const std::string google =
      R"({"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[]},{"role":"user","parts":[{"functionResponse":{}}]}]})";
  const RequestFacts two = ReadFacts(Dialect::kGoogleGenerativeAi,
                                     "/v1beta/models/g:streamGenerateContent?alt=sse", google);
  EXPECT_TRUE(two.has_tool_result && two.stream);
  EXPECT_EQ(two.model, "g");
  EXPECT_EQ(two.last_user, "q");
}

TEST(RequestFactsTest, ContainsLooksIntoStringValuesOnly) {
  const std::string body = R"({"key":[{"a":"caf\u00e9 au"},["x"]],"n":12})";
  const RequestFacts facts{.body = body};
  EXPECT_EQ(Mismatch({.contains = "café"}, facts, 1), "");
  EXPECT_EQ(Mismatch({.contains = "x"}, facts, 1), "");
  EXPECT_NE(Mismatch({.contains = "key"}, facts, 1), "");
  EXPECT_NE(Mismatch({.contains = "12"}, facts, 1), "");
}

TEST(RequestFactsTest, AnythingMayBeSent) {
  for (const std::string_view body : {"", "[", "[]", "{\"messages\":5}", "{\"messages\":[[]]}",
                                      "{\"a\":[\"b\"", "\"x\"", "[[],{}]"}) {
    for (std::size_t i = 0; i < kDialects; ++i) {
      const RequestFacts facts =
          ReadFacts(static_cast<Dialect>(i), "/models/m:streamGenerateContent", body);
      EXPECT_FALSE(facts.has_tool_result || facts.stream);
      EXPECT_NE(Mismatch({.contains = "zzz"}, facts, 1), "");
    }
  }
}

}  // namespace
}  // namespace stet::emulator
