// Stream: what of a host's pushes a watcher is told, whatever happened to the connection: every
// event once and in order, and transients such that no text comes twice and none is lost.
//
// Belongs to the thread that feeds it, and calls the watcher there. Pure otherwise. What cannot be
// read is passed over. An event counts as told when the watcher was told it or when it stood in the
// log before the stream began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/live.h"
#include "client/underway.h"
#include "protocol/wire.h"

namespace stet::client {

struct StreamOptions {
  Watcher watcher;
  /// How many of the last events of the path come first; absent: the whole log does.
  std::optional<std::int64_t> recent;
  /// Whether the watcher is told those; else it hears only what happens from now on.
  bool history = true;
  /// The turn that runs when the watcher comes: its end will be told.
  std::optional<std::string> turn_id = {};
};

class Stream {
 public:
  /// Events that are remembered as told, to tell them from others in their place.
  static constexpr std::size_t kMaxTold = 4096;

  explicit Stream(StreamOptions options) : options_(std::move(options)) {
    if (options_.turn_id) NoteTurn(*options_.turn_id);
  }

  /// What to subscribe with now.
  [[nodiscard]] protocol::Subscribe Next() const;
  /// The host's answer to that.
  void Begin(const protocol::Subscribed& subscribed);

  void Take(const protocol::EventPush& push);
  void Take(const protocol::TransientPush& push);
  void Take(const protocol::LivePush& push);

  /// A turn began because of this client: its end will be told.
  void NoteTurn(const std::string& turn_id) { underway_.NoteTurn(turn_id); }
  /// Turns of whose end nothing is known.
  [[nodiscard]] std::vector<std::string> open_turns() const { return underway_.open_turns(); }
  [[nodiscard]] bool has_open_turn() const { return underway_.has_open_turn(); }
  /// The host says that they do not run.
  void EndTurns(const std::vector<std::string>& turn_ids) { Tell(underway_.EndTurns(turn_ids)); }
  /// The host says how it ended.
  void EndTurn(const protocol::RuntimeEnd& end) { Tell(underway_.EndTurn(end)); }

  /// Where the stream stands; nothing before it began. While events are being replayed, or when
  /// transients were left out, the epoch is -1: only the last event is a place to go on from.
  [[nodiscard]] std::optional<protocol::ResyncAnchor> anchor() const;
  /// The host said `live` since Begin, or the stream went on where it was.
  [[nodiscard]] bool live() const { return positioned_; }

 private:
  struct Position {
    std::int64_t epoch = -1;
    std::uint64_t seq = 0;
  };

  void BeginRecent(const protocol::Subscribed& subscribed);
  void MoveTo(std::int64_t epoch, std::uint64_t from, std::uint64_t seq);
  [[nodiscard]] bool WasTold(const protocol::Event& event) const;
  void PassOpening(const protocol::Event& event);
  void Remember(const protocol::Event& event);
  void Hand(const protocol::Event& event);
  void Tell(const Payloads& payloads);

  StreamOptions options_;
  Underway underway_;
  bool begun_ = false;
  bool told_history_ = false;  // The first `live` has come.
  bool positioned_ = false;    // at_ is exact.
  bool gapped_ = false;        // Some seqs were left out.
  Position at_;
  std::uint64_t persistent_seq_ = 0;
  std::string persistent_id_;
  std::optional<Position> before_;               // What stood in the log up to here is history.
  std::map<std::uint64_t, std::uint64_t> told_;  // seq -> hash of the id.
};

}  // namespace stet::client
