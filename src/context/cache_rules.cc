#include "context/cache_rules.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace stet::context {
namespace {

using provider::Dialect;

// The first that the model's name contains.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 11> kAnthropicMinimums = {{
    {"opus-4-5", 4096},
    {"opus-4-6", 4096},
    {"opus-4-7", 2048},
    {"haiku-4-5", 4096},
    {"haiku-3", 2048},
    {"3-haiku", 2048},
    {"3-5-haiku", 2048},
    {"opus-5", 512},
    {"fable-5", 512},
    {"mythos-5", 512},
    {"", 1024},
}};

std::int64_t AnthropicMinimum(std::string_view id) {
  for (const auto& [name, minimum] : kAnthropicMinimums) {
    if (id.find(name) != std::string_view::npos) return minimum;
  }
  return 0;
}

/// The number of at most two digits that `text` begins with; 0 when there is none.
int NumberAt(std::string_view text) {
  int number = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(text.size(), 2); ++i) {
    if (text[i] < '0' || text[i] > '9') break;
    number = (number * 10) + (text[i] - '0');
  }
  return number;
}

/// "gpt-5.6-sol" is 506, "gpt-6-luna" 600; 0 for other names.
int GptVersion(std::string_view id) {
  constexpr std::string_view kFamily = "gpt-";
  if (id.starts_with("openai/")) id.remove_prefix(id.find('/') + 1);
  if (!id.starts_with(kFamily)) return 0;
  id.remove_prefix(kFamily.size());
  const std::size_t dot = std::min(id.find('.'), id.size());
  return (NumberAt(id.substr(0, dot)) * 100) + NumberAt(id.substr(std::min(dot + 1, id.size())));
}

CacheRules OpenAiRules(const provider::Model& model) {
  constexpr int kWholeSince = 506;
  if (GptVersion(model.id) >= kWholeSince) {
    return {.kind = CacheRules::Kind::kWhole, .lifetime = std::chrono::minutes(30)};
  }
  return {.kind = CacheRules::Kind::kPrefix, .step = 128};
}

}  // namespace

CacheRules RulesFor(const provider::Model& model) {
  using Kind = CacheRules::Kind;
  switch (model.dialect) {
    case Dialect::kAnthropicMessages:
      return {.kind = Kind::kMarks, .minimum = AnthropicMinimum(model.id)};
    case Dialect::kOpenAiCompletions:
    case Dialect::kOpenAiResponses: return OpenAiRules(model);
    case Dialect::kGoogleGenerativeAi: {
      const bool old = model.id.find("2.5") != std::string::npos;
      return {.kind = Kind::kPrefix, .minimum = old ? 2048 : 4096};
    }
    case Dialect::kOffline: break;
  }
  return {};
}

}  // namespace stet::context
