// Model: everything there is to know about one model at one endpoint, as plain data. The catalogue
// and the configuration make these; the rest of provider/ only reads them. No key is ever in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/headers.h"

namespace stet::provider {

enum class Dialect {
  kAnthropicMessages,
  kOpenAiCompletions,
  kOpenAiResponses,
  kGoogleGenerativeAi,
  kOffline,  // No wire at all: the built-in model.
};

/// "anthropic-messages", ... as configuration and log spell it.
std::string_view DialectName(Dialect dialect);
std::optional<Dialect> DialectFrom(std::string_view name);

/// How a model is told to think.
enum class Thinking {
  kNone,      // It is not told anything.
  kBudget,    // A number of tokens.
  kAdaptive,  // It decides itself, guided by an effort.
  kEffort,    // A named effort.
};

/// Micro-units of money per million tokens. An absent price is unknown, which is not free.
struct Prices {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  friend bool operator==(const Prices&, const Prices&) = default;
};

/// Where a server differs from the dialect it speaks. The defaults are the dialect's own way.
struct Quirks {
  bool max_tokens_name = false;    // "max_tokens" instead of "max_completion_tokens".
  bool no_stream_options = false;  // Rejects stream_options; usage comes unasked or not at all.
  bool no_cache_key = false;       // Rejects prompt_cache_key.
  bool no_tool_choice = false;     // Ignores or rejects tool_choice.
  bool no_strict = false;          // Rejects `strict` in tools.
  bool no_parallel_flag = false;   // Rejects parallel_tool_calls.
  bool no_metadata = false;        // Rejects metadata.
  bool system_role = true;         // false: "developer" instead of "system" for the system prompt.
  bool echo_reasoning = false;     // reasoning_content must come back with its message.
  bool echo_reasoning_details = false;  // reasoning_details must (OpenRouter).
  bool effort_object = false;   // "reasoning": {"effort": ..} instead of "reasoning_effort".
  bool no_json_schema = false;  // Only {"type":"json_object"} as response_format.
  bool no_tools = false;        // Has no tool calls at all.
  friend bool operator==(const Quirks&, const Quirks&) = default;
};

using net::Clocks;
using net::Headers;

struct Model {
  std::string provider;  // "anthropic"
  std::string id;        // "claude-sonnet-4-5", as the server knows it.
  std::string name;      // For people.
  Dialect dialect = Dialect::kOffline;
  std::string base_url;       // Without a slash at the end: the dialect adds its path.
  std::string key_variable;   // The environment variable with the key; empty: none is needed.
  bool key_optional = false;  // A local server: the key is sent when there is one.
  Headers headers;            // Sent with every request, beside the dialect's own.
  std::int64_t context_window = 0;
  std::int64_t max_output = 0;
  bool max_output_set = false;  // By the user: no request asks for more.
  std::optional<Prices> prices;
  Thinking thinking = Thinking::kNone;
  std::string efforts;  // Those it knows, weakest first, joined by spaces; empty: unknown.
  bool images = false;
  bool known = false;  // In the catalogue; else the limits are stated defaults.
  Quirks quirks;
  Clocks clocks;

  /// "anthropic/claude-sonnet-4-5": what log and ledger call it.
  [[nodiscard]] std::string FullName() const { return provider + "/" + id; }
  friend bool operator==(const Model&, const Model&) = default;
};

/// The most that a reply of `model` may have, `wanted` or the model's own; 0: not known.
std::int64_t MaxOutput(const Model& model, const std::optional<std::int64_t>& wanted);

/// The effort to ask `model` for: `wanted` if it knows that one, else the nearest it knows. Empty
/// when it is not told how to think, or nothing is wanted.
std::string EffortFor(const Model& model, const std::optional<std::string>& wanted);

/// "none", "minimal", ...: weakest first.
bool IsEffort(std::string_view name);

}  // namespace stet::provider
