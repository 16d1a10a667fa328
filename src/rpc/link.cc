#include "rpc/link.h"

#include <utility>

namespace stet::rpc {
namespace {

class LinkChannel final : public Channel {
 public:
  explicit LinkChannel(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  LinkChannel(const LinkChannel&) = delete;
  LinkChannel& operator=(const LinkChannel&) = delete;
  ~LinkChannel() override { link_->Detach(); }

  void Start(ChannelEvents events) override { link_->Start(std::move(events)); }
  void BoundFrames(std::size_t most) override { link_->BoundFrames(most); }
  void Prove() override { link_->Prove(); }
  void Send(std::string frame) override { link_->Send(std::move(frame)); }
  [[nodiscard]] std::size_t queued() const override { return link_->queued(); }
  void Close(std::string_view reason) override { link_->Close(reason); }

 private:
  std::shared_ptr<Link> link_;
};

}  // namespace

std::unique_ptr<Channel> MakeChannel(std::shared_ptr<Link> link) {
  return std::make_unique<LinkChannel>(std::move(link));
}

void Link::Start(ChannelEvents events) {
  CHECK(!started_, "a channel is started once");
  started_ = true;
  events_ = std::make_shared<const ChannelEvents>(std::move(events));
  if (ended_) {
    loop_.Post([self = shared_from_this()] { self->CallClosed(); });
  } else if (!closing_) {
    Read();
  }
}

void Link::Send(std::string frame) {
  if (ended_ || ending_) return;
  queued_ += frame.size();
  frames_.push_back(std::move(frame));
  Pump();
}

void Link::Close(std::string_view reason) {
  if (ended_ || ending_) return;
  EndBy(Error(Code::kCancelled, std::string(reason)));
}

void Link::Detach() {
  detached_ = true;
  events_.reset();
  deadline_.Cancel();
  Abort();
}

void Link::Received(std::string_view frame) {
  if (ended_ || ending_) return;
  // The channel may be destroyed inside.
  if (const auto events = events_; events && events->frame) events->frame(frame);
}

void Link::Written() {
  if (ended_) return;
  queued_ -= frames_.front().size();
  frames_.pop_front();
  writing_ = false;
  if (frames_.empty()) {
    if (const auto events = events_; events && events->drained) events->drained();
  }
  Pump();
}

void Link::ReleaseWrites() {
  held_ = false;
  Pump();
}

void Link::End(Error why) {
  if (ended_) return;
  ended_ = ending_ ? std::move(*ending_) : std::move(why);
  // What is being written stays until its operation has failed; that is soon.
  queued_ = 0;
  deadline_.Cancel();
  Abort();
  CallClosed();
}

void Link::Refuse(std::string why) {
  if (ended_ || ending_) return;
  if (!frames_.empty()) {
    frames_.resize(writing_ ? 1 : 0);
    queued_ = writing_ ? frames_.front().size() : 0;
  }
  EndBy(Error(Code::kInvalid, std::move(why)));
}

void Link::EndBy(Error why) {
  ending_ = std::move(why);
  deadline_.Start(kCloseTime, [self = shared_from_this()] { self->End(*self->ending_); });
  Pump();
}

void Link::Pump() {
  if (held_ || writing_ || closing_ || ended_ || detached_) return;
  if (!frames_.empty()) {
    writing_ = true;
    Write(frames_.front());
  } else if (ending_) {
    closing_ = true;
    SayClose(*ending_);
  }
}

void Link::CallClosed() {
  if (const auto events = std::exchange(events_, nullptr); events && events->closed)
    events->closed(*ended_);
}

}  // namespace stet::rpc
