#include "provider/dialect.h"

namespace stet::provider {

Result<WireRequest> EncodeRequest(const Model& model, const Request& request) {
  switch (model.dialect) {
    case Dialect::kAnthropicMessages: return anthropic_messages::Encode(model, request);
    case Dialect::kOpenAiCompletions: return openai_completions::Encode(model, request);
    case Dialect::kOpenAiResponses: return openai_responses::Encode(model, request);
    case Dialect::kGoogleGenerativeAi: return google_generative_ai::Encode(model, request);
    case Dialect::kOffline: break;
  }
  return Fail(Code::kUnsupported, "the offline model has no wire");
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
