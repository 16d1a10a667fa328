#include "client/stream.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace stet::client {

using protocol::Event;

namespace {

/// The first of its epoch: nothing of that was left out.
bool Opens(const Event& event, std::int64_t epoch) {
  const auto* opened = std::get_if<protocol::Opened>(&event.payload);
  return opened != nullptr && opened->epoch == epoch;
}

}  // namespace

protocol::Subscribe Stream::Next() const {
  protocol::Subscribe subscribe;
  subscribe.anchor = anchor();
  if (!subscribe.anchor) subscribe.recent = options_.recent;
  return subscribe;
}

std::optional<protocol::ResyncAnchor> Stream::anchor() const {
  if (!begun_) return std::nullopt;
  const bool exact = positioned_ && !gapped_;
  protocol::ResyncAnchor anchor;
  anchor.epoch = exact ? at_.epoch : -1;
  anchor.seq = exact ? at_.seq : 0;
  anchor.persistent_seq = persistent_seq_;
  anchor.persistent_id = persistent_id_;
  return anchor;
}

void Stream::Begin(const protocol::Subscribed& subscribed) {
  const bool first = !std::exchange(begun_, true);
  if (subscribed.mode == protocol::resync::kStream && !first) return;
  positioned_ = false;
  if (subscribed.mode == protocol::resync::kRecent) return BeginRecent(subscribed);
  if (subscribed.mode != protocol::resync::kReload) return;
  // Another log under the same name: what of it was not told before is told.
  persistent_seq_ = 0;
  persistent_id_.clear();
}

void Stream::BeginRecent(const protocol::Subscribed& subscribed) {
  for (const Raw& raw : subscribed.events.value_or(protocol::Raws())) {
    const Result<Event> event = protocol::DecodeEvent(raw.text);
    if (!event) continue;
    persistent_seq_ = event->seq;
    persistent_id_ = event->id;
    if (WasTold(*event)) continue;
    Remember(*event);
    if (options_.history) Hand(*event);
  }
  before_ = Position{subscribed.epoch, subscribed.seq};
}

/// Moves the position on to `seq`, and notes when something before `from` was left out.
void Stream::MoveTo(std::int64_t epoch, std::uint64_t from, std::uint64_t seq) {
  if (epoch < at_.epoch || (epoch == at_.epoch && seq <= at_.seq)) return;
  if (from != at_.seq + 1) gapped_ = true;
  at_ = {epoch, seq};
}

void Stream::Take(const protocol::EventPush& push) {
  if (!begun_) return;
  const Result<Event> event = protocol::DecodeEvent(push.event.text);
  if (!event) return;
  PassOpening(*event);
  if (positioned_ && event->seq <= persistent_seq_) return;
  if (positioned_) MoveTo(push.epoch, event->seq, event->seq);
  if (Opens(*event, push.epoch)) gapped_ = false;
  persistent_seq_ = event->seq;
  persistent_id_ = event->id;
  if (WasTold(*event)) return;
  Remember(*event);
  underway_.Take(*event, push.epoch);
  Hand(*event);
}

/// A later opening has begun: seqs may be given again that transients had in the one before.
void Stream::PassOpening(const Event& event) {
  const auto* opened = std::get_if<protocol::Opened>(&event.payload);
  if (opened == nullptr || !before_ || opened->epoch <= before_->epoch) return;
  before_->seq = std::min(before_->seq, event.seq - 1);
}

bool Stream::WasTold(const Event& event) const {
  const auto known = told_.find(event.seq);
  if (known != told_.end() && known->second == FastHash(event.id)) return true;
  if (positioned_) return false;
  if (before_ && event.seq <= before_->seq) return true;
  return known == told_.end() && !told_.empty() && event.seq < told_.begin()->first;
}

void Stream::Remember(const Event& event) {
  told_.insert_or_assign(event.seq, FastHash(event.id));
  if (told_.size() > kMaxTold) told_.erase(told_.begin());
}

void Stream::Take(const protocol::TransientPush& push) {
  if (!positioned_) return;  // `live` will say where things stand.
  const Result<protocol::Transient> transient = protocol::DecodeTransient(push.transient.text);
  if (!transient) return;
  const std::uint64_t from = push.from_seq.value_or(transient->seq);
  if (from > transient->seq) return;
  if (push.epoch < at_.epoch || (push.epoch == at_.epoch && from <= at_.seq)) return;
  MoveTo(push.epoch, from, transient->seq);
  if (underway_.Note(*transient)) options_.watcher(nullptr, &*transient);
}

void Stream::Take(const protocol::LivePush& push) {
  if (!begun_) return;
  positioned_ = true;
  gapped_ = false;
  at_ = {push.epoch, push.seq};
  if (!std::exchange(told_history_, true)) underway_.ForgetTurns();
  Tell(underway_.Reconcile(push));
}

void Stream::Hand(const Event& event) { options_.watcher(&event, nullptr); }

void Stream::Tell(const Payloads& payloads) {
  for (const protocol::TransientPayload& payload : payloads) {
    protocol::Transient transient;
    transient.seq = at_.seq;
    transient.client_id = "host";
    transient.transient = payload;
    options_.watcher(nullptr, &transient);
  }
}

}  // namespace stet::client
