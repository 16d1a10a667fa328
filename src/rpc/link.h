// Link: what all channels have in common: the queue of what is to be sent, the callbacks, and the
// one end. A connection derives from it and brings the reading and the writing.
//
// The caller has a handle (MakeChannel); the link itself lives on until the connection's last
// operation has ended, and makes no callback once the handle is gone.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/result.h"
#include "rpc/channel.h"

namespace stet::rpc {

/// How long a channel may take to close.
inline constexpr std::chrono::seconds kCloseTime{1};

class Link : public std::enable_shared_from_this<Link> {
 public:
  explicit Link(Loop& loop) : loop_(loop), deadline_(loop) {}
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// As those of Channel.
  void Start(ChannelEvents events);
  virtual void Prove() {}  // Of one that was dialled, or answers a request, there is nothing to do.
  virtual void BoundFrames(std::size_t) {}  // Of one that reads nothing there are none.
  void Send(std::string frame);
  [[nodiscard]] std::size_t queued() const { return queued_; }
  void Close(std::string_view reason);
  /// The handle is gone.
  void Detach();

 protected:
  /// Begins to read; called once.
  virtual void Read() = 0;
  /// Writes one frame, which stays where it is until Written or End.
  virtual void Write(const std::string& frame) = 0;
  /// Says the last word, when nothing is being written; End follows.
  virtual void SayClose(const Error& why) = 0;
  /// Closes the socket; what is under way fails soon.
  virtual void Abort() = 0;

  // Called by the connection, always from the loop.
  void Received(std::string_view frame);
  void Written();
  /// The first one counts, unless this side ends it already for its own reason.
  void End(Error why);
  /// The peer broke the rules: tells it so, drops what is queued, and ends.
  void Refuse(std::string why);
  /// Nothing is written between the two.
  void HoldWrites() { held_ = true; }
  void ReleaseWrites();

  [[nodiscard]] bool reading() const { return started_; }
  /// It has ended, or its handle is gone: no callback follows.
  [[nodiscard]] bool over() const { return ended_ || detached_; }

 private:
  void Pump();
  void EndBy(Error why);
  void CallClosed();

  Loop& loop_;
  Timer deadline_;  // Of the closing.
  std::shared_ptr<const ChannelEvents> events_;
  std::deque<std::string> frames_;  // The first one is being written when writing_.
  std::size_t queued_ = 0;
  bool started_ = false;
  bool detached_ = false;
  bool held_ = false;
  bool writing_ = false;
  bool closing_ = false;         // The last word is being said.
  std::optional<Error> ending_;  // Why this side ends it.
  std::optional<Error> ended_;
};

std::unique_ptr<Channel> MakeChannel(std::shared_ptr<Link> link);

}  // namespace stet::rpc
