#include "provider/model.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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

constexpr std::array<std::string_view, 7> kEfforts = {"none", "minimal", "low", "medium",
                                                      "high", "xhigh",   "max"};

/// How strong an effort is; -1 when there is no such effort.
int Strength(std::string_view effort) {
  const auto* found = std::ranges::find(kEfforts, effort);
  return found == kEfforts.end() ? -1 : static_cast<int>(found - kEfforts.begin());
}

}  // namespace

std::string_view DialectName(Dialect dialect) {
  return std::ranges::find(kNames, dialect, &Name::dialect)->text;
}

std::optional<Dialect> DialectFrom(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &Name::text);
  if (found == kNames.end()) return std::nullopt;
  return found->dialect;
}

std::int64_t MaxOutput(const Model& model, const std::optional<std::int64_t>& wanted) {
  const std::int64_t most = wanted.value_or(model.max_output);
  return model.max_output_set ? std::min(most, model.max_output) : most;
}

std::string EffortFor(const Model& model, const std::optional<std::string>& wanted) {
  if (model.thinking == Thinking::kNone || !wanted) return "";
  if (model.efforts.empty()) return *wanted;
  const int aim = Strength(*wanted);
  std::string_view best;
  for (std::string_view rest = model.efforts; !rest.empty();) {
    const std::string_view effort = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), effort.size() + 1));
    // Of two that are as near, the stronger one.
    if (best.empty() || std::abs(Strength(effort) - aim) <= std::abs(Strength(best) - aim))
      best = effort;
  }
  return std::string(best);
}

bool IsEffort(std::string_view name) { return Strength(name) >= 0; }

}  // namespace stet::provider
