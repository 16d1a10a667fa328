#include "provider/dialect.h"

#include <algorithm>

#include "provider/replay.h"

namespace stet::provider {
namespace {

protocol::Blocks* BlocksOf(Entry& entry) {
  if (auto* input = std::get_if<UserInput>(&entry)) return &input->blocks;
  if (auto* result = std::get_if<ToolResult>(&entry)) return &result->content;
  return nullptr;
}

bool HasImages(const Request& request) {
  const auto has = [](const protocol::Blocks& blocks) {
    return std::ranges::any_of(blocks, [](const protocol::Block& block) {
      return std::holds_alternative<protocol::ImageBlock>(block);
    });
  };
  return std::ranges::any_of(request.entries, [&](const Entry& entry) {
    const auto* input = std::get_if<UserInput>(&entry);
    const auto* result = std::get_if<ToolResult>(&entry);
    return (input != nullptr && has(input->blocks)) || (result != nullptr && has(result->content));
  });
}

/// The request with `words` in the place of every image that is not `shown`.
template <class Shown>
Request WithWords(Request request, std::string_view words, Shown shown) {
  for (Entry& entry : request.entries) {
    protocol::Blocks* blocks = BlocksOf(entry);
    if (blocks == nullptr) continue;
    for (protocol::Block& block : *blocks) {
      const auto* image = std::get_if<protocol::ImageBlock>(&block);
      if (image == nullptr || shown(*image)) continue;
      protocol::TextBlock text;
      text.text = words;
      block = std::move(text);
    }
  }
  return request;
}

Result<WireRequest> EncodeIn(const Model& model, const Request& request) {
  switch (model.dialect) {
    case Dialect::kAnthropicMessages: return anthropic_messages::Encode(model, request);
    case Dialect::kOpenAiCompletions: return openai_completions::Encode(model, request);
    case Dialect::kOpenAiResponses: return openai_responses::Encode(model, request);
    case Dialect::kGoogleGenerativeAi: return google_generative_ai::Encode(model, request);
    case Dialect::kOffline: break;
  }
  return Fail(Code::kUnsupported, "the offline model has no wire");
}

}  // namespace

Result<WireRequest> EncodeRequest(const Model& model, const Request& request) {
  const bool images = HasImages(request);
  if (images && !model.images)
    return EncodeIn(model, WithWords(request, "[an image, which this model cannot see]",
                                     [](const protocol::ImageBlock&) { return false; }));
  Result<WireRequest> wire = EncodeIn(model, request);
  if (wire || !images) return wire;
  // Only now is it worth reading them one by one.
  return EncodeIn(model, WithWords(request, "[an image, which can no longer be read]",
                                   [&](const protocol::ImageBlock& image) {
                                     return ImageBase64(request, image).has_value();
                                   }));
}

std::pair<std::string, std::string> KeyHeader(Dialect dialect, std::string_view key) {
  switch (dialect) {
    case Dialect::kAnthropicMessages: return {"x-api-key", std::string(key)};
    case Dialect::kGoogleGenerativeAi: return {"x-goog-api-key", std::string(key)};
    default: return {"authorization", "Bearer " + std::string(key)};
  }
}

std::unique_ptr<Decoder> MakeDecoder(const Model& model, ReplyBuilder& builder) {
  switch (model.dialect) {
    case Dialect::kAnthropicMessages: return anthropic_messages::MakeDecoder(builder);
    case Dialect::kOpenAiCompletions: return openai_completions::MakeDecoder(builder);
    case Dialect::kOpenAiResponses: return openai_responses::MakeDecoder(builder);
    case Dialect::kGoogleGenerativeAi: return google_generative_ai::MakeDecoder(builder);
    case Dialect::kOffline: break;
  }
  return nullptr;
}

}  // namespace stet::provider
