// Channel: a connection that carries texts both ways, whole and in order: a WebSocket over a unix
// socket, TCP or TLS; or one way, as the body of an HTTP reply. Knows nothing of what they say.
//
// Belongs to the loop, and must die before it: everything is called, and calls back, on its thread,
// never from inside a call of the same channel. Bounded: a text over kMaxFrame, or over what the
// caller takes (BoundFrames), ends the channel;
// what is queued for sending is the caller's to bound (queued). A peer of a WebSocket that is
// silent and answers no ping for kSilence is gone; that of an HTTP reply is when it closes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::rpc {

inline constexpr std::size_t kMaxFrame = std::size_t{10} << 20;
/// What one that dialled takes: its server may have something larger to tell, such as a stored
/// event.
inline constexpr std::size_t kMaxFromServer = std::size_t{80} << 20;
inline constexpr std::chrono::seconds kSilence{60};

struct ChannelEvents {
  std::function<void(std::string_view frame)> frame;
  /// All that was sent is with the system.
  std::function<void()> drained;
  /// Once, at the end, whichever side ended it; the channel may be destroyed inside, as in the
  /// others.
  /// kUnavailable: the peer went away, or closed it, then the message is its reason; kTimeout: it
  /// fell silent; kInvalid: it broke the rules; kCancelled: this side closed it.
  std::function<void(const Error& why)> closed;
};

class Channel {
 public:
  /// Ends it at once, without calling back.
  virtual ~Channel() = default;

  /// Nothing is read before. Once.
  virtual void Start(ChannelEvents events) = 0;
  /// The largest text that is taken from now on. Before Start, or inside of `frame`.
  virtual void BoundFrames(std::size_t most) = 0;
  /// Of a server's channel: the peer was let in. Until then it takes one of few places.
  virtual void Prove() = 0;
  /// UTF-8. After Close and after the end it is dropped.
  virtual void Send(std::string frame) = 0;
  /// Bytes that were sent and are not yet with the system.
  [[nodiscard]] virtual std::size_t queued() const = 0;
  /// Ends it once what is queued is sent, or after a second; the peer is told the reason, as far as
  /// a WebSocket carries it (123 bytes).
  virtual void Close(std::string_view reason) = 0;
};

}  // namespace stet::rpc
