#include "provider/openai/wire.h"

#include <algorithm>

#include "base/utf8.h"
#include "provider/replay.h"

namespace stet::provider::openai {
namespace {

/// Far above any real count, far below what overflows when added.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 50;

std::int64_t Within(std::int64_t count, std::int64_t most) {
  return std::clamp<std::int64_t>(count, 0, most);
}

}  // namespace

Headers RequestHeaders(const Model& model) {
  Headers headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}};
  headers.insert(headers.end(), model.headers.begin(), model.headers.end());
  return headers;
}

std::int64_t MaxTokens(const Model& model, const Request& request) {
  return MaxOutput(model, request.max_tokens);
}

Result<std::string> DataUrl(const Request& request, const protocol::ImageBlock& image) {
  ASSIGN_OR_RETURN(const std::string base64, ImageBase64(request, image));
  return "data:" + image.media_type + ";base64," + base64;
}

std::string ResultText(const ToolResult& result) {
  return (result.is_error ? "Error: " : "") + protocol::PlainText(result.content);
}

bool HasImages(const protocol::Blocks& blocks) {
  return std::ranges::any_of(blocks, [](const protocol::Block& block) {
    return std::holds_alternative<protocol::ImageBlock>(block);
  });
}

void RefuseUnlessJson(std::string_view data, ReplyBuilder& builder) {
  constexpr std::size_t kMaxQuote = 200;
  if (data.find_first_not_of(" \t\r\n") == std::string_view::npos || CheckJson(data)) return;
  builder.Fail({.kind = FailureKind::kGarbled,
                .message = "the server sent an event that is not JSON: " +
                           std::string(data.substr(0, Utf8PrefixLength(data, kMaxQuote)))});
}

Failure BrokenOff() {
  return {.kind = FailureKind::kTruncated, .message = "the reply broke off before its end"};
}

std::string ArgumentsOf(const JsonView& arguments) {
  return arguments.is_object() ? std::string(arguments.text()) : arguments.StringOr("");
}

protocol::Usage UsageOf(const Tokens& tokens) {
  protocol::Usage usage;
  usage.input = Within(tokens.input, kMaxCount);
  usage.output = Within(tokens.output, kMaxCount);
  const std::int64_t reasoning = Within(tokens.reasoning.value_or(0), kMaxCount);
  if (tokens.total == usage.input + usage.output + reasoning) usage.output += reasoning;
  if (tokens.cache_read) {
    usage.cache_read = Within(*tokens.cache_read, usage.input);
    usage.input -= *usage.cache_read;
  }
  if (tokens.cache_write) {
    usage.cache_write = Within(*tokens.cache_write, usage.input);
    usage.input -= *usage.cache_write;
  }
  if (tokens.reasoning) usage.reasoning = std::min(reasoning, usage.output);
  return usage;
}

}  // namespace stet::provider::openai
