// EventStream: a session as server-sent events: what a client on the wire would be pushed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/admission.h"
#include "host/feed.h"
#include "rpc/server.h"

namespace stet::host {

/// The anchor in a Last-Event-ID; nothing when it is none of ours.
protocol::OptionalResyncAnchor AnchorFrom(std::string_view last_event_id);

class EventStream final : public Outlet {
 public:
  /// `ended` is called once, when the client has gone; this may be destroyed inside.
  EventStream(std::shared_ptr<FeedSource> session, std::function<void()> ended);
  ~EventStream() override;

  /// Answers with the stream, and says where it begins; an error is not answered.
  Result<protocol::Subscribed> Start(const protocol::Subscribe& wanted, rpc::HttpReply& reply);
  /// Ends the stream when its client would not be let in any more.
  void EndWith(std::unique_ptr<Admission> admission);

  void Push(std::shared_ptr<const std::string> message) override;
  [[nodiscard]] std::size_t waiting() const override { return channel_->queued(); }

 private:
  std::shared_ptr<FeedSource> session_;
  std::function<void()> ended_;
  std::unique_ptr<rpc::Channel> channel_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Admission> admission_;
  protocol::ResyncAnchor at_;  // What the client has.
};

}  // namespace stet::host
