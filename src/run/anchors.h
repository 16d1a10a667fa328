// Anchors: the files that a run relies on, each with the hash and the lines last known. Pure;
// folded from events. The kMaxAnchors used last are kept.
//
// Reading a file anchors it; our own writes anchor what they wrote; `anchor` events add to it. What
// others write changes nothing: the anchor is then found stale by its hash.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/run_facts.h"
#include "protocol/work.h"

namespace stet::run {

struct SourceAnchor {
  std::string path;
  std::string hash;  // SHA-256 of the file.
  /// Lines known, 1-based, both ends included; in order, apart from each other.
  std::vector<std::pair<std::int64_t, std::int64_t>> lines;
  bool whole = false;     // All of it was known.
  std::uint64_t seq = 0;  // When it was used last.
};

class Anchors {
 public:
  static constexpr std::size_t kMaxAnchors = 200;
  static constexpr std::size_t kMaxRanges = 64;  // Of one file; later ones are left out.

  /// Any file fact.
  void Fold(const protocol::FileFact& fact, std::uint64_t seq);
  void Fold(const protocol::Anchor& anchor, std::uint64_t seq);

  /// The least recently used first.
  [[nodiscard]] std::vector<SourceAnchor> All() const;
  /// Null when there is none.
  [[nodiscard]] const SourceAnchor* Find(const std::string& path) const;

 private:
  void Keep(SourceAnchor anchor);

  std::unordered_map<std::string, SourceAnchor> by_path_;
};

}  // namespace stet::run
