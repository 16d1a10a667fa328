#include "provider/replay.h"

#include <gtest/gtest.h>

namespace stet::provider::replay_test {
namespace {

using protocol::Block;
using protocol::Blocks;
using protocol::RedactedThinkingBlock;
using protocol::TextBlock;
using protocol::ThinkingBlock;
using protocol::ToolCallBlock;

const std::string kDialect = "openai-responses";

Model TestModel() { return {.provider = "acme", .id = "m", .dialect = Dialect::kOpenAiResponses}; }

ToolCallBlock Call(const std::string& id, const protocol::OptionalText& native) {
  return {.tool_call_id = id,
          .native_id = native,
          .tool_name = "tool_of_" + id,
          .args = Raw{"{}"},
          .signature = "S"};
}

Blocks Mixed() {
  return {ThinkingBlock{.text = "a", .signature = "S", .dialect = kDialect},
          RedactedThinkingBlock{.data = Raw{"1"}, .dialect = kDialect},
          TextBlock{.text = " \r\n\t"},
          TextBlock{.text = "b", .visibility = "user", .signature = "S"},
          protocol::ImageBlock{.media_type = "image/png", .blob = "x"},
          Raw{R"({"type":"new"})"},
          Call("e_1", "n_1")};
}

Blocks Replayed(const Model& model, const AssistantTurn& turn) {
  const ReplayBlocks blocks(model, turn);
  Blocks out;
  std::ranges::copy(blocks.all(), std::back_inserter(out));
  return out;
}

TEST(Replay, TheSameModelSeesItsReasoningAndSignatures) {
  EXPECT_EQ(Replayed(TestModel(), {.blocks = Mixed(), .model = "acme/m"}),
            (Blocks{Mixed()[0], Mixed()[1], Mixed()[3], Call("e_1", "n_1")}));
}

TEST(Replay, AnotherModelSeesTextAndCallsAlone) {
  ToolCallBlock call = Call("e_1", std::nullopt);
  call.signature.reset();
  EXPECT_EQ(Replayed(TestModel(), {.blocks = Mixed(), .model = "acme/other"}),
            (Blocks{TextBlock{.text = "b"}, call}));
}

TEST(Replay, ReasoningOfAnotherDialectIsGone) {
  Model model = TestModel();
  model.dialect = Dialect::kOpenAiCompletions;
  EXPECT_EQ(Replayed(model, {.blocks = Mixed(), .model = "acme/m"}),
            (Blocks{Mixed()[3], Call("e_1", "n_1")}));
}

TEST(Replay, ReasoningThatNothingFollowsIsGone) {
  const ThinkingBlock thinking{.text = "a", .dialect = kDialect};
  EXPECT_EQ(Replayed(TestModel(), {.blocks = {TextBlock{.text = "t"}, thinking, thinking,
                                              TextBlock{.text = " "}},
                                   .model = "acme/m"}),
            (Blocks{TextBlock{.text = "t"}}));
  EXPECT_EQ(Replayed(TestModel(), {.blocks = {thinking}, .model = "acme/m"}), Blocks{});
}

Request CallsBy(const std::vector<std::pair<std::string, ToolCallBlock>>& calls) {
  Request request;
  for (const auto& [model, call] : calls)
    request.entries.emplace_back(AssistantTurn{.blocks = {call}, .model = model});
  return request;
}

TEST(Replay, AModelsOwnIdIsUsedOnce) {
  const Request request = CallsBy({{"acme/m", Call("e_1", "call_0")},
                                   {"acme/m", Call("e_2", "call_0")},
                                   {"x/y", Call("e_3", "call_9")}});
  const WireIds ids(TestModel(), request);
  EXPECT_EQ(ids.IdOf("e_1"), "call_0");
  EXPECT_EQ(ids.IdOf("e_2"), "e_2");
  EXPECT_EQ(ids.IdOf("e_3"), "e_3");
  EXPECT_EQ(ids.IdOf("unknown"), "unknown");
  EXPECT_EQ(ids.ToolOf("e_2"), "tool_of_e_2");
  EXPECT_EQ(ids.ToolOf("unknown"), "");
}

TEST(Replay, AnIdThatNotEveryServerTakesIsNotUsed) {
  for (const std::string& odd :
       {std::string("a b"), std::string(), std::string(65, 'a'), std::string("é")}) {
    const Request request = CallsBy({{"acme/m", Call("e_1", odd)}});
    EXPECT_EQ(WireIds(TestModel(), request).IdOf("e_1"), "e_1") << odd;
  }
  const Request request = CallsBy({{"acme/m", Call("e_1", std::string(64, 'a'))}});
  EXPECT_EQ(WireIds(TestModel(), request).IdOf("e_1"), std::string(64, 'a'));
}

TEST(Replay, NoTwoCallsShareAWireId) {
  const Request request =
      CallsBy({{"acme/m", Call("e_1", std::nullopt)}, {"acme/m", Call("e_2", "e_1")}});
  const WireIds ids(TestModel(), request);
  EXPECT_EQ(ids.IdOf("e_1"), "e_1");
  EXPECT_EQ(ids.IdOf("e_2"), "e_2");
}

TEST(Replay, LaterCallsDoNotRenameEarlierOnes) {
  std::vector<std::pair<std::string, ToolCallBlock>> calls;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "e_" + std::to_string(i);
    calls.emplace_back(i % 3 == 0 ? "x/y" : "acme/m", Call(id, "call_" + std::to_string(i % 4)));
    const Request request = CallsBy(calls);
    const WireIds ids(TestModel(), request);
    for (std::size_t k = 0; k < names.size(); ++k)
      ASSERT_EQ(ids.IdOf("e_" + std::to_string(k)), names[k]);
    names.emplace_back(ids.IdOf(id));
  }
}

TEST(Replay, SectionsAreJoinedByBlankLines) {
  Request request;
  EXPECT_EQ(JoinedSystem(request), "");
  request.system = {"", "a", "", "b\n"};
  EXPECT_EQ(JoinedSystem(request), "a\n\nb\n");
}

TEST(Replay, ANameThatIsNoToolsIsSpelledSoThatServersTakeIt) {
  const Model model = TestModel();
  for (const auto& [said, sent] : {std::pair("functions.Read", "functions_Read"),
                                   std::pair("Bash<|channel|>", "Bash__channel__"),
                                   std::pair("", "unnamed"), std::pair("Read", "Read")}) {
    Request request;
    ToolCallBlock call = Call("e_1", std::nullopt);
    call.tool_name = said;
    request.entries.emplace_back(AssistantTurn{.blocks = {call}, .model = "acme/m"});
    const Blocks blocks = Replayed(model, std::get<AssistantTurn>(request.entries[0]));
    EXPECT_EQ(std::get<ToolCallBlock>(blocks[0]).tool_name, sent);
    EXPECT_EQ(WireIds(model, request).ToolOf("e_1"), sent);
  }
}

TEST(Replay, AnImageThatNoModelTakesIsAnError) {
  Request request;
  request.read_blob = [](const std::string&) -> Result<std::string> { return "bytes"; };
  EXPECT_EQ(ImageBase64(request, {.media_type = "image/tiff", .blob = "b"}).error().code,
            Code::kInvalid);
}

TEST(Replay, AnImageIsItsBlobInBase64) {
  Request request;
  const protocol::ImageBlock image{.media_type = "image/png", .blob = "name"};
  EXPECT_EQ(ImageBase64(request, image).error().code, Code::kInvalid);
  request.read_blob = [](const std::string& blob) -> Result<std::string> {
    return "<" + blob + ">";
  };
  EXPECT_EQ(*ImageBase64(request, image), "PG5hbWU+");
  request.read_blob = [](const std::string&) -> Result<std::string> {
    return Fail(Code::kIo, "disk");
  };
  EXPECT_EQ(ImageBase64(request, image).error().code, Code::kIo);
}

TEST(Replay, MalformedArgumentsGoBackAsTheyWere) {
  ToolCallBlock call{.args = Raw{R"({"a": 1})"}};
  EXPECT_EQ(ArgsObject(call), R"({"a": 1})");
  EXPECT_EQ(ArgsText(call), R"({"a": 1})");
  call.args.text = R"("{\"a")";
  EXPECT_EQ(ArgsObject(call), R"({"malformed":"{\"a"})");
  EXPECT_EQ(ArgsText(call), "{\"a");
  call.args.text = "[1]";
  EXPECT_EQ(ArgsObject(call), R"({"malformed":"[1]"})");
  EXPECT_EQ(ArgsText(call), "[1]");
}

}  // namespace
}  // namespace stet::provider::replay_test
