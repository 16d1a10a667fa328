// Inbox: what a session tells a face, carried from the host's thread to the face's own, which waits
// for it together with whatever else it waits for.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <variant>

#include "base/fd.h"
#include "client/live.h"

namespace stet::client {

using News = std::variant<protocol::Event, protocol::Transient>;

class Inbox {
 public:
  Inbox();

  /// To be given to the host; this must outlive it.
  client::Watcher Watcher();

  /// Readable while there is news, or after Poke.
  [[nodiscard]] int fd() const { return ready_.get(); }
  /// Wakes whoever waits; from any thread.
  void Poke();

  /// The next piece of news; nothing when there is none yet.
  std::optional<News> Take();
  /// Waits for the next piece of news. Nothing after a Poke.
  std::optional<News> Wait();

 private:
  void Put(News news);
  std::optional<News> Pop();
  void Signal() const;

  Fd ready_;  // An eventfd.
  std::mutex mutex_;
  std::deque<News> news_;
  bool poked_ = false;
};

}  // namespace stet::client
