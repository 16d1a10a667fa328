// Projection: what a client knows of one session's tree, folded from the events that it is told:
// the leaf, and the path to it. For showing; nothing is ever decided by it.
//
// The fold is the log's (doc/format/log.md), as far as the events at hand go: a path ends at the
// first event that is not known. Bounded: the oldest events are let go. Pure; belongs to one
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/event.h"

namespace stet::client {

class Projection {
 public:
  explicit Projection(std::size_t max_events) : max_events_(max_events) {}

  /// An event that is known already changes nothing.
  void Take(const protocol::Event& event);
  void Clear() { *this = Projection(max_events_); }

  /// An event of the tree; null when it is not known.
  [[nodiscard]] const protocol::Event* Find(std::string_view id) const;
  /// Absent: before the first event.
  [[nodiscard]] const std::optional<std::string>& leaf_id() const { return leaf_; }
  /// The last events of the path to the leaf, at most `count`, the oldest first.
  [[nodiscard]] std::vector<const protocol::Event*> Path(std::size_t count) const;

 private:
  void Place(const protocol::Event& event);

  std::size_t max_events_;
  std::map<std::uint64_t, protocol::Event> events_;         // Of the tree, by seq.
  std::map<std::string, std::uint64_t, std::less<>> seqs_;  // By id.
  std::optional<std::string> leaf_;
};

}  // namespace stet::client
