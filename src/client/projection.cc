#include "client/projection.h"

#include <algorithm>

namespace stet::client {

using protocol::Event;

const Event* Projection::Find(std::string_view id) const {
  const auto seq = seqs_.find(id);
  return seq == seqs_.end() ? nullptr : &events_.at(seq->second);
}

void Projection::Take(const Event& event) {
  if (protocol::PlaceOf(event.payload) == protocol::Place::kTree) return Place(event);
  // A place that is not known is above what is.
  if (const auto* rewind = std::get_if<protocol::Rewind>(&event.payload))
    leaf_ = rewind->target_event_id;
  if (const auto* branch = std::get_if<protocol::Branch>(&event.payload))
    leaf_ = branch->leaf_event_id;
}

void Projection::Place(const Event& event) {
  if (seqs_.contains(event.id)) return;  // Of two with one id the first counts.
  if (const auto there = events_.find(event.seq); there != events_.end()) {
    seqs_.erase(there->second.id);
    events_.erase(there);
  }
  events_.emplace(event.seq, event);
  seqs_.emplace(event.id, event.seq);
  leaf_ = event.id;
  while (events_.size() > max_events_) {
    seqs_.erase(events_.begin()->second.id);
    events_.erase(events_.begin());
  }
}

std::vector<const Event*> Projection::Path(std::size_t count) const {
  std::vector<const Event*> path;
  const Event* at = leaf_ ? Find(*leaf_) : nullptr;
  while (at != nullptr && path.size() < count) {
    path.push_back(at);
    const Event* above = at->parent_id ? Find(*at->parent_id) : nullptr;
    // A parent stands above its child; anything else would never end.
    at = above != nullptr && above->seq < at->seq ? above : nullptr;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace stet::client
