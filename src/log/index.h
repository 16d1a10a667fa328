// Index: the fold of a log in file order: where every event is, its place in the tree, the leaf,
// and the session's state.
//
// It is built by feeding every line in order, by a scan or by an append, which give the same
// result; index_file.h keeps it on disk. It never fails: what is wrong with a line becomes a Fault,
// and the fold goes on by the rules of doc/format/log.md ("Damage"). Memory: 40 bytes an event, and
// 8 more once something is looked up by id. Owned by one log; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/line.h"
#include "log/ordinal_table.h"
#include "log/session_state.h"
#include "protocol/event.h"

namespace stet::log {

/// An event's position among the readable events of its file, from 0.
using Ordinal = std::uint32_t;
inline constexpr Ordinal kNone = UINT32_MAX;

struct Entry {
  static constexpr std::uint8_t kPlaceMask = 3;
  static constexpr std::uint8_t kBridged =
      4;  // Its parent was lost: `parent` is what it hangs on instead.
  static constexpr std::uint8_t kDuplicate = 8;  // Another event above has its id; out of the tree.

  std::uint64_t offset = 0;
  std::uint64_t seq = 0;
  std::uint64_t id_hash = 0;  // Of the id as it stands in the line.
  std::uint32_t length = 0;   // Of the line without its LF.
  Ordinal parent = kNone;     // For control and session events: the anchor.
  std::uint32_t open = 0;     // Calls on the path to here that still lack a result.
  std::uint16_t call_index = 0;
  std::uint8_t type = 0;  // protocol::TypeNumber.
  std::uint8_t flags = 0;

  [[nodiscard]] protocol::Place place() const {
    return static_cast<protocol::Place>(flags & kPlaceMask);
  }
  [[nodiscard]] bool in_tree() const {
    return place() == protocol::Place::kTree && (flags & kDuplicate) == 0;
  }
};
static_assert(sizeof(Entry) == 40);

/// A clientMessageId, a queueItemId, the id of something owed, or what an item pays
/// (protocol::Carried), that stands somewhere in the log.
struct Key {
  enum Kind : std::uint32_t { kClientMessage = 1, kQueueItem = 2, kOwed = 3, kPaid = 4 };

  std::uint64_t hash = 0;
  std::uint32_t kind = 0;
  Ordinal event = kNone;

  /// Of the text alone: the same for what is owed and for what pays it.
  [[nodiscard]] std::uint64_t text_hash() const { return hash ^ kind; }
  [[nodiscard]] static std::uint64_t TextHash(std::string_view text);
};
static_assert(sizeof(Key) == 16);

/// Bytes that cannot be read.
struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Ordinal bridge = kNone;      // The leaf just before it.
  std::uint32_t recorded = 0;  // 1 once a gap event names it.
};
static_assert(sizeof(Damage) == 24);

/// Something wrong with the file, for people: see FaultName in verify.h.
struct Fault {
  enum class Kind {
    kEmptyFile,
    kMissingHeader,
    kDamagedHeader,
    kTooNew,
    kDamagedLine,
    kTornLine,
    kDuplicateId,
    kUnknownParent,
    kParentCycle,
    kSeqNotGrowing,
    kUnreadableEvent,
    kUnknownCritical,
    kMissingBlob,
    kDamagedBlob,
    kStaleIndex,
  };
  Kind kind = Kind::kDamagedLine;
  std::uint64_t line = 0;  // From 1; 0 when it is about no line.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::string id;
  std::string detail;
  std::string parent_id;  // For kUnknownParent and kParentCycle.
  bool recorded =
      false;  // The log itself says so already: a writer has done what can be done about it.
};

/// More are not told: a file that has so many is none of ours, or nothing that could be mended.
inline constexpr std::size_t kMaxFaults = 10'000;

/// What a fold comes to, as an index file keeps it.
struct Folded {
  std::vector<Entry> entries;
  std::vector<Key> keys;
  std::vector<Damage> damages;
  SessionState state;
  Ordinal leaf = kNone;
  std::uint64_t max_seq = 0;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

class Index {
 public:
  /// Counts a line of the file; what it holds follows.
  void BeginLine() { ++fold_.lines; }
  /// The line begun last is torn and does not count: the next writer begins it anew.
  void DropLine() { --fold_.lines; }
  /// Feeds an event's line whose crc is right. `trusted`: written by us just now, so its id is new.
  void AddLine(std::string_view line, std::uint64_t offset, bool trusted = false);
  /// Feeds `length` bytes that are no good line, and why.
  void AddDamage(std::uint64_t offset, std::uint64_t length, std::string_view why);

  /// From now on, what is wrong is told to `faults` (kept by the caller; null to stop).
  void ReportTo(std::vector<Fault>* faults) { faults_ = faults; }
  void Report(Fault fault);

  [[nodiscard]] const std::vector<Entry>& entries() const { return fold_.entries; }
  [[nodiscard]] const std::vector<Key>& keys() const { return fold_.keys; }
  [[nodiscard]] const std::vector<Damage>& damages() const { return fold_.damages; }
  [[nodiscard]] const SessionState& state() const { return fold_.state; }
  [[nodiscard]] Ordinal leaf() const { return fold_.leaf; }
  [[nodiscard]] std::uint64_t max_seq() const { return fold_.max_seq; }
  [[nodiscard]] std::uint64_t lines() const { return fold_.lines; }
  /// The file's bytes up to here are folded.
  [[nodiscard]] std::uint64_t bytes() const { return fold_.bytes; }
  void set_bytes(std::uint64_t bytes) { fold_.bytes = bytes; }

  /// The event with this id, as the hash tells it: the caller compares the line's own id where it
  /// matters.
  [[nodiscard]] std::optional<Ordinal> Find(std::string_view id) const;
  /// The event that carries this clientMessageId (or queues it), consumes this queueItemId, owes
  /// this, or pays it; the first one when there are several.
  [[nodiscard]] std::optional<Ordinal> FindKey(Key::Kind kind, std::string_view text) const;

  /// Takes over what a file kept; the tables are built when first asked for.
  explicit Index(Folded kept) : fold_(std::move(kept)) {}
  Index() = default;

 private:
  [[nodiscard]] Ordinal Lookup(std::uint64_t id_hash) const;
  void ResolveParent(const Prefix& prefix, Entry& entry);
  void FoldPlace(const Prefix& prefix, Entry& entry, std::string_view line);
  void FoldSession(std::uint8_t type, const Prefix& prefix, std::string_view line);
  void FoldPaid(const protocol::OptionalCarries& carries);
  void MoveLeaf(const std::optional<std::string>& id);
  void AddKey(Key::Kind kind, std::uint64_t hash);

  Folded fold_;
  std::vector<Fault>* faults_ = nullptr;
  mutable OrdinalTable ids_;        // Of the entries.
  mutable OrdinalTable key_table_;  // Of the keys.
};

}  // namespace stet::log
