#include "provider/catalogue.h"

#include <set>

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

TEST(CatalogueTest, EveryModelIsWhollyDescribedAndNamedOnce) {
  std::set<std::string> names;
  for (const Model& model : BuiltinModels()) {
    EXPECT_TRUE(names.insert(model.FullName()).second) << model.FullName();
    EXPECT_TRUE(model.known);
    EXPECT_FALSE(model.name.empty());
    EXPECT_FALSE(model.base_url.ends_with('/'));
    EXPECT_GE(model.context_window, 8192);
    EXPECT_GT(model.max_output, 0);
    EXPECT_LE(model.max_output, model.context_window);
    ASSERT_TRUE(model.prices) << model.FullName();
    EXPECT_GE(model.prices->output, model.prices->input);
    EXPECT_EQ(FindModel(model.FullName()), model);
  }
  EXPECT_GT(names.size(), 50U);
}

TEST(CatalogueTest, EveryEffortOfTheCatalogueIsOne) {
  for (const Model& model : BuiltinModels()) {
    std::string_view rest = model.efforts;
    while (!rest.empty()) {
      const std::string_view effort = rest.substr(0, rest.find(' '));
      EXPECT_TRUE(IsEffort(effort)) << model.FullName() << ": " << effort;
      rest.remove_prefix(std::min(rest.size(), effort.size() + 1));
    }
  }
}

TEST(CatalogueTest, EveryNamedProviderIsThere) {
  for (const char* name : {"anthropic", "openai", "google", "openrouter", "deepseek", "groq",
                           "mistral", "xai", "ollama", "lmstudio", "llama.cpp", "vllm"})
    EXPECT_NE(FindProvider(name), nullptr) << name;
}

TEST(CatalogueTest, AnIdAloneIsEnoughWhenOneProviderHasIt) {
  EXPECT_EQ(FindModel("claude-sonnet-5-5")->FullName(), "anthropic/claude-sonnet-5-5");
}

TEST(CatalogueTest, AnUnknownIdOfAKnownProviderHasTheStatedDefaultsAndNoPrice) {
  const Model model = *FindModel("ollama/qwen3:14b");
  EXPECT_FALSE(model.known);
  EXPECT_EQ(model.id, "qwen3:14b");
  EXPECT_EQ(model.context_window, kDefaultWindow);
  EXPECT_EQ(model.max_output, kDefaultMaxOutput);
  EXPECT_EQ(model.prices, std::nullopt);
  EXPECT_TRUE(model.key_optional);
  EXPECT_EQ(model.clocks.first_byte, std::chrono::minutes(10));
}

TEST(CatalogueTest, AModelIdMayHaveASlashOfItsOwn) {
  EXPECT_EQ(FindModel("groq/openai/gpt-oss-120b")->id, "openai/gpt-oss-120b");
}

TEST(CatalogueTest, WhatNobodyHasIsAnErrorThatSaysWhatToWrite) {
  for (const char* name : {"", "/", "gpt-99", "nobody/gpt-99", "anthropic/"}) {
    const Result<Model> model = FindModel(name);
    ASSERT_FALSE(model) << name;
    EXPECT_EQ(model.error().code, Code::kNotFound);
    EXPECT_NE(model.error().message.find("stet models"), std::string::npos);
  }
}

TEST(CatalogueTest, AnEffortThatAModelDoesNotKnowBecomesTheNearestOne) {
  Model model{.thinking = Thinking::kEffort, .efforts = "low high max"};
  EXPECT_EQ(EffortFor(model, "minimal"), "low");
  EXPECT_EQ(EffortFor(model, "medium"), "high");
  EXPECT_EQ(EffortFor(model, "xhigh"), "max");
  EXPECT_EQ(EffortFor(model, "high"), "high");
  EXPECT_EQ(EffortFor(model, std::nullopt), "");
  model.efforts = "";
  EXPECT_EQ(EffortFor(model, "xhigh"), "xhigh");
  model.thinking = Thinking::kNone;
  EXPECT_EQ(EffortFor(model, "high"), "");
}

}  // namespace
}  // namespace stet::provider
