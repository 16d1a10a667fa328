// CacheRules: what a server reads from its cache instead of reading it anew, as far as is known.
//
// Anthropic: a request has at most four marks. Each mark writes an entry for the prompt up to it,
// if that is at least the model's minimum: 512 tokens (Opus 5, Fable 5 and Mythos 5 families), 1024
// (Sonnet, Opus up to 4.1, Opus 4.8), 2048 (Opus 4.7, Haiku 3), 4096 (Opus 4.5 and 4.6, Haiku 4.5).
// A request looks for entries at each of its marks and at up to 19 blocks before it, and reads the
// longest. An entry lives for five minutes after it was last used. Tools come before the system,
// that before the messages; a change of the thinking mode or of the tool choice leaves the first
// two cached. Not documented but seen: each named effort has a cache of its own.
//
// OpenAI: no marks. Before GPT-5.6 the longest prefix of an earlier prompt counts, from 1024 tokens
// on, in steps of 128, and lives for five to ten minutes of rest. From GPT-5.6 on only the whole of
// an earlier prompt counts, and lives for half an hour at least. Other servers of these dialects
// are taken to follow the older rule.
//
// Google: no marks; the longest prefix counts from 2048 tokens on (Gemini 2.5), or 4096. How long
// it lives is not documented: five minutes are assumed.
#pragma once

#include <chrono>
#include <cstdint>

#include "provider/model.h"

namespace stet::context {

struct CacheRules {
  enum class Kind {
    kNone,    // There is no cache.
    kMarks,   // The prompt up to a mark.
    kPrefix,  // Any prefix, in steps.
    kWhole,   // All of an earlier prompt.
  };
  Kind kind = Kind::kNone;
  std::int64_t minimum = 1024;  // Tokens.
  std::int64_t step = 1;        // Tokens.
  std::chrono::milliseconds lifetime = std::chrono::minutes(5);
};

/// How many blocks a mark looks at for an entry, its own among them.
inline constexpr std::size_t kLookBack = 20;

CacheRules RulesFor(const provider::Model& model);

}  // namespace stet::context
