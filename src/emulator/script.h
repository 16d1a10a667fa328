// Script: what the emulator answers, as plain data; doc/format/emulator.md is the format.
//
// Parsing fails with kInvalid and a message that names the reply (from 1) and the member. A Script
// is a value; nothing here keeps state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "json/describe.h"

namespace stet::emulator {

enum class Dialect {
  kAnthropicMessages,
  kOpenAiCompletions,
  kOpenAiResponses,
  kGoogleGenerativeAi,
};
inline constexpr std::size_t kDialects = 4;

/// "anthropic-messages", ...
std::string_view DialectName(Dialect dialect);
std::optional<Dialect> DialectFrom(std::string_view name);

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Usage {
  // clang-format off
  STET_FIELDS(Usage,
    (std::int64_t, input),  // Neither read from the cache nor written to it.
    (std::int64_t, output),  // Includes reasoning.
    (std::int64_t, cache_read),
    (std::int64_t, cache_write),
    (std::int64_t, reasoning))
  // clang-format on

  /// All input, cached or not.
  [[nodiscard]] std::int64_t prompt() const { return input + cache_read + cache_write; }
};

struct TextBlock {
  std::string text;
};
struct ThinkingBlock {
  std::string text;
  std::string signature;
};
struct RedactedBlock {
  std::string data;
};
struct RefusalBlock {
  std::string text;
};
struct CallBlock {
  std::string name;
  std::string args = "{}";  // The text of the arguments; any text when the script says argsText.
  std::string id;           // Empty: the emulator makes one.
};
using Block = std::variant<TextBlock, ThinkingBlock, RedactedBlock, RefusalBlock, CallBlock>;

/// What must hold of a request; absent members always do.
struct When {
  std::optional<Dialect> dialect;
  std::optional<std::string> model;
  std::optional<std::int64_t> call;
  std::optional<std::string> contains;
  std::optional<bool> has_tool_result;
  std::optional<std::string> last_user;
};

struct Fault {
  enum class Kind {
    kStatus,
    kOverload,
    kReset,
    kClose,
    kHalfOpen,
    kStall,
    kDrip,
    kMalformed,
    kGiant,
    kErrorEvent,
    kNoEnd,
    kContentType,
    kJsonError200,
  };

  Kind kind = Kind::kStatus;
  std::size_t after_events = 0;
  std::optional<std::size_t> after_bytes;  // Instead of after_events.
  int status = 500;
  Headers headers;
  std::optional<std::string> body;
  std::string type;
  std::string code;
  std::string message;
  std::optional<std::int64_t> retry_after;  // Seconds.
  std::size_t bytes = std::size_t{1} << 20;
  int ms = 10;
  bool failed = false;
};

struct Reply {
  When when;
  std::int64_t times = 1;  // 0: always.
  std::vector<Block> blocks;
  std::string stop;  // Empty: by content.
  std::optional<Usage> usage;
  std::string model;  // Empty: that of the request.
  std::size_t delta = 16;
  std::size_t write = 0;  // 0: one event per write.
  int pause_ms = 0;
  int first_byte_ms = 0;
  Headers headers;
  std::optional<Fault> fault;
  std::vector<std::string> quirks;

  [[nodiscard]] bool HasQuirk(std::string_view name) const;
};

/// How the simulated cache of prompts works.
struct CacheScript {
  std::int64_t minimum = 1024;  // Tokens.
  std::int64_t ttl_ms = 300'000;
  bool whole = false;  // Only whole prompts are read again, as by OpenAI's newer models.
};

struct Script {
  std::vector<Reply> replies;
  bool strict = false;
  std::optional<std::int64_t> window;  // Tokens; larger requests are refused.
  std::optional<CacheScript> cache;    // Usage comes from the simulated cache.
};

Result<Script> ParseScript(std::string_view text);

}  // namespace stet::emulator
