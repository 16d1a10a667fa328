#include "provider/dialect.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

Request WithImage() {
  Request request;
  protocol::ImageBlock image;
  image.media_type = "image/png";
  image.blob = "b";
  UserInput input;
  input.blocks.emplace_back(image);
  request.entries.emplace_back(std::move(input));
  request.read_blob = [](const std::string&) -> Result<std::string> { return "PNG"; };
  return request;
}

TEST(DialectTest, AModelThatSeesNothingIsToldThatThereWasAnImage) {
  for (const Dialect dialect : {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                                Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi}) {
    Model model{.id = "m", .dialect = dialect, .max_output = 10, .images = true};
    const std::string seen = EncodeRequest(model, WithImage())->body;
    EXPECT_NE(seen.find("UE5H"), std::string::npos) << DialectName(dialect);
    model.images = false;
    const std::string blind = EncodeRequest(model, WithImage())->body;
    EXPECT_EQ(blind.find("UE5H"), std::string::npos) << DialectName(dialect);
    EXPECT_NE(blind.find("cannot see"), std::string::npos) << DialectName(dialect);
  }
}

TEST(DialectTest, AnImageThatCanNoLongerBeReadIsSaidInWordsAndTheOthersAreShown) {
  for (const Dialect dialect : {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                                Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi}) {
    Request request = WithImage();
    request.entries.push_back(request.entries[0]);
    std::get<protocol::ImageBlock>(std::get<UserInput>(request.entries[1]).blocks[0]).blob = "gone";
    request.read_blob = [](const std::string& blob) -> Result<std::string> {
      if (blob == "gone") return Fail(Code::kNotFound, "gone");
      return "PNG";
    };
    const Model model{.id = "m", .dialect = dialect, .max_output = 10, .images = true};
    const Result<WireRequest> wire = EncodeRequest(model, request);
    ASSERT_TRUE(wire) << wire.error().Text();
    EXPECT_NE(wire->body.find("UE5H"), std::string::npos) << DialectName(dialect);
    EXPECT_NE(wire->body.find("can no longer be read"), std::string::npos) << DialectName(dialect);
  }
}

TEST(DialectTest, EveryDialectHasItsName) {
  EXPECT_EQ(DialectFrom("openai-responses"), Dialect::kOpenAiResponses);
  EXPECT_EQ(DialectFrom("esperanto"), std::nullopt);
}

}  // namespace
}  // namespace stet::provider
