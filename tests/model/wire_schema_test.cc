// Everything we send fits the official types of its dialect: requests with every feature on and
// off, over real sockets, to an emulator that refuses what does not fit.
#include <array>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "tests/model/conversation_fixture.h"

namespace stet::test {
namespace {

/// What a request or its model may have; a set of them is a mask.
enum Feature : unsigned {
  kSystem,
  kTools,
  kToolChoice,
  kImages,
  kReasoning,   // In earlier turns.
  kOtherModel,  // Wrote the earlier turns.
  kCalls,
  kBrokenCall,
  kFailedResult,
  kEmptyResult,
  kOutput,
  kEffort,
  kMaxTokens,
  kStops,
  kCache,
  kUser,
  kBudget,  // How the model is told to think.
  kNoThinking,
  kServerQuirks,
  kFeatures,
};

constexpr unsigned kAll = (1U << kFeatures) - 1;

constexpr int kRandomMasks = 60;

/// Nothing, everything, each one alone, everything but one, and any.
std::vector<unsigned> Masks() {
  std::vector<unsigned> masks = {0, kAll};
  for (unsigned i = 0; i < kFeatures; ++i) {
    masks.push_back(1U << i);
    masks.push_back(kAll ^ (1U << i));
  }
  Random random(3);
  for (int i = 0; i < kRandomMasks; ++i)
    masks.push_back(static_cast<unsigned>(random.Below(kAll + 1)));
  return masks;
}

class Generator {
 public:
  /// `reply` has all kinds of blocks.
  Generator(unsigned mask, provider::Model model, const protocol::Blocks& reply)
      : mask_(mask), random_(mask), model_(std::move(model)), reply_(reply) {}

  provider::Model Model() {
    provider::Model model = model_;
    if (Has(kBudget)) model.thinking = provider::Thinking::kBudget;
    if (Has(kNoThinking)) model.thinking = provider::Thinking::kNone;
    constexpr std::array<const char*, 3> kKnown = {"", "low medium high",
                                                   "none minimal low medium high xhigh max"};
    model.efforts = kKnown.at(random_.Below(kKnown.size()));
    // Not those that leave the official wire: reasoning that is echoed, efforts as an object, tools
    // without `strict`.
    if (Has(kServerQuirks)) {
      provider::Quirks& quirks = model.quirks;
      for (bool* quirk : {&quirks.max_tokens_name, &quirks.no_stream_options, &quirks.no_cache_key,
                          &quirks.no_tool_choice, &quirks.no_parallel_flag, &quirks.no_metadata,
                          &quirks.system_role, &quirks.no_json_schema, &quirks.no_tools})
        *quirk = random_.Below(2) == 0;
    }
    return model;
  }

  provider::Request Request() {
    provider::Request request;
    request.read_blob = [](const std::string& blob) -> Result<std::string> { return blob; };
    if (Has(kSystem)) request.system = {"Be brief.", "", "Say \"ä\" \x01 and 👍."};
    if (Has(kTools)) AddTools(request);
    if (Has(kOutput))
      request.output = provider::OutputSchema{
          .name = "answer",
          .schema = Raw{
              R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})"}};
    constexpr std::array<const char*, 7> kEfforts = {"none", "minimal", "low", "medium",
                                                     "high", "xhigh",   "max"};
    if (Has(kEffort)) request.effort = kEfforts.at(random_.Below(kEfforts.size()));
    if (Has(kMaxTokens)) request.max_tokens = static_cast<std::int64_t>(1 + random_.Below(100'000));
    if (Has(kStops)) request.stop_sequences = {"END", "\n\n"};
    request.cache = Has(kCache);
    if (Has(kCache)) request.cache_key = "ses_1";
    if (Has(kUser)) request.user = "user-1";
    const std::size_t turns = mask_ == 0 ? 0 : 1 + random_.Below(3);
    for (std::size_t i = 0; i < turns; ++i) AddTurn(request, i);
    AddUser(request);
    return request;
  }

 private:
  [[nodiscard]] bool Has(Feature feature) const { return (mask_ >> feature & 1U) != 0; }

  static protocol::TextBlock Text(std::string text) {
    protocol::TextBlock block;
    block.text = std::move(text);
    return block;
  }
  static protocol::ImageBlock Image() {
    protocol::ImageBlock image;
    image.media_type = "image/png";
    image.blob = std::string("\x89PNG\0", 5);
    return image;
  }

  void AddTools(provider::Request& request) {
    request.tools = {
        {.name = "read",
         .description = "Reads a file.",
         .schema =
             Raw{R"({"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"array","items":{"type":"integer"}}},"required":["path"]})"}},
        {.name = "list", .description = ""}};
    if (!Has(kToolChoice)) return;
    request.tool_choice.kind = static_cast<provider::ToolChoice::Kind>(random_.Below(4));
    request.tool_choice.name = "read";
  }

  void AddUser(provider::Request& request) {
    provider::UserInput input;
    input.blocks.emplace_back(Text("Go on, \"ä\"."));
    if (Has(kImages)) input.blocks.emplace_back(Image());
    request.entries.emplace_back(std::move(input));
  }

  void AddTurn(provider::Request& request, std::size_t number) {
    AddUser(request);
    provider::AssistantTurn turn;
    turn.model = Has(kOtherModel) ? "other/model" : model_.FullName();
    std::vector<std::string> calls;
    for (protocol::Block block : reply_) {
      auto* call = std::get_if<protocol::ToolCallBlock>(&block);
      const bool text = std::holds_alternative<protocol::TextBlock>(block);
      if (call == nullptr ? !text && !Has(kReasoning) : !Has(kCalls)) continue;
      if (call != nullptr) {
        call->tool_call_id += fmt::format("_{}", number);
        if (Has(kBrokenCall)) call->args = Raw{R"("{\"path\": \"a")"};
        calls.push_back(call->tool_call_id);
      }
      turn.blocks.push_back(std::move(block));
    }
    request.entries.emplace_back(std::move(turn));
    for (const std::string& id : calls) AddResult(request, id);
  }

  void AddResult(provider::Request& request, const std::string& id) {
    provider::ToolResult result;
    result.tool_call_id = id;
    result.is_error = Has(kFailedResult);
    if (!Has(kEmptyResult)) result.content.emplace_back(Text("It said \"ä\"."));
    if (Has(kImages)) result.content.emplace_back(Image());
    request.entries.emplace_back(std::move(result));
  }

  unsigned mask_;
  Random random_;
  provider::Model model_;
  const protocol::Blocks& reply_;
};

class WireSchemaTest : public ConversationTest {
 protected:
  void SetUp() override {
    const std::string folder = SourceDir() + "/build/wire/schemas";
    if (!Exists(folder)) GTEST_SKIP() << "made by scripts/wire_schemas: " << folder;
    auto started =
        emulator::Emulator::Start(Script(), {.port = 0, .record = "", .schemas = folder});
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    const provider::CallResult call = AskAs(OfficialTalker(), Question());
    reply_ = call.reply.content.blocks;
    ASSERT_GE(reply_.size(), 4U);
    ASSERT_TRUE(emulator_->SetScript(
        R"({"strict":true,"replies":[{"times":0,"blocks":[{"text":"ok"}]}]})"));
  }

  /// What the official types do not know is what other servers added.
  [[nodiscard]] provider::Model OfficialTalker() const {
    provider::Model model = Talker();
    model.quirks = {};
    return model;
  }

  protocol::Blocks reply_;
};

TEST_P(WireSchemaTest, EveryRequestFitsTheOfficialTypes) {
  const std::vector<unsigned> masks = Masks();
  for (const unsigned mask : masks) {
    Generator generator(mask, OfficialTalker(), reply_);
    provider::HttpProvider provider = ProviderFor(generator.Model());
    const provider::CallResult call = Ask(provider, generator.Request(), sink_);
    EXPECT_EQ(TextOf(call), "ok") << fmt::format("{:b}: ", mask) << call.reply.failure->message;
  }
  const std::vector<emulator::RequestRecord> requests = emulator_->Requests();
  EXPECT_EQ(requests.size(), masks.size());
  for (const emulator::RequestRecord& record : requests)
    EXPECT_FALSE(record.schema_errors) << record.body.text;
}

TEST_P(WireSchemaTest, WhatDoesNotFitIsSeen) {
  provider::Model model = OfficialTalker();
  provider::HttpProvider provider = ProviderFor(model);
  provider::Request request = Question();
  Result<provider::WireRequest> wire = provider.Encode(request);
  ASSERT_TRUE(wire);
  wire->body.insert(1, R"("no_such_member":1,)");
  const provider::CallResult call =
      loop_.RunUntilDone(provider.Stream(request, *wire, sink_, CancelToken()));
  EXPECT_EQ(KindOf(call), "bad_request");
  EXPECT_NE(call.reply.failure->message.find("no_such_member"), std::string::npos);
}

TEST_P(WireSchemaTest, TheSameRequestIsTheSameBytes) {
  for (const unsigned mask : {0U, kAll, kAll ^ (1U << kOtherModel)}) {
    const auto encode = [&] {
      Generator generator(mask, OfficialTalker(), reply_);
      const provider::Model model = generator.Model();
      const Result<provider::WireRequest> wire = EncodeRequest(model, generator.Request());
      EXPECT_TRUE(wire);
      return wire.value_or(provider::WireRequest());
    };
    const provider::WireRequest first = encode();
    for (int i = 0; i < 1000; ++i) {
      const provider::WireRequest again = encode();
      ASSERT_EQ(again.body, first.body);
      ASSERT_EQ(again.url, first.url);
      ASSERT_EQ(again.headers, first.headers);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, WireSchemaTest, testing::ValuesIn(kDialects),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
