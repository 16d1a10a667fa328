// ServerCache: what one model's server is taken to have in its cache, told from the requests that
// it answered and the tokens that it reported.
//
// Requests that extend each other are one branch; what a branch came to in tokens is known exactly
// where a request ended, and estimated by bytes in between. Bounded: the branch that rested longest
// is forgotten beyond kMaxBranches. A value; nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "context/cache_rules.h"
#include "context/prefix.h"
#include "protocol/content.h"

namespace stet::context {

class ServerCache {
 public:
  static constexpr std::size_t kMaxBranches = 8;

  /// What would be read from the cache.
  struct Hit {
    std::size_t parts = 0;  // Of the request, from its beginning.
    std::int64_t tokens = 0;
  };
  [[nodiscard]] Hit Read(const Print& print, const CacheRules& rules, Millis now) const;

  /// The request was sent at `at` and answered; `hit` is what Read said of it.
  void Write(const Print& print, const CacheRules& rules, const protocol::Usage& usage,
             const Hit& hit, Millis at);

 private:
  /// So many parts are so many tokens, as reported.
  struct Point {
    std::size_t parts;
    std::int64_t tokens;
  };
  /// The prompt of so many parts can be read until its time is over.
  struct Entry {
    std::size_t parts;
    Millis used;
  };
  struct Branch {
    std::vector<PrintPart> parts;
    std::vector<Point> points;  // By parts; tokens never fall.
    std::vector<Entry> entries;
    Millis used = 0;

    void Learn(Point point);
    /// Takes it only where nothing is known and nothing speaks against it.
    void Guess(Point point);
    void Touch(std::size_t parts_used, Millis at);
  };

  [[nodiscard]] std::int64_t TokensAt(const Branch& branch, std::size_t parts) const;
  [[nodiscard]] Hit ReadFrom(const Branch& branch, const Print& print, const CacheRules& rules,
                             Millis now) const;
  [[nodiscard]] std::int64_t Estimate(std::int64_t bytes) const;
  Branch& BranchFor(const Print& print);

  std::vector<Branch> branches_;
  // As last reported.
  std::int64_t reported_bytes_ = 4;
  std::int64_t reported_tokens_ = 1;
};

}  // namespace stet::context
