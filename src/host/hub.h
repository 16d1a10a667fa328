// Hub: what one session says to all its clients: its events and transients as messages of the wire,
// in the order of seq, and the latest of them once more for a client that was away.
//
// Deltas that come within kGather are one message; all clients are sent the same ones. What was
// broadcast in an opening (epoch) is kept, within kMaxKept and the budget of all hubs, and
// forgotten when the next one begins. Belongs to the loop. Nothing here fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "protocol/transient.h"
#include "protocol/wire.h"

namespace stet::host {

/// One message of the wire, and the seqs that it stands for.
struct HubItem {
  std::uint64_t from_seq = 0;
  std::uint64_t seq = 0;
  bool persistent = false;
  std::shared_ptr<const std::string> message;
};

class Hub;

/// What all hubs of a host may keep together: the one that was silent longest gives first.
class KeptBudget {
 public:
  explicit KeptBudget(std::size_t most = std::size_t{64} << 20) : most_(most) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  friend class Hub;
  std::size_t most_;
  std::size_t bytes_ = 0;
  std::list<Hub*> order_;  // The one that spoke last is the last.
};

class HubListener {
 public:
  virtual ~HubListener() = default;
  /// Must not call the hub.
  virtual void OnItem(const HubItem& item) = 0;
};

class Hub {
 public:
  static constexpr std::chrono::milliseconds kGather{10};
  static constexpr std::size_t kMaxKept = std::size_t{2} << 20;
  static constexpr std::size_t kMaxRunning =
      64;  // Calls; a client that comes late hears of no more.
  static constexpr std::size_t kMaxOutput = 4096;     // Of one, the end of it.
  static constexpr std::size_t kMaxArgs = 64 * 1024;  // Longer ones are in the message alone.

  /// Both outlive it.
  Hub(Loop& loop, KeptBudget& budget, std::string session_id);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  /// An opening begins behind the event `seq`: what was kept of the one before is dropped, and no
  /// client can resume from it.
  void Begin(std::int64_t epoch, std::uint64_t seq);
  void AddEvent(std::string_view id, std::uint64_t seq, std::string_view line);
  void AddTransient(const protocol::Transient& transient);
  /// Nothing more comes in this opening: memory is given back.
  void Forget();

  /// Hears every item from now on; what was gathered before is sent first.
  void Join(HubListener& listener);
  void Leave(HubListener& listener);
  /// Sends what is gathered.
  void Flush();
  [[nodiscard]] bool heard() const { return !listeners_.empty(); }

  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  /// The last seq that was broadcast, of any kind, and the last event's.
  [[nodiscard]] std::uint64_t seq() const { return seq_; }
  [[nodiscard]] std::uint64_t persistent_seq() const { return persistent_seq_; }

  /// Whether everything after {epoch, seq} is still kept.
  [[nodiscard]] bool Covers(std::int64_t epoch, std::uint64_t seq) const;
  void Replay(std::uint64_t after, const std::function<void(const HubItem&)>& take) const;

  /// What is said so far of messages that are being written.
  [[nodiscard]] const protocol::PartialMessages& partial() const { return partial_; }
  /// What runs, for a client that comes now: the position, the messages that are being written, the
  /// turn and its calls.
  [[nodiscard]] protocol::LivePush Live() const;

 private:
  struct Delta {
    protocol::Transient transient;
    std::uint64_t from_seq = 0;
  };

  bool Gather(const protocol::Transient& transient);
  void Emit(HubItem item);
  void EmitTransient(const protocol::Transient& transient, std::uint64_t from_seq);
  void Keep(HubItem item);
  void DropFirst();
  void Note(const protocol::Transient& transient);
  void NoteRunning(const protocol::Transient& transient);
  void Finish(std::string_view event_id);

  KeptBudget& budget_;
  const std::string session_id_;
  std::int64_t epoch_ = 0;
  std::uint64_t seq_ = 0;
  std::uint64_t persistent_seq_ = 0;
  std::uint64_t kept_from_ = 0;  // Everything after this seq is kept.
  std::deque<HubItem> kept_;
  std::size_t kept_bytes_ = 0;
  std::list<Hub*>::iterator order_;
  std::vector<HubListener*> listeners_;
  protocol::PartialMessages partial_;
  protocol::RunningCalls running_;
  protocol::OptionalText turn_id_;  // Absent: none runs.
  protocol::OptionalInt turn_began_at_;
  std::optional<Delta> gathered_;
  std::chrono::steady_clock::time_point last_delta_;
  Timer timer_;
};

}  // namespace stet::host
