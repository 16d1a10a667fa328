#include "client/transcript.h"

#include <algorithm>
#include <utility>

namespace stet::client {

using protocol::Event;

namespace {

/// Whether the end of a path reaches back to the session's beginning.
bool IsWhole(const std::vector<Event>& path) { return path.empty() || !path.front().parent_id; }

/// It is on a path, or says which path there is.
bool MakesPath(const Event& event) {
  return protocol::PlaceOf(event.payload) == protocol::Place::kTree ||
         std::holds_alternative<protocol::Rewind>(event.payload) ||
         std::holds_alternative<protocol::Branch>(event.payload);
}

}  // namespace

Transcript::Transcript(Cache cache, std::string device_id, std::string session_id)
    : cache_(std::move(cache)),
      device_id_(std::move(device_id)),
      session_id_(std::move(session_id)) {}

std::vector<Event> Transcript::ShowKept(std::size_t count) {
  if (!cache_ || shown_) return {};
  std::vector<Event> kept = cache_->Load(device_id_, session_id_);
  for (const Event& event : kept) known_.Take(event);
  shown_ = !kept.empty();
  if (kept.size() > count)
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(count));
  return kept;
}

/// Where what was shown last stands; the end of it.
std::optional<std::size_t> Transcript::PlaceIn(const std::vector<Event>& path) const {
  const auto found = std::ranges::find(path, known_.leaf_id().value_or(""), &Event::id);
  if (found == path.end()) return std::nullopt;
  return static_cast<std::size_t>(found - path.begin());
}

bool Transcript::NeedsMore(const std::vector<Event>& path) const {
  return shown_ && path.size() < kMost && !IsWhole(path) && !PlaceIn(path);
}

Transcript::Rest Transcript::Reconcile(std::vector<Event> path, std::size_t count) {
  Rest rest;
  rest.events = std::move(path);
  const std::optional<std::size_t> place = shown_ ? PlaceIn(rest.events) : std::nullopt;
  if (shown_ && !place) {
    const Event* last = known_.leaf_id() ? known_.Find(*known_.leaf_id()) : nullptr;
    const bool later =
        last != nullptr && !IsWhole(rest.events) && rest.events.front().seq > last->seq;
    rest.how = later ? How::kMore : How::kElsewhere;
    known_.Clear();
  }
  for (const Event& event : rest.events) known_.Take(event);
  if (!rest.events.empty()) reconciled_ = rest.events.back().seq;
  changed_ = !place || *place + 1 < rest.events.size();
  const std::size_t shown =
      place ? *place + 1 : rest.events.size() - std::min(rest.events.size(), count);
  rest.events.erase(rest.events.begin(), rest.events.begin() + static_cast<std::ptrdiff_t>(shown));
  shown_ = true;
  return rest;
}

bool Transcript::Take(const Event& event) {
  if (event.seq <= reconciled_) return !MakesPath(event);
  known_.Take(event);
  changed_ = true;
  const auto* turn = std::get_if<protocol::Turn>(&event.payload);
  if (turn != nullptr && turn->phase == protocol::phase::kEnd) Keep();
  return true;
}

void Transcript::Keep() {
  if (!cache_ || !std::exchange(changed_, false)) return;
  // Ignoring the error on purpose: the next time begins without it.
  (void)cache_->Store(device_id_, session_id_, known_.Path(Cache::kMaxEvents));
}

}  // namespace stet::client
