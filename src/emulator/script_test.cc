#include "emulator/script.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"

namespace stet::emulator {
namespace {

std::string ErrorOf(std::string_view text) {
  const Result<Script> script = ParseScript(text);
  return script ? "" : script.error().message;
}

TEST(EmulatorScriptTest, AnEmptyReplyHasTheDefaults) {
  const Result<Script> script = ParseScript(R"({"replies":[{}]})");
  ASSERT_TRUE(script);
  ASSERT_EQ(script->replies.size(), 1u);
  const Reply& reply = script->replies[0];
  EXPECT_EQ(reply.times, 1);
  EXPECT_EQ(reply.delta, 16u);
  EXPECT_EQ(reply.write, 0u);
  EXPECT_FALSE(reply.fault || reply.usage || script->strict || script->window || script->cache);
}

TEST(EmulatorScriptTest, EveryMemberIsRead) {
  const Result<Script> script = ParseScript(R"({"strict":true,"replies":[{
    "when":{"dialect":"google-generative-ai","model":"m","call":2,"contains":"c","hasToolResult":true,"lastUser":"u"},
    "times":0,"blocks":[{"text":"t"},{"thinking":"h","signature":"s"},{"redacted":"r"},{"refusal":"n"},
      {"call":{"name":"f","args":{"a":
        1},"id":"i"}}],
    "stop":"max_tokens","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"reasoning":2},"model":"w",
    "delta":3,"write":4,"pauseMs":5,"firstByteMs":6,"headers":{"x-a":"b"},"quirks":["crlf"],
    "fault":{"kind":"status","status":429,"type":"y","code":"z","message":"w","retryAfter":7}}]})");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_TRUE(script->strict);
  const Reply& reply = script->replies.at(0);
  EXPECT_EQ(reply.when.dialect, Dialect::kGoogleGenerativeAi);
  EXPECT_EQ(reply.when.call, 2);
  EXPECT_EQ(reply.when.has_tool_result, true);
  ASSERT_EQ(reply.blocks.size(), 5u);
  EXPECT_EQ(std::get<ThinkingBlock>(reply.blocks[1]).signature, "s");
  EXPECT_EQ(std::get<CallBlock>(reply.blocks[4]).args.find('\n'), std::string::npos);
  EXPECT_EQ(reply.usage->prompt(), 8);
  EXPECT_EQ(reply.headers, (Headers{{"x-a", "b"}}));
  EXPECT_TRUE(reply.HasQuirk("crlf"));
  EXPECT_EQ(reply.fault->kind, Fault::Kind::kStatus);
  EXPECT_EQ(reply.fault->status, 429);
  EXPECT_EQ(reply.fault->retry_after, 7);
}

TEST(EmulatorScriptTest, TheWindowAndTheCacheAreTheScripts) {
  const Result<Script> script = ParseScript(
      R"({"window":5000,"cache":{"minimum":512,"ttlMs":1000,"whole":true},"replies":[]})");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_EQ(script->window, 5000);
  ASSERT_TRUE(script->cache);
  EXPECT_EQ(script->cache->minimum, 512);
  EXPECT_EQ(script->cache->ttl_ms, 1000);
  EXPECT_TRUE(script->cache->whole);
  EXPECT_EQ(ErrorOf(R"({"cache":{"size":1},"replies":[]})"),
            "the script: cache.size: there is no such member");
}

TEST(EmulatorScriptTest, AnErrorNamesTheReplyAndTheMember) {
  EXPECT_EQ(ErrorOf(R"({"replies":[{},{"tims":1}]})"),
            "the script, reply 2: tims: there is no such member");
  EXPECT_EQ(ErrorOf(R"({"replies":[{"when":{"call":0}}]})"),
            "the script, reply 1: when.call: must be an integer from 1 to 2147483647");
  EXPECT_EQ(ErrorOf(R"({"replies":[{"fault":{"status":500}}]})"),
            "the script, reply 1: fault: a fault has a kind");
  EXPECT_EQ(ErrorOf(R"({"replies":[{"blocks":[{"text":5}]}]})"),
            "the script, reply 1: blocks.text: must be a string");
  EXPECT_EQ(ErrorOf(R"({"replies":{}})"), "the script: replies: must be an array");
  EXPECT_EQ(ErrorOf("[]"), "the script: must be an object");
}

TEST(EmulatorScriptTest, WrongValuesAreRefused) {
  EXPECT_NE(ErrorOf(R"({"replies":[{"fault":{"kind":"fire"}}]})").find("must be one of status"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"replies":[{"quirks":["odd"]}]})").find("must be some of crlf"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"replies":[{"headers":{"a":"b\r\nc: d"}}]})").find("no HTTP header"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"replies":[{"blocks":[{"text":"a","call":{"name":"f"}}]}]})"), "");
  EXPECT_NE(ErrorOf(R"({"replies":[{"blocks":[{"text":"a","signature":"s"}]}]})"), "");
  EXPECT_NE(ErrorOf(R"({"replies":[{"blocks":[{"call":{"args":{}}}]}]})"), "");
  EXPECT_NE(ErrorOf(R"({"replies":[{"usage":{"output":1,"reasoning":2}}]})"), "");
}

TEST(EmulatorScriptTest, BrokenJsonSaysWhere) {
  EXPECT_NE(ErrorOf(R"({"replies":[{"stop":"a)").find("reply 1: stop: bad JSON at byte"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"replies":[]} x)").find("something follows its end"), std::string::npos);
  EXPECT_NE(ErrorOf(""), "");
  EXPECT_NE(ErrorOf("{\"replies\":[{\"model\":\"\xff\"}]}"), "");
}

TEST(EmulatorScriptTest, TheDocumentsExamplesAreScriptsAndItNamesEveryFaultAndQuirk) {
  const std::string document = *ReadFile(SourceDir() + "/doc/format/emulator.md");
  const std::size_t start = document.find("```json\n") + 8;
  const std::string example = document.substr(start, document.find("```", start) - start);
  EXPECT_EQ(ErrorOf(example), "");

  // The messages list all names there are.
  for (std::string list : {ErrorOf(R"({"replies":[{"fault":{"kind":"?"}}]})"),
                           ErrorOf(R"({"replies":[{"quirks":["?"]}]})")}) {
    list = list.substr(list.find(" of ") + 4) + ",";
    std::size_t names = 0;
    for (std::size_t at = 0; at < list.size(); ++names) {
      const std::size_t end = list.find(',', at);
      EXPECT_NE(document.find("`" + list.substr(at, end - at) + "`"), std::string::npos)
          << list.substr(at, end - at);
      at = end + 2;
    }
    EXPECT_GE(names, 13u);
  }
}

}  // namespace
}  // namespace stet::emulator
