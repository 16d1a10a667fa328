#include "emulator/prompt_cache.h"

#include <algorithm>

#include "base/hash.h"

namespace stet::emulator {
namespace {

constexpr std::size_t kBlocksSeen = 20;
constexpr std::int64_t kOpenAiStep = 128;

std::uint64_t Mixed(std::uint64_t hash, std::uint64_t next) {
  return (hash ^ next) * 0x9e3779b97f4a7c15ULL + (hash >> 29U);
}

/// The hash of the prompt up to the end of each block.
std::vector<std::uint64_t> PrefixHashes(const Prompt& prompt) {
  std::vector<std::uint64_t> hashes;
  std::uint64_t hash = FastHash(prompt.scope);
  std::size_t at = 0;
  for (const Prompt::Block& block : prompt.blocks) {
    for (; at < block.end; ++at) hash = Mixed(hash, prompt.tokens[at]);
    hashes.push_back(Mixed(hash, block.end));
  }
  return hashes;
}

}  // namespace

Millis PromptCache::Now() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             SystemClock().Steady().time_since_epoch())
             .count() +
         moved_;
}

void PromptCache::MoveClock(Millis forward) {
  const std::lock_guard lock(mutex_);
  moved_ += forward;
}

void PromptCache::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  prompts_.clear();
}

Usage PromptCache::Charge(Dialect dialect, const Prompt& prompt, const CacheScript& rules,
                          bool keep) {
  const std::lock_guard lock(mutex_);
  return dialect == Dialect::kAnthropicMessages ? TakeMarked(prompt, rules, keep)
                                                : TakePrefix(dialect, prompt, rules, keep);
}

Usage PromptCache::TakeMarked(const Prompt& prompt, const CacheScript& rules, bool keep) {
  const Millis now = Now();
  const std::vector<std::uint64_t> hashes = PrefixHashes(prompt);
  const auto large = [&](std::size_t block) {
    return static_cast<std::int64_t>(prompt.blocks[block].end) >= rules.minimum;
  };
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::vector<std::uint64_t> used;
  for (std::size_t mark = 0; mark < hashes.size(); ++mark) {
    if (!prompt.blocks[mark].mark) continue;
    for (std::size_t back = 0; back < kBlocksSeen && back <= mark; ++back) {
      const auto found = entries_.find(hashes[mark - back]);
      if (found == entries_.end() || now - found->second >= rules.ttl_ms || !large(mark - back))
        continue;
      read = std::max(read, static_cast<std::int64_t>(prompt.blocks[mark - back].end));
      used.push_back(found->first);
      break;
    }
    if (!large(mark)) continue;
    used.push_back(hashes[mark]);
    written = static_cast<std::int64_t>(prompt.blocks[mark].end);
  }
  if (keep) {
    if (entries_.size() > kMaxEntries)
      std::erase_if(entries_, [&](const auto& one) { return now - one.second >= rules.ttl_ms; });
    for (const std::uint64_t hash : used) entries_[hash] = now;
  }
  Usage usage;
  usage.cache_read = read;
  usage.cache_write = std::max<std::int64_t>(written - read, 0);
  usage.input = prompt.count() - usage.cache_read - usage.cache_write;
  return usage;
}

Usage PromptCache::TakePrefix(Dialect dialect, const Prompt& prompt, const CacheScript& rules,
                              bool keep) {
  const Millis now = Now();
  const std::int64_t step =
      rules.whole || dialect == Dialect::kGoogleGenerativeAi ? 1 : kOpenAiStep;
  std::int64_t read = 0;
  std::erase_if(prompts_, [&](const Kept& kept) { return now - kept.used >= rules.ttl_ms; });
  for (Kept& kept : prompts_) {
    if (kept.scope != prompt.scope) continue;
    const auto differ = std::ranges::mismatch(kept.tokens, prompt.tokens);
    const auto same = differ.in1 - kept.tokens.begin();
    const bool all = differ.in1 == kept.tokens.end();
    if (all && keep) kept.used = now;
    if (same >= rules.minimum && (all || !rules.whole))
      read = std::max(read, static_cast<std::int64_t>(same) / step * step);
  }
  if (keep) {
    prompts_.push_back({.scope = prompt.scope, .tokens = prompt.tokens, .used = now});
    if (prompts_.size() > kMaxPrompts) prompts_.pop_front();
  }
  Usage usage;
  usage.cache_read = read;
  usage.cache_write = rules.whole ? prompt.count() - read : 0;
  usage.input = prompt.count() - usage.cache_read - usage.cache_write;
  return usage;
}

}  // namespace stet::emulator
