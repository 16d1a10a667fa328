#include "host/feed.h"

#include <algorithm>

#include "base/diagnostics.h"

namespace stet::host {

Feed::Feed(FeedSource& session, Outlet& outlet) : session_(session), outlet_(outlet) {
  session_.hub().Join(*this);
}

Feed::~Feed() { session_.hub().Leave(*this); }

Result<protocol::Subscribed> Feed::Begin(const protocol::Subscribe& subscribe) {
  RETURN_IF_ERROR(session_.Look());
  const Hub& hub = session_.hub();
  protocol::Subscribed told;
  told.epoch = hub.epoch();
  told.seq = hub.seq();
  live_ = false;
  resumes_ = false;
  cursor_ = 0;
  told.mode = protocol::resync::kReload;
  const protocol::OptionalResyncAnchor& anchor = subscribe.anchor;
  if (!anchor && subscribe.recent) {
    told.mode = protocol::resync::kRecent;
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(*subscribe.recent, 0));
    ASSIGN_OR_RETURN(std::vector<std::string> lines, session_.Recent(count));
    protocol::Raws& events = told.events.emplace();
    for (std::string& line : lines) events.emplace_back().text = std::move(line);
    cursor_ = hub.persistent_seq();
    return told;
  }
  if (!anchor) return told;
  ASSIGN_OR_RETURN(const bool known, session_.Has(anchor->persistent_seq, anchor->persistent_id));
  if (!known) return told;
  resumes_ = hub.Covers(anchor->epoch, anchor->seq);
  cursor_ = resumes_ ? anchor->seq : anchor->persistent_seq;
  told.mode = resumes_ ? protocol::resync::kStream : protocol::resync::kPersistent;
  return told;
}

void Feed::Pump() {
  if (live_) return;
  if (resumes_) {
    const std::uint64_t after = cursor_;
    cursor_ = session_.hub().persistent_seq();
    resumes_ = false;
    live_ = true;
    session_.hub().Replay(after, [&](const HubItem& item) { outlet_.Push(item.message); });
    return;
  }
  const Status read = session_.ReadAfter(cursor_, [&](std::uint64_t seq, std::string_view line) {
    if (outlet_.waiting() >= kRoom) return false;
    PushEvent(line);
    cursor_ = seq;
    return true;
  });
  if (!read) STET_LOG(kWarn, "session {}: {}", session_.id(), read.error().Text());
  if (outlet_.waiting() < kRoom) GoLive();
}

void Feed::PushEvent(std::string_view line) {
  protocol::EventPush push;
  push.session_id = session_.id();
  push.epoch = session_.hub().epoch();
  push.event = Raw{std::string(line)};
  outlet_.Push(std::make_shared<const std::string>(Encode(push)));
}

void Feed::GoLive() {
  // What is gathered is part of `partial`: it must not come again.
  session_.hub().Flush();
  live_ = true;
  outlet_.Push(std::make_shared<const std::string>(Encode(session_.hub().Live())));
}

void Feed::OnItem(const HubItem& item) {
  if (!live_) return;
  if (outlet_.waiting() >= kBehind) {
    live_ = false;
    return;
  }
  outlet_.Push(item.message);
  if (item.persistent) cursor_ = item.seq;
}

}  // namespace stet::host
