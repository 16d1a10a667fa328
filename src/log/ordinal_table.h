// OrdinalTable: finds positions in a vector by a 64-bit hash. Open addressing, at most half full, 8
// bytes an item; the hashes stay with the items. Built when first asked, then kept up. Owned by an
// Index; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stet::log {

class OrdinalTable {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  /// `hash_of(i)` is the hash of item i; `count` items exist.
  template <class HashOf>
  void Build(std::size_t count, HashOf hash_of) {
    std::size_t size = kFirstSize;
    while (size < count * 2 + 2) size *= 2;
    slots_.assign(size, kAbsent);
    used_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) Place(hash_of(i), i);
  }

  template <class HashOf>
  void Insert(std::uint32_t item, HashOf hash_of) {
    if ((used_ + 1) * 2 > slots_.size()) {
      std::vector<std::uint32_t> old(slots_.size() * 2, kAbsent);
      old.swap(slots_);
      used_ = 0;
      for (const std::uint32_t i : old) {
        if (i != kAbsent) Place(hash_of(i), i);
      }
    }
    Place(hash_of(item), item);
  }

  /// The first item placed under this hash.
  template <class HashOf>
  [[nodiscard]] std::uint32_t Find(std::uint64_t hash, HashOf hash_of) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      const std::uint32_t item = slots_[slot];
      if (item == kAbsent || hash_of(item) == hash) return item;
    }
  }

  [[nodiscard]] bool built() const { return !slots_.empty(); }
  void Clear() { slots_.clear(); }

 private:
  static constexpr std::size_t kFirstSize = 64;

  void Place(std::uint64_t hash, std::uint32_t item) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != kAbsent) slot = (slot + 1) & mask;
    slots_[slot] = item;
    ++used_;
  }

  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace stet::log
