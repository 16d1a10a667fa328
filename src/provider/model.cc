#include "provider/model.h"

#include <algorithm>
#include <array>

namespace stet::provider {
namespace {

struct Name {
  Dialect dialect;
  std::string_view text;
};

constexpr std::array kNames = {
    Name{Dialect::kAnthropicMessages, "anthropic-messages"},
    Name{Dialect::kOpenAiCompletions, "openai-completions"},
    Name{Dialect::kOpenAiResponses, "openai-responses"},
    Name{Dialect::kGoogleGenerativeAi, "google-generative-ai"},
    Name{Dialect::kOffline, "offline"},
};

}  // namespace

std::string_view DialectName(Dialect dialect) {
  return std::ranges::find(kNames, dialect, &Name::dialect)->text;
}

std::optional<Dialect> DialectFrom(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &Name::text);
  if (found == kNames.end()) return std::nullopt;
  return found->dialect;
}

}  // namespace stet::provider
