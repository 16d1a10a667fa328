// Transcript: the end of a session as a face shows it: at first as it was kept from the last time,
// then as the host has it, then with what happens. Says what is still to be shown, so that no row
// is shown twice and none is left out unsaid.
//
// The host is asked for the end of the path only, so that whatever happened meanwhile costs a
// screen, not a history. Belongs to the face's thread; blocks on the disk. What cannot be kept
// costs the next time its head start, nothing more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "client/projection.h"

namespace stet::client {

class Transcript {
 public:
  /// Nothing is kept.
  Transcript() = default;
  Transcript(Cache cache, std::string device_id, std::string session_id);

  /// The last events, at most `count`, as they were kept: to be shown at once. They count as shown.
  std::vector<protocol::Event> ShowKept(std::size_t count);

  enum class How {
    kGoesOn,     // Behind what was shown.
    kMore,       // Behind it too, but so much has happened that what is between is left out.
    kElsewhere,  // What was shown is not, or no longer, the session's path.
  };
  struct Rest {
    How how = How::kGoesOn;
    std::vector<protocol::Event> events;  // Still to be shown.
  };
  /// The most events that are compared.
  static constexpr std::size_t kMost = Cache::kMaxEvents;
  /// Whether `path`, the last events of the path as the host has them (LiveSession::Recent), does
  /// not reach back to what was shown: then the host is asked once more, for kMost.
  [[nodiscard]] bool NeedsMore(const std::vector<protocol::Event>& path) const;
  /// Compares what was shown with the host's word. At most `count` events are shown anew.
  Rest Reconcile(std::vector<protocol::Event> path, std::size_t count);

  /// An event that was heard since. False: it has been shown, with the path that the host said.
  bool Take(const protocol::Event& event);

  /// Writes it down, if there is something new. Done at the end of every turn as well.
  void Keep();

 private:
  [[nodiscard]] std::optional<std::size_t> PlaceIn(const std::vector<protocol::Event>& path) const;

  std::optional<Cache> cache_;
  std::string device_id_;
  std::string session_id_;
  Projection known_{Cache::kMaxEvents};
  bool shown_ = false;            // Something was.
  std::uint64_t reconciled_ = 0;  // The host's word reached up to here.
  bool changed_ = false;          // Since it was kept.
};

}  // namespace stet::client
