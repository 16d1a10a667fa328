#include "json/schema/schema.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

using Errors = std::vector<SchemaError>;

Errors Check(std::string_view schema, std::string_view json) {
  const Result<JsonSchema> parsed = JsonSchema::Parse(schema);
  EXPECT_TRUE(parsed) << parsed.error().Text();
  return parsed ? parsed->Validate(json) : Errors{{"", "no schema"}};
}

bool Fits(std::string_view schema, std::string_view json) { return Check(schema, json).empty(); }

Code RefusalOf(std::string_view schema) {
  const Result<JsonSchema> parsed = JsonSchema::Parse(schema);
  EXPECT_FALSE(parsed) << schema;
  return parsed ? Code::kIo : parsed.error().code;
}

TEST(JsonSchemaTest, TypesAreToldApart) {
  EXPECT_TRUE(Fits(R"({"type":"integer"})", "1.0"));
  EXPECT_FALSE(Fits(R"({"type":"integer"})", "1.5"));
  EXPECT_TRUE(Fits(R"({"type":"number"})", "1e400"));
  EXPECT_TRUE(Fits(R"({"type":["string","null"]})", "null"));
  EXPECT_EQ(Check(R"({"type":["string","null"]})", "[1]"),
            (Errors{{"", "must be null or a string, not an array"}}));
  EXPECT_EQ(Check(R"({"type":"boolean"})", "0"), (Errors{{"", "must be true or false, not 0"}}));
}

TEST(JsonSchemaTest, AMisspeltMemberIsNamedWithTheOneThatWasMeant) {
  constexpr std::string_view kSchema =
      R"({"type":"object","properties":{"max_tokens":{"type":"integer"},"model":{"type":"string"}},)"
      R"("required":["max_tokens"],"additionalProperties":false})";
  EXPECT_TRUE(Fits(kSchema, R"({"max_tokens":5})"));
  EXPECT_EQ(Check(kSchema, R"({"max_token":5})"),
            (Errors{{"", "\"max_tokens\" is missing"},
                    {"/max_token", "there is no such member; did you mean \"max_tokens\"?"}}));
  EXPECT_EQ(Check(kSchema, R"({"max_tokens":1,"a/b~":2})"),
            (Errors{{"/a~1b~0", "there is no such member"}}));
}

TEST(JsonSchemaTest, PathsLeadIntoArraysAndObjects) {
  EXPECT_EQ(Check(R"({"properties":{"a":{"items":{"properties":{"b":{"type":"string"}}}}}})",
                  R"({"a":[{"b":"x"},{"b":7}]})"),
            (Errors{{"/a/1/b", "must be a string, not 7"}}));
}

constexpr std::string_view kBlocks =
    R"({"anyOf":[{"$ref":"#/definitions/Text"},{"$ref":"#/definitions/Image"},{"type":"string"}],"definitions":{)"
    R"("Text":{"type":"object","properties":{"type":{"type":"string","const":"text"},"text":{"type":"string"}},)"
    R"("required":["type","text"],"additionalProperties":false},)"
    R"("Image":{"type":"object","properties":{"type":{"type":"string","const":"image"},"url":{"type":"string"}},)"
    R"("required":["type","url"],"additionalProperties":false}}})";

TEST(JsonSchemaTest, TheAlternativeThatWasMeantIsTheOneReported) {
  EXPECT_TRUE(Fits(kBlocks, R"({"type":"text","text":"a"})"));
  EXPECT_TRUE(Fits(kBlocks, R"("a")"));
  EXPECT_EQ(Check(kBlocks, R"({"type":"image","uri":"a","text":"b"})"),
            (Errors{{"", "\"url\" is missing"},
                    {"/uri", "there is no such member; did you mean \"url\"?"},
                    {"/text", "there is no such member"}}));
  EXPECT_EQ(Check(kBlocks, R"({"type":"video"})"),
            (Errors{{"/type", R"(must be one of "image", "text")"}}));
  EXPECT_EQ(Check(kBlocks, "5"), (Errors{{"", "must be a string or an object, not 5"}}));
}

TEST(JsonSchemaTest, WithoutAMarkTheNearestAlternativeIsReported) {
  constexpr std::string_view kSchema =
      R"({"anyOf":[{"required":["a","b"]},{"properties":{"c":{"type":"string"}},"required":["c"]}]})";
  EXPECT_EQ(Check(kSchema, R"({"c":1})"), (Errors{{"/c", "must be a string, not 1"}}));
}

TEST(JsonSchemaTest, OneOfWantsExactlyOne) {
  constexpr std::string_view kSchema = R"({"oneOf":[{"minimum":2},{"multipleOf":3}]})";
  EXPECT_TRUE(Fits(kSchema, "2"));
  EXPECT_TRUE(Fits(kSchema, "-3"));
  EXPECT_FALSE(Fits(kSchema, "3"));
  EXPECT_FALSE(Fits(kSchema, "1"));
}

TEST(JsonSchemaTest, CombinationsHold) {
  EXPECT_FALSE(Fits(R"({"not":{"type":"string"}})", R"("a")"));
  EXPECT_TRUE(Fits(R"({"not":{"type":"string"}})", "1"));
  EXPECT_FALSE(Fits(R"({"allOf":[{"minimum":1},{"maximum":2}]})", "3"));
  constexpr std::string_view kIf =
      R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})";
  EXPECT_TRUE(Fits(kIf, "20"));
  EXPECT_FALSE(Fits(kIf, "21"));
  EXPECT_TRUE(Fits(kIf, "5"));
  EXPECT_FALSE(Fits(kIf, "6"));
  EXPECT_TRUE(Fits("true", "1"));
  EXPECT_FALSE(Fits("false", "1"));
}

TEST(JsonSchemaTest, NumbersAreBounded) {
  EXPECT_EQ(Check(R"({"minimum":1})", "0"), (Errors{{"", "must be at least 1"}}));
  EXPECT_FALSE(Fits(R"({"exclusiveMinimum":1})", "1"));
  EXPECT_FALSE(Fits(R"({"exclusiveMaximum":1})", "1.0"));
  EXPECT_TRUE(Fits(R"({"multipleOf":0.1})", "0.3"));
  EXPECT_TRUE(Fits(R"({"multipleOf":0.0001})", "0.0075"));
  EXPECT_FALSE(Fits(R"({"multipleOf":0.0001})", "0.00751"));
  EXPECT_TRUE(Fits(R"({"const":1})", "1.0"));
}

TEST(JsonSchemaTest, LengthsCountCodePoints) {
  EXPECT_TRUE(Fits(R"({"maxLength":2})", R"("👍ü")"));
  EXPECT_EQ(Check(R"({"maxLength":2})", R"("abc")"),
            (Errors{{"", "must have at most 2 characters, not 3"}}));
  EXPECT_FALSE(Fits(R"({"minLength":1})", R"("")"));
}

TEST(JsonSchemaTest, PatternsAreSearched) {
  EXPECT_TRUE(Fits(R"({"pattern":"^[a-z]+-\\d{2}$"})", R"("ab-12")"));
  EXPECT_EQ(Check(R"({"pattern":"^a"})", R"("ba")"), (Errors{{"", "must match the pattern ^a"}}));
  EXPECT_TRUE(
      Fits(R"({"pattern":"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"})",
           R"("0a1b2c3d-0000-1111-2222-0123456789ab")"));
  EXPECT_TRUE(Fits(R"({"pattern":"^.{2}$"})", R"("検索")")) << "characters, not bytes";
  EXPECT_TRUE(Fits(R"({"pattern":"^\\u00e9\\/$"})", R"("é/")"));
  EXPECT_FALSE(Fits(R"({"pattern":"a"})", "\"" + std::string(10'241, 'a') + "\""));
}

TEST(JsonSchemaTest, APatternCannotTakeForEver) {
  // Exponential for a matcher that backtracks.
  EXPECT_FALSE(Fits(R"({"pattern":"^(a+)+$"})", "\"" + std::string(5000, 'a') + "b\""));
  EXPECT_EQ(RefusalOf(R"({"pattern":"((a?){1000}){1000}"})"), Code::kUnsupported);
  EXPECT_EQ(RefusalOf(R"({"pattern":"(a{1001})b"})"), Code::kUnsupported);
  EXPECT_EQ(RefusalOf(R"({"pattern":"(a)\\1"})"), Code::kUnsupported);
  EXPECT_EQ(RefusalOf(R"x({"pattern":"a(?=b)"})x"), Code::kUnsupported);
  EXPECT_EQ(RefusalOf(R"({"pattern":"("})"), Code::kUnsupported);
  EXPECT_EQ(RefusalOf(R"({"pattern":")" + std::string(900, '(') + R"("})"), Code::kUnsupported);
}

TEST(JsonSchemaTest, ArraysHaveItemsAndSizes) {
  constexpr std::string_view kTuple =
      R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"},"minItems":1})";
  EXPECT_TRUE(Fits(kTuple, R"(["a",1,2])"));
  EXPECT_FALSE(Fits(kTuple, R"(["a","b"])"));
  EXPECT_FALSE(Fits(kTuple, "[]"));
  constexpr std::string_view kOldTuple =
      R"({"items":[{"type":"string"}],"additionalItems":false,"maxItems":3})";
  EXPECT_TRUE(Fits(kOldTuple, R"(["a"])"));
  EXPECT_FALSE(Fits(kOldTuple, R"(["a",1])"));
  EXPECT_TRUE(Fits(R"({"additionalItems":false})", "[1]"));
  EXPECT_EQ(Check(R"({"uniqueItems":true})", R"([{"a":1,"b":2},1,{"b":2.0,"a":1}])"),
            (Errors{{"", "must not have the same item twice: 0 and 2"}}));
}

TEST(JsonSchemaTest, ObjectsHaveNamesAndSizes) {
  EXPECT_FALSE(Fits(R"({"propertyNames":{"maxLength":3}})", R"({"long":1})"));
  EXPECT_FALSE(Fits(R"({"minProperties":1})", "{}"));
  EXPECT_FALSE(Fits(R"({"maxProperties":1})", R"({"a":1,"b":2})"));
  EXPECT_EQ(Check(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"),
            (Errors{{"", "\"b\" is missing; \"a\" needs it"}}));
  constexpr std::string_view kPatterns =
      R"({"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":{"type":"integer"}})";
  EXPECT_TRUE(Fits(kPatterns, R"({"x-a":"b","c":1})"));
  EXPECT_FALSE(Fits(kPatterns, R"({"x-a":1})"));
  EXPECT_FALSE(Fits(kPatterns, R"({"c":"d"})"));
}

TEST(JsonSchemaTest, ReferencesAreDecoded) {
  EXPECT_FALSE(
      Fits(R"({"$ref":"#/$defs/a~1b%20%25~0c","$defs":{"a/b %~c":{"type":"string"}}})", "1"));
  EXPECT_FALSE(
      Fits(R"({"items":{"$ref":"#/prefixItems/1"},"prefixItems":[true,{"type":"string"}]})",
           R"([1,"a",2])"));
  EXPECT_EQ(RefusalOf(R"({"$ref":"#/$defs/none"})"), Code::kInvalid);
  EXPECT_EQ(RefusalOf(R"({"$ref":"other.json"})"), Code::kUnsupported);
}

TEST(JsonSchemaTest, ASchemaMayHoldItself) {
  constexpr std::string_view kTree =
      R"({"properties":{"left":{"$ref":"#"},"value":{"type":"integer"}},"additionalProperties":false})";
  EXPECT_TRUE(Fits(kTree, R"({"left":{"left":{"value":1}}})"));
  EXPECT_EQ(Check(kTree, R"({"left":{"left":{"value":"x"}}})"),
            (Errors{{"/left/left/value", "must be an integer, not a string"}}));
}

TEST(JsonSchemaTest, BesideAReferenceOnlyNewerDraftsLook) {
  constexpr std::string_view kRest =
      R"("$ref":"#/definitions/a","maximum":1,"definitions":{"a":true}})";
  EXPECT_FALSE(Fits("{" + std::string(kRest), "2"));
  EXPECT_TRUE(
      Fits(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + std::string(kRest), "2"));
}

TEST(JsonSchemaTest, EndlessSchemasEnd) {
  EXPECT_FALSE(Fits(R"({"$ref":"#"})", "1"));
  EXPECT_FALSE(Fits(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", "1"));
  std::string bushy = R"({"$defs":{"a0":{"type":"integer"})";
  for (int i = 1; i < 40; ++i) {
    const std::string before = std::to_string(i - 1);
    bushy += ",\"a" + std::to_string(i) + R"(":{"allOf":[{"$ref":"#/$defs/a)" + before +
             R"("},{"$ref":"#/$defs/a)" + before + R"("}]})";
  }
  bushy += R"(},"$ref":"#/$defs/a39"})";
  EXPECT_EQ(Check(bushy, "1"),
            (Errors{{"", "this is too complex to be checked; make it smaller"}}));
}

TEST(JsonSchemaTest, WhatIsNoJsonDoesNotFit) {
  EXPECT_FALSE(Fits("true", "{"));
  EXPECT_FALSE(Fits("true", ""));
  EXPECT_FALSE(Fits("true", std::string(200, '[') + std::string(200, ']')));
}

TEST(JsonSchemaTest, WhatIsNoSchemaIsRefused) {
  for (const std::string_view schema :
       {"", "1", "[]", R"({"type":"text"})", R"({"type":5})", R"({"properties":[]})",
        R"({"required":"a"})", R"({"anyOf":{}})", R"({"minimum":"1"})", R"({"multipleOf":0})",
        R"({"enum":1})", R"({"items":5})", R"({"uniqueItems":1})", R"({"pattern":1})"}) {
    EXPECT_EQ(RefusalOf(schema), Code::kInvalid) << schema;
  }
}

TEST(JsonSchemaTest, ManyErrorsAreCut) {
  std::string many = "[0";
  for (int i = 0; i < 100; ++i) many += ",0";
  EXPECT_EQ(Check(R"({"items":{"type":"string"}})", many + "]").size(), JsonSchema::kMaxErrors);
}

}  // namespace
}  // namespace stet
