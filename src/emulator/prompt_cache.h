// PromptCache: a model server's cache of prompts, simulated: what a request would be read from it,
// and what it would leave there. doc/format/emulator.md says by which rules.
//
// Time is the machine's, moved forward by the test. Safe from any thread. Bounded: the oldest
// prompts are forgotten beyond kMaxPrompts, and what has expired beyond kMaxEntries.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "emulator/prompt.h"
#include "emulator/script.h"

namespace stet::emulator {

class PromptCache {
 public:
  static constexpr std::size_t kMaxPrompts = 256;
  static constexpr std::size_t kMaxEntries = 100'000;

  /// The input, divided into what is read from the cache, written to it, and neither. With `keep`
  /// the prompt is there from now on.
  Usage Charge(Dialect dialect, const Prompt& prompt, const CacheScript& rules, bool keep);

  void MoveClock(Millis forward);
  void Clear();

 private:
  struct Kept {
    std::string scope;
    std::vector<std::uint32_t> tokens;
    Millis used = 0;
  };

  Usage TakeMarked(const Prompt& prompt, const CacheScript& rules, bool keep);
  Usage TakePrefix(Dialect dialect, const Prompt& prompt, const CacheScript& rules, bool keep);
  [[nodiscard]] Millis Now() const;

  std::mutex mutex_;
  Millis moved_ = 0;
  std::unordered_map<std::uint64_t, Millis> entries_;  // By the hash of a prefix: when last used.
  std::deque<Kept> prompts_;                           // In the order they came.
};

}  // namespace stet::emulator
