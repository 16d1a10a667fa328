// Log, writing: a batch is checked, placed, encoded and written in one go, then flushed and
// published.
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "json/json.h"
#include "log/impl.h"
#include "log/line.h"
#include "log/tree.h"
#include "protocol/ids.h"

namespace stet::log {
namespace {

using protocol::Flush;

/// The index file follows the log in groups of so many events; a crash costs a scan of at most
/// these.
constexpr std::size_t kIndexGroup = 512;

/// An event that could not be read back would be lost although it was acknowledged: raw members are
/// the caller's.
Status CheckEncoded(std::string_view object) {
  if (object.size() > kMaxLineBytes) {
    return Fail(
        Code::kInvalid,
        fmt::format("an event of {} bytes is too large: put its content in a blob", object.size()));
  }
  if (object.find('\n') != std::string_view::npos || !IsValidUtf8(object))
    return Fail(Code::kInvalid, "a raw member holds a line break or bytes that are not UTF-8");
  const Status json = CheckJson(object);
  return json ? json : std::unexpected(Error(json.error()).While("a raw member is not JSON"));
}

}  // namespace

Status Log::Impl::CheckPaid(const protocol::OptionalCarries& carries) const {
  if (!carries) return {};
  for (const protocol::Carried& one : *carries) {
    if (one.owed_id && index.FindKey(Key::kPaid, *one.owed_id))
      return Fail(Code::kConflict, fmt::format("{} has been told already", *one.owed_id));
  }
  return {};
}

Status Log::Impl::CheckDraft(const protocol::Payload& payload) const {
  if (const auto* item = std::get_if<protocol::HarnessItem>(&payload))
    return CheckPaid(item->carries);
  if (const auto* message = std::get_if<protocol::CustomMessage>(&payload))
    return CheckPaid(message->carries);
  if (const auto* user = std::get_if<protocol::UserMessage>(&payload)) {
    if (user->queue_item_id && index.FindKey(Key::kQueueItem, *user->queue_item_id)) {
      return Fail(Code::kConflict,
                  fmt::format("queue item {} has been sent already", *user->queue_item_id));
    }
    // A queued message carries the id that its queue_update already holds.
    if (user->client_message_id && !user->queue_item_id &&
        index.FindKey(Key::kClientMessage, *user->client_message_id)) {
      return Fail(Code::kConflict,
                  fmt::format("message {} has been accepted already", *user->client_message_id));
    }
  }
  return {};
}

void Log::Impl::Stamp(Draft& draft, protocol::Event& event) {
  event.id = draft.id.empty() ? protocol::NewEventId(random()) : std::move(draft.id);
  event.stamp = std::move(draft.stamp);
  if (event.stamp.ts == 0) event.stamp.ts = clock().Now();
  if (event.stamp.client_id.empty()) event.stamp.client_id = options.client_id;
  if (!event.stamp.agent_id) event.stamp.agent_id = header.agent_id;
  event.payload = std::move(draft.payload);
}

// Nothing of the log changes here: a batch that breaks a rule leaves no trace.
Status Log::Impl::Encode(std::vector<Draft>& drafts, Batch& batch) {
  batch.placing = placing;
  batch.events.resize(drafts.size());
  buffer.clear();
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    protocol::Event& event = batch.events[i];
    RETURN_IF_ERROR(CheckDraft(drafts[i].payload));
    Stamp(drafts[i], event);
    event.seq = next_seq + i;
    RETURN_IF_ERROR(batch.placing.Place(event));
    const std::size_t start = buffer.size();
    protocol::EncodeEvent(event, buffer);
    RETURN_IF_ERROR(CheckEncoded(std::string_view(buffer).substr(start)));
    SealLine(buffer, start);
    batch.ends.push_back(buffer.size());
    const Flush flush = protocol::FlushOf(event.payload);
    batch.wants_flush |= flush != Flush::kLazy;
    batch.must_flush |= flush == Flush::kAlways ||
                        (flush == Flush::kSync && options.durability == Durability::kStrict);
  }
  return {};
}

// What is written is folded, and waits for its publication.
Appended Log::Impl::Fold(Batch& batch, std::uint64_t batch_start) {
  Appended appended{.first_seq = next_seq};
  placing = std::move(batch.placing);
  next_seq += batch.events.size();
  appended.last_seq = next_seq - 1;
  const bool listening = publisher.listening();
  std::size_t start = 0;
  for (std::size_t i = 0; i < batch.events.size(); start = batch.ends[i++]) {
    const std::string_view line = std::string_view(buffer).substr(start, batch.ends[i] - start - 1);
    index.BeginLine();
    index.AddLine(line, batch_start + start, /*trusted=*/true);
    appended.ids.push_back(batch.events[i].id);
    if (!listening) continue;
    const bool waits =
        batch.must_flush && protocol::FlushOf(batch.events[i].payload) != Flush::kLazy;
    publisher.Add(std::move(batch.events[i]), std::string(line),
                  waits ? batch_start + batch.ends[i] : 0);
  }
  return appended;
}

Result<Appended> Log::Impl::AppendLocked(std::vector<Draft>& drafts, bool* must_flush) {
  RETURN_IF_ERROR(CheckWritable());
  Batch batch;
  RETURN_IF_ERROR(Encode(drafts, batch));
  const std::uint64_t batch_start = end;
  RETURN_IF_ERROR(WriteBuffer());
  Appended appended = Fold(batch, batch_start);
  *must_flush = batch.must_flush;
  if (batch.wants_flush && !batch.must_flush) commit->SyncSoon();
  KeepIndex();
  return appended;
}

// One write; what does not fit is taken back.
Status Log::Impl::WriteBuffer() {
  if (Status written = WriteAll(commit->fd(), buffer); !written) {
    if (::ftruncate(commit->fd(), static_cast<off_t>(end)) != 0) {
      commit->Fail(
          Error(Code::kIo,
                SystemError(errno, "taking a failed write back failed; the log is read-only now")
                    .message));
    }
    if (written.error().code == Code::kFull) {
      return Fail(Code::kFull, written.error().message +
                                   ": nothing was added; make room, the next append tries again");
    }
    commit->Fail(Error(Code::kIo, written.error().message + "; the log is read-only now"));
    return written;
  }
  end += buffer.size();
  commit->Wrote(end);
  return {};
}

// A missing index costs time at the next opening, never data: failures are only noted.
void Log::Impl::KeepIndex(bool all) {
  if (met_damage) return;  // It was dropped.
  if (!index_file || index_file->Behind(index) < (all ? 1 : kIndexGroup)) return;
  if (const Status kept = index_file->Append(index, commit->fd()); !kept) {
    STET_LOG(kWarn, "session {}: {}", header.session_id, kept.error().Text());
  }
}

Status Log::Impl::Settle(bool must_flush, std::uint64_t batch_end) {
  if (must_flush) RETURN_IF_ERROR(commit->SyncTo(batch_end));
  publisher.Drain(commit->flushed());
  return {};
}

Result<Appended> Log::Impl::AppendOwn(protocol::Payload payload) {
  std::vector<Draft> batch;
  batch.push_back({.payload = std::move(payload)});
  bool must_flush = false;
  return AppendLocked(batch, &must_flush);
}

Result<Appended> Log::Append(std::vector<Draft> batch) {
  if (batch.empty()) return Appended{};
  for (const Draft& draft : batch) {
    const auto own_way = [&]<class T>() { return std::holds_alternative<T>(draft.payload); };
    if (own_way.operator()<protocol::Rewind>() || own_way.operator()<protocol::Branch>() ||
        own_way.operator()<protocol::Opened>() || own_way.operator()<protocol::Gap>()) {
      return Fail(Code::kInvalid, fmt::format("{} has its own way into the log",
                                              protocol::TypeName(draft.payload)));
    }
  }
  bool must_flush = false;
  std::uint64_t batch_end = 0;
  Result<Appended> appended;
  {
    const std::lock_guard lock(impl_->mutex);
    appended = impl_->AppendLocked(batch, &must_flush);
    batch_end = impl_->end;
  }
  if (!appended) return appended;
  RETURN_IF_ERROR(impl_->Settle(must_flush, batch_end));
  return appended;
}

// The calling lane must have seen the leaf that it moves away from.
Status Log::Impl::CheckLeaf(const std::optional<std::string>& expected) {
  RETURN_IF_ERROR(CheckWritable());
  if (expected == placing.leaf_id) return {};
  return Fail(Code::kConflict, fmt::format("the session moved on: its leaf is {}",
                                           placing.leaf_id.value_or("(none)")));
}

Result<Appended> Log::Impl::MoveLeaf(protocol::Payload move, std::optional<std::string> leaf_id,
                                     std::unique_lock<std::mutex> held) {
  ASSIGN_OR_RETURN(Appended appended, AppendOwn(std::move(move)));
  placing.leaf_id = std::move(leaf_id);
  ASSIGN_OR_RETURN(placing.open, OpenCallsAt(index.leaf()));
  const std::uint64_t written = end;
  held.unlock();
  RETURN_IF_ERROR(Settle(/*must_flush=*/true, written));
  return appended;
}

Result<Appended> Log::Rewind(const std::optional<std::string>& target,
                             const std::optional<std::string>& expected_leaf) {
  std::unique_lock lock(impl_->mutex);
  RETURN_IF_ERROR(impl_->CheckLeaf(expected_leaf));
  protocol::Rewind rewind;
  rewind.expected_leaf_id = expected_leaf;
  if (target) {
    ASSIGN_OR_RETURN(const Ordinal event, Find(*target));
    ASSIGN_OR_RETURN(const Ordinal rest, RestPointOf(impl_->index, event));
    ASSIGN_OR_RETURN(rewind.target_event_id, IdOf(rest));
  }
  return impl_->MoveLeaf(rewind, rewind.target_event_id, std::move(lock));
}

Result<Appended> Log::Branch(const std::string& leaf,
                             const std::optional<std::string>& expected_leaf) {
  std::unique_lock lock(impl_->mutex);
  RETURN_IF_ERROR(impl_->CheckLeaf(expected_leaf));
  ASSIGN_OR_RETURN(const Ordinal event, Find(leaf));
  if (!impl_->index.entries()[event].in_tree() || !Tree(impl_->index).Children(event).empty()) {
    return Fail(
        Code::kInvalid,
        fmt::format("{} is not a leaf: `stet sessions tree` shows them; to go back to it, rewind",
                    leaf));
  }
  protocol::Branch branch;
  branch.leaf_event_id = leaf;
  branch.expected_leaf_id = expected_leaf;
  return impl_->MoveLeaf(branch, leaf, std::move(lock));
}

}  // namespace stet::log
