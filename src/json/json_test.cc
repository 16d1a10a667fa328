#include "json/json.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace stet {
namespace {

std::string Skipped(std::string_view text) {
  JsonReader reader(text);
  std::string_view raw;
  return reader.Skip(&raw) && reader.AtEnd() ? std::string(raw) : "refused";
}

std::string StringOf(std::string_view text) {
  JsonReader reader(text);
  std::string out;
  return reader.String(&out) && reader.AtEnd() ? out : "refused";
}

TEST(Json, ASkippedValueIsGivenAsItsExactText) {
  for (const std::string_view value :
       {"0", "-0", "1e400", "18446744073709551616", "0.12345678901234567", "1E+5", "\"\\u0041\\/\"",
        "{}", "[]", R"({"a":1,"a":2})", R"([1, [2, {"x" : null}], true , false])", "\"\\ud800\"",
        "\"世界\""}) {
    EXPECT_EQ(Skipped(value), value);
    EXPECT_EQ(Skipped(" \t\n" + std::string(value) + "\r "), value);
  }
}

TEST(Json, AStringMayEndAtAnyByteAndHoldsNoControlCharacter) {
  // High bytes and neighbours of what is special are not special.
  const std::string filling = " !#[]\x7f\x80\xa2\xdc\xff" + std::string(20, 'x');
  for (std::size_t length = 0; length <= filling.size(); ++length) {
    const std::string text = filling.substr(0, length);
    const std::string rest = filling.substr(length);
    EXPECT_EQ(StringOf("\"" + text + "\""), text);
    EXPECT_EQ(StringOf("\"" + text + "\\n" + rest + "\""), text + "\n" + rest);
    EXPECT_EQ(StringOf("\"" + text + "\x1f" + rest + "\""), "refused");
    EXPECT_EQ(StringOf("\"" + text), "refused");
  }
}

TEST(Json, WhatIsNotJsonIsRefused) {
  for (const std::string_view text :
       {"",          " ",       "nul",      "truth",   "+1",          "01",       "1.",   ".5",
        "1e",        "-",       "\"",       "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "[1,]", "[,1]",
        "[1 2]",     "{\"a\"}", "{\"a\":}", "{a:1}",   "{\"a\":1,}",  "[}",       "{]",   "[1}",
        "{\"a\":1]", "1 2",     "[[]",      "NaN",     "'a'",         "\"\x01\""}) {
    EXPECT_FALSE(CheckJson(text)) << text;
  }
}

TEST(Json, NestingIsBoundedNotTheStack) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(CheckJson(nested(JsonReader::kMaxDepth)));
  EXPECT_FALSE(CheckJson(nested(JsonReader::kMaxDepth + 1)));
  EXPECT_FALSE(CheckJson(std::string(1'000'000, '[')));
}

TEST(Json, EscapesBecomeTheirCharacters) {
  EXPECT_EQ(StringOf(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(StringOf(R"("\u4e16\u754c")"), "世界");
  EXPECT_EQ(StringOf(R"("\ud83d\ude00")"), "😀");
  EXPECT_EQ(StringOf(R"("\u0000")"), std::string(1, '\0'));
}

TEST(Json, ALoneSurrogateBecomesTheReplacementCharacter) {
  EXPECT_EQ(StringOf(R"("\ud800")"), "\uFFFD");
  EXPECT_EQ(StringOf(R"("\udc00x")"), "\uFFFDx");
  EXPECT_EQ(StringOf(R"("\ud800\ud83d\ude00")"), "\uFFFD😀");
  EXPECT_EQ(StringOf(R"("\ud800A")"), "\uFFFDA");
}

TEST(Json, OnlyIntegersInRangeAreIntegers) {
  const auto integer = [](std::string_view text) {
    JsonReader reader(text);
    std::int64_t value = 0;
    return reader.Int(&value) ? std::optional(value) : std::nullopt;
  };
  EXPECT_EQ(integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(integer("1.0"), std::nullopt);
  EXPECT_EQ(integer("1e2"), std::nullopt);
  EXPECT_EQ(integer("\"1\""), std::nullopt);
}

TEST(Json, MembersAreWalkedInOrderAndAReaderCanBeCopiedToLookAhead) {
  JsonReader reader(R"({ "a" : 1 , "b\u0021" : [ "x" , {} ] , "c":null})");
  std::string_view key;
  ASSERT_TRUE(reader.EnterObject());
  ASSERT_TRUE(reader.NextMember(&key));
  EXPECT_EQ(key, "a");
  JsonReader ahead = reader;
  EXPECT_TRUE(ahead.Skip());
  EXPECT_TRUE(ahead.NextMember(&key));
  std::int64_t one = 0;
  EXPECT_TRUE(reader.Int(&one));
  ASSERT_TRUE(reader.NextMember(&key));
  EXPECT_EQ(key, "b!");
  EXPECT_EQ(reader.raw_key(), "b\\u0021");
  ASSERT_TRUE(reader.EnterArray());
  std::string text;
  EXPECT_TRUE(reader.NextElement() && reader.String(&text));
  EXPECT_TRUE(reader.NextElement() && reader.EnterObject());
  EXPECT_FALSE(reader.NextMember(&key));
  EXPECT_FALSE(reader.NextElement());
  ASSERT_TRUE(reader.NextMember(&key));
  EXPECT_TRUE(reader.Null());
  EXPECT_FALSE(reader.NextMember(&key));
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Json, AnErrorNamesItsByteAndStays) {
  JsonReader reader(R"({"a":tru})");
  std::string_view key;
  bool value = false;
  ASSERT_TRUE(reader.EnterObject() && reader.NextMember(&key));
  EXPECT_FALSE(reader.Bool(&value));
  EXPECT_NE(reader.error().message.find("byte 5"), std::string::npos) << reader.error().message;
  EXPECT_FALSE(reader.NextMember(&key));
  EXPECT_FALSE(reader.AtEnd());
}

TEST(Json, ARawValueIsOneLineAndOtherwiseUntouched) {
  EXPECT_EQ(Raw::From("{\n  \"a\": 1e400\r\n}")->text, "{   \"a\": 1e400  }");
  EXPECT_FALSE(Raw::From("{"));
  EXPECT_FALSE(Raw::From("\"\xff\""));
}

TEST(Json, ANameThatStandsTwiceInOneObjectIsFound) {
  EXPECT_EQ(RepeatedMember(R"({"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]})"), std::nullopt);
  EXPECT_EQ(RepeatedMember(R"({"a":1,"a":2})"), "a");
  EXPECT_EQ(RepeatedMember(R"({"command":1,"comm\u0061nd":2})"), "command");
  EXPECT_EQ(RepeatedMember(R"([0,{"x":[{"deep":1,"y":2,"deep":3}]}])"), "deep");
  EXPECT_EQ(RepeatedMember("no json"), std::nullopt);
  EXPECT_EQ(RepeatedMember(R"({"a":1,"b":)"), std::nullopt);
}

TEST(Json, WhatIsWrittenCanAlwaysBeRead) {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("\"\\/\b\f\n\r\t"), std::string_view("世界😀"),
        std::string_view("\0\x1f\x7f", 3),
        std::string_view("plain ascii, long enough for words of eight")}) {
    std::string out;
    AppendJsonString(out, text);
    EXPECT_EQ(StringOf(out), text);
  }
  std::string out;
  AppendJsonString(out, "a\xff\xc3");
  EXPECT_TRUE(IsValidUtf8(out));
  EXPECT_EQ(StringOf(out), "a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace stet
