#include "agent/outbox.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/items.h"
#include "agent/workbench.h"
#include "base/utf8.h"
#include "protocol/ids.h"

namespace stet::agent {
namespace {

using log::Key;
using log::Ordinal;
using protocol::kTypeNumber;

protocol::Carried Carrying(const protocol::Task& end) {
  protocol::Carried carried;
  carried.task_id = end.task_id;
  carried.ended_turn_id = end.ended_turn_id;
  return carried;
}

bool SaysNothing(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// The message whose calls are under way where a task's start is anchored.
Ordinal CalledAt(const log::Index& index, Ordinal anchor) {
  const std::vector<log::Entry>& entries = index.entries();
  while (anchor != log::kNone && entries[anchor].type != kTypeNumber<protocol::AssistantMessage>)
    anchor = entries[anchor].parent;
  return anchor;
}

/// Those of `wanted` that are on the path to `leaf`. A parent stands above its child, so nothing
/// above the first of them is looked at.
std::unordered_set<Ordinal> OnPath(const log::Index& index, Ordinal leaf,
                                   const std::unordered_set<Ordinal>& wanted) {
  std::unordered_set<Ordinal> found;
  if (wanted.empty()) return found;
  const Ordinal first = *std::ranges::min_element(wanted);
  for (Ordinal at = leaf; at != log::kNone && at >= first; at = index.entries()[at].parent) {
    if (wanted.contains(at)) found.insert(at);
  }
  return found;
}

}  // namespace

Status Outbox::Update(const log::Log& log) {
  const Result<bool> extended = Extend(log);
  if (!extended) {
    *this = Outbox();
    return std::unexpected(extended.error());
  }
  if (!*extended) Rebuild(log);
  return {};
}

/// True when the new events go on from the leaf as it was. False: it was moved.
Result<bool> Outbox::Extend(const log::Log& log) {
  const std::vector<log::Entry>& entries = log.index().entries();
  bool extends = true;
  for (; next_ < entries.size(); ++next_) {
    const log::Entry& entry = entries[next_];
    if ((entry.flags & log::Entry::kDuplicate) != 0) continue;
    if (entry.type == kTypeNumber<protocol::Task>) RETURN_IF_ERROR(TakeTask(log, next_));
    if (!entry.in_tree()) continue;
    extends = extends && entry.parent == leaf_;
    leaf_ = next_;
  }
  extends = extends && leaf_ == log.index().leaf();
  leaf_ = log.index().leaf();
  if (extends) TakeKeys(log);
  return extends;
}

Status Outbox::TakeTask(const log::Log& log, Ordinal event) {
  ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
  const auto* task = std::get_if<protocol::Task>(&found.payload);
  if (task == nullptr) return {};
  if (task->phase == protocol::phase::kStart) {
    Started& started = started_[task->task_id];
    started = Started();
    if (task->tool_call_id)
      started.called_at = CalledAt(log.index(), log.index().entries()[event].parent);
    return {};
  }
  if (!task->ends()) return {};
  ends_.push_back(
      {.task_id = task->task_id, .event = event, .key = Key::TextHash(Carrying(*task).Key())});
  if (Concerns(task->task_id))
    due_.push_back({.event = event, .key = ends_.back().key, .is_task = true});
  return {};
}

/// What is paid by what the path has been extended with. The events that owe it have been looked
/// at.
void Outbox::TakeKeys(const log::Log& log) {
  const std::vector<Key>& keys = log.index().keys();
  for (; next_key_ < keys.size(); ++next_key_) {
    const Key& key = keys[next_key_];
    if (key.kind == Key::kOwed)
      due_.push_back({.event = key.event, .key = key.text_hash()});
    else if (key.kind == Key::kPaid)
      std::erase_if(due_, [&](const Due& due) {
        return due.key == key.text_hash() && due.event < key.event;
      });
  }
}

/// Of all events, for the path to the leaf as it is now.
void Outbox::Rebuild(const log::Log& log) {
  const log::Index& index = log.index();
  std::unordered_set<Ordinal> wanted;
  std::unordered_multimap<std::uint64_t, Ordinal> paid;
  for (const auto& [id, started] : started_) {
    if (started.called_at != log::kNone) wanted.insert(started.called_at);
  }
  due_.clear();
  for (const Key& key : index.keys()) {
    if (key.kind == Key::kOwed) due_.push_back({.event = key.event, .key = key.text_hash()});
    if (key.kind == Key::kPaid) {
      paid.emplace(key.text_hash(), key.event);
      wanted.insert(key.event);
    }
  }
  const std::unordered_set<Ordinal> on_path = OnPath(index, leaf_, wanted);
  for (auto& [id, started] : started_)
    started.on_path = started.called_at == log::kNone || on_path.contains(started.called_at);
  std::erase_if(due_, [&](const Due& due) { return paid.contains(due.key); });
  for (const End& end : ends_) {
    const auto started = started_.find(end.task_id);
    const bool by_call = started != started_.end() && started->second.called_at != log::kNone;
    const auto [from, to] = paid.equal_range(end.key);
    const bool told = std::any_of(from, to, [&](const auto& one) {
      return one.second > end.event && (!by_call || on_path.contains(one.second));
    });
    if (!told && Concerns(end.task_id))
      due_.push_back({.event = end.event, .key = end.key, .is_task = true});
  }
  next_key_ = index.keys().size();
}

std::vector<Ordinal> Outbox::due() const {
  std::vector<Ordinal> events;
  for (const Due& due : due_) events.push_back(due.event);
  std::ranges::sort(events);
  return events;
}

std::size_t Outbox::waiting() const {
  return static_cast<std::size_t>(std::ranges::count(due_, false, &Due::is_task));
}

bool Outbox::owes_end() const { return std::ranges::find(due_, true, &Due::is_task) != due_.end(); }

bool Outbox::Concerns(const std::string& task_id) const {
  const auto started = started_.find(task_id);
  return started == started_.end() || started->second.on_path;
}

namespace {

/// The messages that pay, in the making: where they go is known from the one before.
class Payment {
 public:
  Payment(Workbench& bench, const protocol::Stamp& stamp) : bench_(bench), stamp_(stamp) {}

  Status Add(const protocol::Task& end) {
    NewItem item{.kind = item::kRuntimeNotice, .content = TaskNotice(end, bench_.log.blobs())};
    item.carries = Carrying(end);
    return Add(std::move(item));
  }

  Status Add(protocol::Owed owed) {
    protocol::Carried carried;
    carried.owed_id = owed.owed_id;
    if (owed.origin == "extension") {
      protocol::CustomMessage message;
      message.carries.emplace().push_back(std::move(carried));
      message.kind = std::move(owed.kind);
      protocol::TextBlock text;
      text.text = std::move(owed.text);
      message.message.blocks.emplace_back(std::move(text));
      message.data = std::move(owed.data);
      Add(protocol::Payload(std::move(message)));
      merges_ = false;
      return {};
    }
    // Another program may have written it: whatever it says, it is told, and the session goes on.
    NewItem item{.kind = IsItemKind(owed.kind) ? std::string_view(owed.kind) : item::kRuntimeNotice,
                 .origin = IsItemOrigin(owed.origin) ? std::string_view(owed.origin) : "system",
                 .content = SaysNothing(owed.text) ? "(It says nothing.)" : std::move(owed.text)};
    item.by = std::move(owed.by);
    item.carries = std::move(carried);
    return Add(std::move(item));
  }

  void Add(protocol::Payload payload) {
    batch_.push_back({.payload = std::move(payload), .id = "", .stamp = stamp_});
  }

  Status Append() {
    if (batch_.empty()) return {};
    RETURN_IF_ERROR(bench_.log.Append(std::move(batch_)));
    return bench_.outbox.Update(bench_.log);
  }

 private:
  Status Add(NewItem item) {
    if (!merges_) {
      ASSIGN_OR_RETURN(merges_, MayMerge(bench_.log));
    }
    ASSIGN_OR_RETURN(protocol::HarnessItem event, MakeItem(std::move(item), *merges_));
    Add(protocol::Payload(std::move(event)));
    return {};
  }

  Workbench& bench_;
  const protocol::Stamp& stamp_;
  std::optional<bool> merges_;  // Absent: not looked at yet.
  std::vector<log::Draft> batch_;
};

std::string Cut(std::string text) {
  if (text.size() <= Outbox::kMaxTextBytes) return text;
  const std::size_t bytes = text.size();
  text.resize(Utf8PrefixLength(text, Outbox::kMaxTextBytes));
  return text += fmt::format("\n[{} more bytes were left out]", bytes - text.size());
}

}  // namespace

namespace {

Result<bool> WaitsAlready(const Workbench& bench, const protocol::Owed& wanted) {
  if (bench.outbox.waiting() == 0) return false;
  for (const Ordinal at : bench.outbox.due()) {
    ASSIGN_OR_RETURN(const protocol::Event event, bench.log.EventAt(at));
    const auto* owed = std::get_if<protocol::Owed>(&event.payload);
    if (owed != nullptr && owed->origin == wanted.origin && owed->kind == wanted.kind &&
        owed->by == wanted.by && owed->text == wanted.text && owed->data == wanted.data)
      return true;
  }
  return false;
}

}  // namespace

Result<std::optional<protocol::Payload>> OwedEvent(Workbench& bench, NewOwed owed) {
  if (owed.origin != "extension" && SaysNothing(owed.text)) return std::nullopt;
  RETURN_IF_ERROR(bench.outbox.Update(bench.log));
  protocol::Owed event;
  event.owed_id = protocol::NewOwedId(ProcessRandom());
  event.origin = owed.origin;
  event.kind = std::move(owed.kind);
  event.by = std::move(owed.by);
  event.text = Cut(std::move(owed.text));
  event.data = std::move(owed.data);
  ASSIGN_OR_RETURN(const bool waits, WaitsAlready(bench, event));
  if (waits) return std::nullopt;
  if (bench.outbox.waiting() >= Outbox::kMaxWaiting) {
    PublishNotice(bench.log, event.by.value_or(event.kind),
                  fmt::format("the model is not told what it says: {} things wait to be told "
                              "already",
                              Outbox::kMaxWaiting));
    return std::nullopt;
  }
  return event;
}

Status Owe(Workbench& bench, NewOwed owed, const protocol::Stamp& stamp) {
  ASSIGN_OR_RETURN(std::optional<protocol::Payload> event, OwedEvent(bench, std::move(owed)));
  return event ? AppendEvent(bench.log, *std::move(event), stamp) : Status();
}

Status PayOwed(Workbench& bench, const protocol::Stamp& stamp) {
  RETURN_IF_ERROR(bench.outbox.Update(bench.log));
  if (bench.outbox.empty()) return {};
  Payment payment(bench, stamp);
  for (const Ordinal at : bench.outbox.due()) {
    ASSIGN_OR_RETURN(protocol::Event event, bench.log.EventAt(at));
    if (const auto* end = std::get_if<protocol::Task>(&event.payload))
      RETURN_IF_ERROR(payment.Add(*end));
    else if (auto* owed = std::get_if<protocol::Owed>(&event.payload))
      RETURN_IF_ERROR(payment.Add(std::move(*owed)));
  }
  return payment.Append();
}

Result<bool> OwesNotice(Workbench& bench) {
  RETURN_IF_ERROR(bench.outbox.Update(bench.log));
  for (const Ordinal at : bench.outbox.due()) {
    ASSIGN_OR_RETURN(const protocol::Event event, bench.log.EventAt(at));
    if (std::holds_alternative<protocol::Task>(event.payload)) return true;
    // An event that cannot be read cannot be told, and must not keep the turn going for ever.
    const auto* owed = std::get_if<protocol::Owed>(&event.payload);
    if (owed != nullptr && (owed->origin == "user" || owed->origin == "system")) return true;
  }
  return false;
}

Status AppendTaskEnd(Workbench& bench, const protocol::Task& end, bool tells,
                     const protocol::Stamp& stamp) {
  RETURN_IF_ERROR(bench.outbox.Update(bench.log));
  Payment batch(bench, stamp);
  batch.Add(protocol::Payload(end));
  if (tells && bench.outbox.Concerns(end.task_id)) RETURN_IF_ERROR(batch.Add(end));
  return batch.Append();
}

std::string TaskNotice(const protocol::Task& end, const log::Blobs& blobs) {
  const std::string what = end.kind == "shell" ? "command" : end.kind;
  return fmt::format("The background {} {}", what, TaskEnding(end, blobs));
}

std::string TaskEnding(const protocol::Task& end, const log::Blobs& blobs) {
  std::string how;
  if (end.phase == protocol::phase::kLost)
    how = "was lost when stet was stopped";
  else if (end.status == "timed_out")
    how = "was stopped at its timeout";
  else if (end.status == "killed" && end.by == "person")
    how = "was stopped by the user";
  else if (end.status == "killed")
    how = "was stopped";
  else if (end.exit)
    how = fmt::format("has ended (exit code {})", *end.exit);
  else if (end.signal)
    how = fmt::format("has ended (signal {})", *end.signal);
  else
    how = "could not be started";
  std::string ending = fmt::format("{} {}.", end.task_id, how);
  if (!end.tail) return ending;
  const Result<std::string> tail = blobs.Get(*end.tail);
  return ending + (tail ? " Its output ends with:\n" + *tail
                        : " The end of its output can no longer be read.");
}

}  // namespace stet::agent
