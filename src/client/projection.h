// Projection: what a client knows of one session, folded from what it is told: its events, the
// leaf, the text of messages that are being written, the queues, and what is asked. For showing and
// for comparing; nothing is ever decided by it.
//
// The fold is the log's (doc/format/log.md), as far as the events at hand go: a projection that
// began in the middle has paths that end at the first event it does not know. Bounded: the oldest
// events are let go. Pure; belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"

namespace stet::client {

struct ProjectionOptions {
  bool whole = false;  // Every event of the log comes, from the first on.
  std::size_t max_events = 100'000;
};

/// A message that is being written.
struct Draft {
  struct Block {
    std::string kind;  // text, thinking, tool_call
    std::string text;
    std::string tool_call_id;
    std::string tool_name;

    friend bool operator==(const Block&, const Block&) = default;
  };
  std::string role;
  std::map<std::int64_t, Block> blocks;

  friend bool operator==(const Draft&, const Draft&) = default;
};

class Projection {
 public:
  static constexpr std::size_t kMaxDrafts = 64;
  static constexpr std::size_t kMaxDraftBytes = std::size_t{32}
                                                << 20;  // Beyond: the rest is left out.
  static constexpr std::size_t kMaxBlocks = 4096;       // Of a draft.
  static constexpr std::size_t kMaxConsumed = 4096;
  static constexpr std::size_t kMaxAsks = 1024;

  explicit Projection(ProjectionOptions options = {}) : options_(options), whole_(options.whole) {}

  /// One that is known already changes nothing.
  void Take(const protocol::Event& event);
  void Take(const protocol::Transient& transient);
  /// The host's own word on queues and what is asked, at this point.
  void Set(const protocol::LiveState& state);
  void Clear() { *this = Projection(options_); }

  /// In the order of seq.
  [[nodiscard]] const std::map<std::uint64_t, protocol::Event>& events() const { return events_; }
  /// Null when it is not known.
  [[nodiscard]] const protocol::Event* Find(std::string_view id) const;
  /// Absent: before the first event.
  [[nodiscard]] const std::optional<std::string>& leaf_id() const { return leaf_; }
  /// The last events of the path to the leaf, at most `count`, the oldest first.
  [[nodiscard]] std::vector<const protocol::Event*> Path(std::size_t count) const;

  [[nodiscard]] const std::map<std::string, Draft, std::less<>>& drafts() const { return drafts_; }
  [[nodiscard]] const protocol::QueueItems& follow_ups() const { return follow_ups_; }
  [[nodiscard]] const protocol::QueueItems& steers() const { return steers_; }
  [[nodiscard]] const protocol::PermissionAsks& asks() const { return asks_; }
  [[nodiscard]] const protocol::QuestionAsks& questions() const { return questions_; }

 private:
  void Place(const protocol::Event& event);
  void MoveLeaf(const std::optional<std::string>& target);
  void Consume(const std::optional<std::string>& queue_item_id);
  void Fold(const protocol::QueueUpdate& update);
  void Fold(const protocol::Permission& permission);
  void Fold(const protocol::Question& question);
  Draft::Block* Write(const std::string& event_id, std::int64_t index, std::string_view kind,
                      const std::string& text);
  void DropDraft(std::string_view event_id);

  ProjectionOptions options_;
  bool whole_;  // And nothing was let go.
  std::map<std::uint64_t, protocol::Event> events_;
  std::map<std::string, std::uint64_t, std::less<>> seqs_;   // By id.
  std::map<std::string, std::string, std::less<>> bridges_;  // Events whose parent is not known.
  std::optional<std::string> leaf_;
  std::map<std::string, Draft, std::less<>> drafts_;
  std::size_t draft_bytes_ = 0;
  protocol::QueueItems follow_ups_;
  protocol::QueueItems steers_;
  std::set<std::string, std::less<>> consumed_;
  std::deque<std::string> consumed_order_;
  protocol::PermissionAsks asks_;
  protocol::QuestionAsks questions_;
};

}  // namespace stet::client
