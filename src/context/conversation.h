// Conversation: the active view of a session: what of its path a model is shown. A projection of
// events: the same log gives the same entries, and appending events never changes what was made of
// those before, unless an event says so.
//
// It goes up from the leaf to the nearest barrier and converts downward from what that one keeps.
// It remembers what it made, so that a step costs what is new; its memory is the active view's, not
// the session's. Owned by the session's lane.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "context/handlers.h"
#include "log/log.h"
#include "provider/request.h"

namespace stet::context {

/// One event of the active view, in the order of the path.
struct Part {
  log::Ordinal event = log::kNone;
  std::uint32_t bytes = 0;  // Of text that it brings to a request, about.
  std::uint16_t images = 0;
  std::uint8_t type = 0;  // protocol::TypeNumber.
  bool hidden = false;
  bool replaced = false;
};

class Conversation {
 public:
  /// Brings the entries up to the log's leaf; or to `leaf`, as if it were that and the log ended
  /// before the event `end`.
  Status Update(const log::Log& log);
  Status Update(const log::Log& log, log::Ordinal leaf, log::Ordinal end);

  /// Of a path that is in no log. Filters among its events count, wherever they stand.
  static Conversation Of(std::span<const protocol::Event> path);

  /// As Pairing says. Not while they are lent.
  [[nodiscard]] std::vector<provider::Entry> Entries() const;

  /// The same without copying what stood there before the last turn. Lent until TakeBack; what is
  /// not given back is made again by the next Update.
  std::vector<provider::Entry> Lend();
  void TakeBack(std::vector<provider::Entry> entries);

  [[nodiscard]] std::span<const Part> parts() const { return parts_; }
  /// The `compact` that the view begins with; kNone when it begins with the session.
  [[nodiscard]] log::Ordinal barrier() const { return barrier_; }
  /// Of the head that the barrier puts first.
  [[nodiscard]] std::size_t head_bytes() const { return head_bytes_; }

 private:
  struct Span {
    log::Ordinal from;
    log::Ordinal through;
  };

  Status Rebuild(const log::Log& log, log::Ordinal leaf, log::Ordinal end);
  Status TakeAll(const log::Log& log, std::span<const log::Ordinal> chain);
  Status ReadFilters(const log::Log& log, log::Ordinal leaf, log::Ordinal end);
  Result<log::Ordinal> TakeFilter(const log::Log& log, log::Ordinal event);
  Result<bool> TakeNewFilters(const log::Log& log, log::Ordinal end);
  void Add(ToModel converted, Part part);
  void TakeHead(const Barrier& barrier);
  void Clear();
  [[nodiscard]] bool IsHidden(log::Ordinal event) const;

  std::vector<Part> parts_;
  log::Ordinal barrier_ = log::kNone;
  log::Ordinal above_ = log::kNone;  // The event just above the first part.
  std::size_t head_bytes_ = 0;
  std::size_t seen_ = 0;  // Events of the log whose filters are known.

  std::unordered_map<log::Ordinal, std::string> replaced_;
  std::vector<Span> hidden_;

  std::vector<provider::Entry> settled_;  // What is before the last turn.
  std::vector<Piece> pieces_;             // From the last turn on.
  std::size_t open_parts_ = 0;            // How many parts the settled entries came from.
  std::size_t settled_entries_ = 0;       // Of what is lent.
  bool lent_ = false;
};

}  // namespace stet::context
