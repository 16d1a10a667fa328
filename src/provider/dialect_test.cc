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

TEST(DialectTest, ABlobThatCannotBeReadIsAnErrorAndNotAnEmptyImage) {
  Request request = WithImage();
  request.read_blob = [](const std::string&) -> Result<std::string> {
    return Fail(Code::kNotFound, "gone");
  };
  const Model model{.id = "m", .dialect = Dialect::kAnthropicMessages, .images = true};
  EXPECT_FALSE(EncodeRequest(model, request));
}

TEST(DialectTest, EveryDialectHasItsName) {
  EXPECT_EQ(DialectFrom("openai-responses"), Dialect::kOpenAiResponses);
  EXPECT_EQ(DialectFrom("esperanto"), std::nullopt);
}

}  // namespace
}  // namespace stet::provider
