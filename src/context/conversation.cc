#include "context/conversation.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "context/pairing.h"
#include "log/tree.h"

namespace stet::context {
namespace {

using provider::Entry;

void Measure(const protocol::Blocks& blocks, Part& part) {
  for (const protocol::Block& block : blocks) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      part.bytes += text->text.size();
    } else if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block)) {
      part.bytes += thinking->text.size() + thinking->signature.value_or("").size();
    } else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
      part.bytes += call->tool_name.size() + call->args.text.size();
    } else if (std::holds_alternative<protocol::ImageBlock>(block)) {
      ++part.images;
    }
  }
}

void Measure(const Piece& piece, Part& part) {
  if (const auto* user = std::get_if<provider::UserInput>(&piece)) {
    Measure(user->blocks, part);
  } else if (const auto* turn = std::get_if<provider::AssistantTurn>(&piece)) {
    Measure(turn->blocks, part);
  } else if (const auto* result = std::get_if<provider::ToolResult>(&piece)) {
    Measure(result->content, part);
  } else if (const auto* reminder = std::get_if<MergedReminder>(&piece)) {
    part.bytes += reminder->text.size();
  }
}

void ReplaceText(Piece& piece, const std::string& text) {
  protocol::Blocks blocks = TextInput(text).blocks;
  if (auto* result = std::get_if<provider::ToolResult>(&piece)) {
    result->content = std::move(blocks);
  } else if (auto* user = std::get_if<provider::UserInput>(&piece)) {
    user->blocks = std::move(blocks);
  }
}

/// Reads what is left of `events`, some at a time, into their places in `out`. `next` is where the
/// events begin that no thread has taken.
Status ConvertSome(const log::Log& log, std::span<const log::Ordinal> events,
                   std::atomic<std::size_t>& next, std::span<ToModel> out) {
  constexpr std::size_t kAtOnce = 16;  // Small: results are large and the messages between are not.
  for (;;) {
    const std::size_t first = next.fetch_add(kAtOnce);
    if (first >= events.size()) return {};
    const std::size_t end = std::min(first + kAtOnce, events.size());
    for (std::size_t at = first; at < end; ++at) {
      if (RoleOf(log.index().entries()[events[at]].type) != Role::kContent) continue;
      ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(events[at]));
      out[at] = Convert(event);
    }
  }
}

/// What the events are to a model; those that are no content are skipped. Many are read side by
/// side: nothing is appended meanwhile.
Result<std::vector<ToModel>> ConvertAll(const log::Log& log, std::span<const log::Ordinal> events) {
  constexpr std::size_t kMany = 500;
  constexpr std::size_t kMaxThreads = 4;
  std::vector<ToModel> converted(events.size());
  const std::size_t threads =
      events.size() < kMany
          ? 1
          : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  std::atomic<std::size_t> next = 0;
  std::vector<Status> done(threads);
  const auto convert = [&](std::size_t thread) {
    done[thread] = ConvertSome(log, events, next, converted);
  };
  {
    std::vector<std::thread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) {
      Result<std::thread> started = StartThread([&convert, thread] { convert(thread); });
      if (!started) break;  // The others do it all.
      others.push_back(*std::move(started));
    }
    convert(0);
    for (std::thread& other : others) other.join();
  }
  for (const Status& status : done) RETURN_IF_ERROR(status);
  return converted;
}

/// Where the last turn that is shown stands.
std::size_t LastTurn(std::span<const Part> parts) {
  std::size_t at = parts.size();
  while (at > 0) {
    const Part& part = parts[--at];
    if (part.type == protocol::kTypeNumber<protocol::AssistantMessage> && !part.hidden) break;
  }
  return at;
}

/// Whether the control event that stands at `event` applies on the chain, which ends at the leaf.
bool Applies(const log::Index& index, log::Ordinal event, std::span<const Part> chain) {
  const log::Ordinal anchor = index.entries()[event].parent;
  const auto found = std::ranges::lower_bound(chain, anchor, {}, &Part::event);
  if (found == chain.end() || found->event != anchor) return false;
  return std::next(found) == chain.end() || std::next(found)->event > event;
}

}  // namespace

Status Conversation::Update(const log::Log& log) {
  const log::Index& index = log.index();
  return Update(log, index.leaf(), static_cast<log::Ordinal>(index.entries().size()));
}

Status Conversation::Update(const log::Log& log, log::Ordinal leaf, log::Ordinal end) {
  const log::Index& index = log.index();
  std::vector<log::Ordinal> chain;
  const log::Ordinal known = parts_.empty() ? above_ : parts_.back().event;
  bool extends = !lent_ && seen_ > 0 && seen_ <= end;
  for (log::Ordinal at = leaf; extends && at != known; at = index.entries()[at].parent) {
    extends = at != log::kNone && (known == log::kNone || at > known) &&
              RoleOf(index.entries()[at].type) != Role::kBarrier;
    if (!extends) break;
    chain.push_back(at);
  }
  // A branch that is older than what was seen does not have the filters that came after it.
  if (!extends || (!chain.empty() && chain.back() < seen_)) return Rebuild(log, leaf, end);
  std::ranges::reverse(chain);
  RETURN_IF_ERROR(TakeAll(log, chain));
  ASSIGN_OR_RETURN(const bool fits, TakeNewFilters(log, end));
  return fits ? Status() : Rebuild(log, leaf, end);
}

void Conversation::Clear() { *this = Conversation(); }

Status Conversation::Rebuild(const log::Log& log, log::Ordinal leaf, log::Ordinal end) {
  Clear();
  const log::Index& index = log.index();
  const std::vector<log::Entry>& entries = index.entries();
  std::vector<log::Ordinal> chain;
  log::Ordinal at = leaf;
  for (; at != log::kNone; at = entries[at].parent) {
    chain.push_back(at);
    if (RoleOf(entries[at].type) == Role::kBarrier) break;
  }
  Barrier barrier;
  if (at != log::kNone) {
    barrier_ = at;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    ToModel converted = Convert(event);
    if (auto* found = std::get_if<Barrier>(&converted)) barrier = std::move(*found);
    Result<log::Ordinal> keep = Fail(Code::kNotFound, "");
    if (barrier.keep_after) keep = log.Find(*barrier.keep_after);
    above_ = entries[at].parent;
    std::vector<log::Ordinal> kept;
    log::Ordinal up = keep ? above_ : log::kNone;
    for (; up != log::kNone && up != *keep; up = entries[up].parent) kept.push_back(up);
    // Where `keep_after` is not on the path above the barrier, nothing above it is kept.
    if (keep && up == *keep) {
      chain.insert(chain.end(), kept.begin(), kept.end());
      above_ = *keep;
    }
  }
  std::ranges::reverse(chain);
  RETURN_IF_ERROR(ReadFilters(log, leaf, end));
  TakeHead(barrier);
  RETURN_IF_ERROR(TakeAll(log, chain));
  seen_ = end;
  return {};
}

/// Filters speak of what is above them: one that stands above the view says nothing in it.
Status Conversation::ReadFilters(const log::Log& log, log::Ordinal leaf, log::Ordinal end) {
  const std::vector<log::Entry>& entries = log.index().entries();
  const bool any = std::ranges::any_of(
      entries, [](const log::Entry& entry) { return RoleOf(entry.type) == Role::kFilter; });
  if (!any) return {};
  for (const log::Ordinal event : log::ControlsOn(log.index(), leaf)) {
    if (RoleOf(entries[event].type) != Role::kFilter || event >= end) continue;
    if (above_ != log::kNone && event < above_) continue;
    RETURN_IF_ERROR(TakeFilter(log, event));
  }
  return {};
}

/// Gives the first event that it speaks of.
Result<log::Ordinal> Conversation::TakeFilter(const log::Log& log, log::Ordinal event) {
  ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
  const ToModel converted = Convert(found);
  log::Ordinal first = log::kNone;
  if (const auto* replace = std::get_if<Replace>(&converted)) {
    for (const std::string& id : replace->events) {
      const Result<log::Ordinal> target = log.Find(id);
      if (!target) continue;
      replaced_[*target] = replace->text;
      first = std::min(first, *target);
    }
  } else if (const auto* hide = std::get_if<Hide>(&converted)) {
    const Result<log::Ordinal> from = log.Find(hide->from);
    const Result<log::Ordinal> through = log.Find(hide->through);
    if (!from || !through) return log::kNone;
    std::erase_if(hidden_,
                  [&](const Span& span) { return span.from == *from && span.through == *through; });
    if (!hide->undo) hidden_.push_back({*from, *through});
    first = *from;
  }
  return first;
}

/// False when a new filter speaks of what is settled: then all is made again.
Result<bool> Conversation::TakeNewFilters(const log::Log& log, log::Ordinal end) {
  const std::vector<log::Entry>& entries = log.index().entries();
  log::Ordinal first = log::kNone;
  for (; seen_ < end; ++seen_) {
    const auto event = static_cast<log::Ordinal>(seen_);
    if (RoleOf(entries[event].type) != Role::kFilter || !Applies(log.index(), event, parts_))
      continue;
    ASSIGN_OR_RETURN(const log::Ordinal target, TakeFilter(log, event));
    first = std::min(first, target);
  }
  if (first == log::kNone) return true;
  const bool head_is_open = open_parts_ == 0 && barrier_ != log::kNone;
  if (head_is_open || parts_.empty() || first < parts_[open_parts_].event) return false;
  std::vector<log::Ordinal> again;
  for (std::size_t at = open_parts_; at < parts_.size(); ++at) again.push_back(parts_[at].event);
  parts_.resize(open_parts_);
  pieces_.clear();
  RETURN_IF_ERROR(TakeAll(log, again));
  return true;
}

bool Conversation::IsHidden(log::Ordinal event) const {
  return std::ranges::any_of(
      hidden_, [&](const Span& span) { return span.from <= event && event <= span.through; });
}

Status Conversation::TakeAll(const log::Log& log, std::span<const log::Ordinal> chain) {
  parts_.reserve(parts_.size() + chain.size());
  ASSIGN_OR_RETURN(std::vector<ToModel> converted, ConvertAll(log, chain));
  for (std::size_t at = 0; at < chain.size(); ++at) {
    Part part;
    part.event = chain[at];
    part.type = log.index().entries()[chain[at]].type;
    part.hidden = RoleOf(part.type) == Role::kContent && IsHidden(chain[at]);
    Add(std::move(converted[at]), part);
  }
  return {};
}

void Conversation::Add(ToModel converted, Part part) {
  auto* piece = std::get_if<Piece>(&converted);
  if (piece != nullptr && part.hidden) {
    pieces_.emplace_back(Gap());
  } else if (piece != nullptr) {
    if (const auto text = replaced_.find(part.event); text != replaced_.end()) {
      ReplaceText(*piece, text->second);
      part.replaced = true;
    }
    Measure(*piece, part);
    pieces_.push_back(std::move(*piece));
  }
  parts_.push_back(part);
}

void Conversation::TakeHead(const Barrier& barrier) {
  for (const provider::UserInput& input : barrier.head) {
    Part measured;
    Measure(input.blocks, measured);
    head_bytes_ += measured.bytes;
    pieces_.emplace_back(input);
  }
}

Conversation Conversation::Of(std::span<const protocol::Event> path) {
  Conversation conversation;
  std::unordered_map<std::string_view, log::Ordinal> ids;
  std::size_t first = 0;
  for (log::Ordinal at = 0; at < path.size(); ++at) {
    ids[path[at].id] = at;
    const ToModel converted = Convert(path[at]);
    if (const auto* barrier = std::get_if<Barrier>(&converted)) {
      const auto keep = barrier->keep_after ? ids.find(*barrier->keep_after) : ids.end();
      first = keep == ids.end() || keep->second >= at ? at : keep->second + 1;
      conversation.pieces_.clear();
      conversation.TakeHead(*barrier);
    } else if (const auto* replace = std::get_if<Replace>(&converted)) {
      for (const std::string& id : replace->events) {
        if (const auto target = ids.find(id); target != ids.end())
          conversation.replaced_[target->second] = replace->text;
      }
    } else if (const auto* hide = std::get_if<Hide>(&converted)) {
      const auto from = ids.find(hide->from);
      const auto through = ids.find(hide->through);
      if (from == ids.end() || through == ids.end()) continue;
      std::erase_if(conversation.hidden_, [&](const Span& span) {
        return span.from == from->second && span.through == through->second;
      });
      if (!hide->undo) conversation.hidden_.push_back({from->second, through->second});
    }
  }
  for (auto at = static_cast<log::Ordinal>(first); at < path.size(); ++at) {
    Part part;
    part.event = at;
    part.hidden = conversation.IsHidden(at);
    conversation.Add(Convert(path[at]), part);
  }
  return conversation;
}

std::vector<Entry> Conversation::Lend() {
  // What is before the last turn will not change any more.
  const auto turn = std::ranges::find_if(pieces_.rbegin(), pieces_.rend(), [](const Piece& piece) {
    return std::holds_alternative<provider::AssistantTurn>(piece);
  });
  if (turn != pieces_.rend() && std::next(turn) != pieces_.rend()) {
    const auto last = std::prev(turn.base());
    Pairing before(std::move(settled_));
    for (auto piece = pieces_.begin(); piece != last; ++piece) before.Add(std::move(*piece));
    settled_ = std::move(before).Finish();
    pieces_.erase(pieces_.begin(), last);
    open_parts_ = LastTurn(parts_);
  }
  settled_entries_ = settled_.size();
  lent_ = true;
  Pairing pairing(std::move(settled_));
  for (const Piece& piece : pieces_) pairing.Add(piece);
  return std::move(pairing).Finish();
}

void Conversation::TakeBack(std::vector<Entry> entries) {
  if (!lent_) return;  // All was made again meanwhile.
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(settled_entries_), entries.end());
  settled_ = std::move(entries);
  lent_ = false;
}

std::vector<Entry> Conversation::Entries() const {
  Pairing pairing(settled_);
  for (const Piece& piece : pieces_) pairing.Add(piece);
  return std::move(pairing).Finish();
}

}  // namespace stet::context
