#include "log/index.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"

namespace stet::log {
namespace {

using protocol::kTypeNumber;
using protocol::Place;

constexpr std::uint8_t kUser = kTypeNumber<protocol::UserMessage>;
constexpr std::uint8_t kAssistant = kTypeNumber<protocol::AssistantMessage>;
constexpr std::uint8_t kToolResult = kTypeNumber<protocol::ToolResult>;
constexpr std::uint8_t kUnknownType = kTypeNumber<protocol::UnknownEvent>;

}  // namespace

void Index::AddLine(std::string_view line, std::uint64_t offset, bool trusted) {
  const std::optional<Prefix> prefix = ReadPrefix(line);
  if (!prefix) {
    AddDamage(offset, line.size() + 1, "its crc is right, but it does not start as an event does");
    return;
  }
  fold_.bytes = std::max(fold_.bytes, offset + line.size() + 1);
  Entry entry{.offset = offset,
              .seq = prefix->seq,
              .id_hash = FastHash(prefix->id),
              .length = static_cast<std::uint32_t>(line.size()),
              .call_index = static_cast<std::uint16_t>(
                  std::min<std::uint32_t>(prefix->call_index, UINT16_MAX)),
              .type = protocol::TypeNumber(prefix->type, prefix->role)};
  const Place place = protocol::PlaceOf(entry.type, prefix->op);
  entry.flags = static_cast<std::uint8_t>(place);
  if (!trusted && Lookup(entry.id_hash) != kNone) {
    entry.flags |= Entry::kDuplicate;
    Report({.kind = Fault::Kind::kDuplicateId,
            .offset = offset,
            .length = line.size(),
            .id = std::string(prefix->id),
            .detail = "another event above has this id; it stays readable, out of the tree"});
  }
  if (prefix->seq <= fold_.max_seq) {
    Report({.kind = Fault::Kind::kSeqNotGrowing,
            .offset = offset,
            .length = line.size(),
            .id = std::string(prefix->id),
            .detail = fmt::format("seq {} does not follow {}", prefix->seq, fold_.max_seq)});
  }
  fold_.max_seq = std::max(fold_.max_seq, prefix->seq);
  fold_.state.updated_at = std::max(fold_.state.updated_at, prefix->ts);
  ResolveParent(*prefix, entry);
  const auto ordinal = static_cast<Ordinal>(fold_.entries.size());
  fold_.entries.push_back(entry);
  if (ids_.built() && (entry.flags & Entry::kDuplicate) == 0) {
    ids_.Insert(ordinal, [&](Ordinal i) { return fold_.entries[i].id_hash; });
  }
  FoldPlace(*prefix, fold_.entries.back(), line);
}

void Index::ResolveParent(const Prefix& prefix, Entry& entry) {
  if (!prefix.parent_id) return;
  const std::uint64_t hash = FastHash(*prefix.parent_id);
  if (fold_.leaf != kNone && fold_.entries[fold_.leaf].id_hash == hash) {
    entry.parent = fold_.leaf;
    return;
  }
  entry.parent = Lookup(hash);
  if (entry.parent != kNone) return;
  entry.flags |= Entry::kBridged;
  entry.parent = fold_.damages.empty() ? fold_.leaf : fold_.damages.back().bridge;
  if (fold_.damages.empty()) {
    Report({.kind = Fault::Kind::kUnknownParent,
            .offset = entry.offset,
            .length = entry.length,
            .id = std::string(prefix.id),
            .detail =
                fmt::format("its parent {} stands nowhere above it; it hangs on the leaf before it",
                            *prefix.parent_id),
            .parent_id = std::string(*prefix.parent_id)});
  }
}

void Index::FoldPlace(const Prefix& prefix, Entry& entry, std::string_view line) {
  if ((entry.flags & Entry::kDuplicate) != 0) return;
  const auto ordinal = static_cast<Ordinal>(fold_.entries.size() - 1);
  const std::uint32_t open_above = entry.parent == kNone ? 0 : fold_.entries[entry.parent].open;
  if (entry.type == kAssistant) {
    entry.open = prefix.calls;
    ++fold_.state.assistant_messages;
  } else if (entry.type == kToolResult) {
    entry.open = open_above > 0 ? open_above - 1 : 0;
    ++fold_.state.tool_results;
  } else if (entry.type == kUser) {
    ++fold_.state.user_messages;
  }
  if (entry.in_tree()) fold_.leaf = ordinal;
  if (!prefix.client_message_id.empty())
    AddKey(Key::kClientMessage, FastHash(prefix.client_message_id));
  if (!prefix.queue_item_id.empty()) AddKey(Key::kQueueItem, FastHash(prefix.queue_item_id));
  if (entry.type == kTypeNumber<protocol::Owed> && !prefix.owed_id.empty())
    AddKey(Key::kOwed, FastHash(prefix.owed_id));
  if (entry.type == kUnknownType && prefix.critical && fold_.state.needs_newer.empty()) {
    fold_.state.needs_newer = prefix.type;
    Report(
        {.kind = Fault::Kind::kUnknownCritical,
         .offset = entry.offset,
         .length = entry.length,
         .id = std::string(prefix.id),
         .detail = fmt::format("critical type \"{}\" is not known to this version", prefix.type)});
  }
  FoldSession(entry.type, prefix, line);
  if (!prefix.queue_item_id.empty()) {
    // Ids that need escapes are compared after decoding; ours never do.
    fold_.state.Consume(prefix.queue_item_id);
  }
}

// Only the few types that change the session's state are decoded.
void Index::FoldSession(std::uint8_t type, const Prefix& prefix, std::string_view line) {
  switch (type) {
    case kTypeNumber<protocol::Opened>:
    case kTypeNumber<protocol::SessionInfo>:
    case kTypeNumber<protocol::QueueUpdate>:
    case kTypeNumber<protocol::Rewind>:
    case kTypeNumber<protocol::Branch>:
    case kTypeNumber<protocol::Gap>:
    case kUser: break;
    case kTypeNumber<protocol::HarnessItem>:
    case kTypeNumber<protocol::CustomMessage>:
      if (prefix.carries) break;
      return;
    case kTypeNumber<protocol::Permission>:
      if (line.contains("\"rule\"")) break;
      return;
    default: return;
  }
  const Result<protocol::Event> event = protocol::DecodeEvent(line);
  if (!event) return;
  if (const auto* opened = std::get_if<protocol::Opened>(&event->payload))
    fold_.state.Apply(*opened);
  if (const auto* info = std::get_if<protocol::SessionInfo>(&event->payload))
    fold_.state.Apply(*info);
  if (const auto* user = std::get_if<protocol::UserMessage>(&event->payload))
    fold_.state.Apply(*user);
  if (const auto* permission = std::get_if<protocol::Permission>(&event->payload))
    fold_.state.Apply(*permission);
  if (const auto* item = std::get_if<protocol::HarnessItem>(&event->payload))
    FoldPaid(item->carries);
  if (const auto* message = std::get_if<protocol::CustomMessage>(&event->payload))
    FoldPaid(message->carries);
  if (const auto* rewind = std::get_if<protocol::Rewind>(&event->payload))
    MoveLeaf(rewind->target_event_id);
  if (const auto* branch = std::get_if<protocol::Branch>(&event->payload))
    MoveLeaf(branch->leaf_event_id);
  if (const auto* queue = std::get_if<protocol::QueueUpdate>(&event->payload)) {
    for (const protocol::QueueItem& item : queue->items) {
      if (item.client_message_id)
        AddKey(Key::kClientMessage, FastHash(EscapedText(*item.client_message_id)));
    }
    fold_.state.Apply(*queue);
    for (const protocol::QueueItem& item : queue->items) {
      if (FindKey(Key::kQueueItem, item.item_id)) fold_.state.Consume(item.item_id);
    }
  }
  if (const auto* gap = std::get_if<protocol::Gap>(&event->payload)) {
    if (gap->header) fold_.state.rebuilt_header = gap->header;
    for (Damage& damage : fold_.damages) {
      if (damage.offset == static_cast<std::uint64_t>(gap->offset) &&
          damage.length == static_cast<std::uint64_t>(gap->length)) {
        damage.recorded = 1;
      }
    }
  }
}

void Index::FoldPaid(const protocol::OptionalCarries& carries) {
  if (!carries) return;
  for (const protocol::Carried& one : *carries) AddKey(Key::kPaid, Key::TextHash(one.Key()));
}

std::uint64_t Key::TextHash(std::string_view text) { return FastHash(EscapedText(text)); }

void Index::MoveLeaf(const std::optional<std::string>& id) {
  if (!id) {
    fold_.leaf = kNone;
  } else if (const std::optional<Ordinal> target = Find(*id)) {
    fold_.leaf = *target;
  }
}

void Index::AddKey(Key::Kind kind, std::uint64_t hash) {
  fold_.keys.push_back({hash ^ kind, kind, static_cast<Ordinal>(fold_.entries.size() - 1)});
  if (key_table_.built()) {
    key_table_.Insert(static_cast<Ordinal>(fold_.keys.size() - 1),
                      [&](Ordinal i) { return fold_.keys[i].hash; });
  }
}

void Index::AddDamage(std::uint64_t offset, std::uint64_t length, std::string_view why) {
  Report({.kind = offset == 0 ? Fault::Kind::kDamagedHeader : Fault::Kind::kDamagedLine,
          .offset = offset,
          .length = length,
          .detail = std::string(why)});
  fold_.bytes = std::max(fold_.bytes, offset + length);
  if (!fold_.damages.empty() &&
      fold_.damages.back().offset + fold_.damages.back().length == offset) {
    fold_.damages.back().length += length;
    fold_.damages.back().recorded = 0;  // A gap event names what it was before.
  } else {
    fold_.damages.push_back({offset, length, fold_.leaf, 0});
  }
}

void Index::Report(Fault fault) {
  if (faults_ == nullptr || faults_->size() >= kMaxFaults) return;
  fault.line = fold_.lines;
  faults_->push_back(std::move(fault));
}

std::optional<Ordinal> Index::Find(std::string_view id) const {
  const Ordinal found = Lookup(FastHash(EscapedText(id)));
  return found == kNone ? std::nullopt : std::optional(found);
}

std::optional<Ordinal> Index::FindKey(Key::Kind kind, std::string_view text) const {
  const auto hash_of = [&](Ordinal i) { return fold_.keys[i].hash; };
  if (!key_table_.built()) key_table_.Build(fold_.keys.size(), hash_of);
  const Ordinal found = key_table_.Find(Key::TextHash(text) ^ kind, hash_of);
  return found == kNone ? std::nullopt : std::optional(fold_.keys[found].event);
}

Ordinal Index::Lookup(std::uint64_t id_hash) const {
  const auto hash_of = [&](Ordinal i) { return fold_.entries[i].id_hash; };
  // The first of duplicates stands first in the table, so it is the one that is found.
  if (!ids_.built()) ids_.Build(fold_.entries.size(), hash_of);
  return ids_.Find(id_hash, hash_of);
}

}  // namespace stet::log
