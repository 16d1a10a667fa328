#include "log/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "base/diagnostics.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/version.h"
#include "log/commit.h"
#include "log/index_file.h"
#include "log/publisher.h"
#include "log/recover.h"
#include "log/scan.h"
#include "log/summary.h"
#include "log/tree.h"
#include "protocol/ids.h"

namespace stet::log {
namespace {

using protocol::Flush;

/// The index file follows the log in groups of so many events; a crash costs a scan of at most these.
constexpr std::size_t kIndexGroup = 512;

/// The calls that wait for a result at the end of `path`, by reading the step's assistant message.
Result<std::vector<OpenCall>> OpenCallsAt(const Log& log, Ordinal leaf) {
  const std::vector<Entry>& entries = log.index().entries();
  if (leaf == kNone || entries[leaf].open == 0) return std::vector<OpenCall>();
  std::vector<std::string> answered;
  Ordinal at = leaf;
  while (at != kNone && entries[at].type == protocol::TypeNumberOf<protocol::ToolResult>()) {
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) answered.push_back(result->tool_call_id);
    at = entries[at].parent;
  }
  std::vector<OpenCall> open;
  if (at == kNone) return open;
  ASSIGN_OR_RETURN(protocol::Event event, log.EventAt(at));
  Placing step;
  RETURN_IF_ERROR(step.Place(event));
  for (OpenCall& call : step.open) {
    if (std::ranges::find(answered, call.tool_call_id) == answered.end()) open.push_back(std::move(call));
  }
  return open;
}

}  // namespace

struct Log::Impl {
  Paths paths;
  Options options;
  std::optional<FileLock> lock;
  std::shared_ptr<Commit> commit;  // Owns the file.
  std::shared_ptr<Blobs> blobs;
  protocol::Header header;
  std::uint64_t first_line_hash = 0;
  std::optional<IndexFile> index_file;
  Publisher publisher;

  std::mutex mutex;  // Guards what follows while the log is open for writing.
  Index index;
  Placing placing;
  std::uint64_t next_seq = 1;
  std::uint64_t end = 0;  // The file's good bytes.
  bool closed = false;
  std::string buffer;

  [[nodiscard]] Clock& clock() const { return options.clock != nullptr ? *options.clock : SystemClock(); }
  [[nodiscard]] Random& random() const { return options.random != nullptr ? *options.random : ProcessRandom(); }

  void Adopt(Fd fd) {
    blobs = std::make_shared<Blobs>(paths.blobs());
    commit = std::make_shared<Commit>(std::move(fd), [blobs = blobs] { return blobs->Sync(); });
  }

  Status CheckWritable() {
    if (options.mode == Mode::kRead || closed) return Fail(Code::kDenied, "the log is not open for writing");
    if (std::optional<Error> failure = commit->failure()) return std::unexpected(*std::move(failure));
    return {};
  }

  Status CheckDraft(const protocol::Payload& payload) const;
  void Stamp(Draft& draft, protocol::Event& event);
  Result<Appended> AppendLocked(std::vector<Draft>& batch, bool* must_flush);
  Status WriteBuffer();
  Status Settle(const Appended& appended, bool must_flush, std::uint64_t batch_end);
  Result<Appended> AppendControl(Draft draft);
  void KeepIndex();
  Status RecordOpening();
};

Status Log::Impl::CheckDraft(const protocol::Payload& payload) const {
  if (const auto* user = std::get_if<protocol::UserMessage>(&payload)) {
    if (user->queue_item_id && index.FindKey(Key::kQueueItem, *user->queue_item_id)) {
      return Fail(Code::kConflict, fmt::format("queue item {} has been sent already", *user->queue_item_id));
    }
    // A queued message carries the id that its queue_update already holds.
    if (user->client_message_id && !user->queue_item_id &&
        index.FindKey(Key::kClientMessage, *user->client_message_id)) {
      return Fail(Code::kConflict, fmt::format("message {} has been accepted already", *user->client_message_id));
    }
  }
  return {};
}

void Log::Impl::Stamp(Draft& draft, protocol::Event& event) {
  event.id = draft.id.empty() ? protocol::NewEventId(random()) : std::move(draft.id);
  event.stamp = std::move(draft.stamp);
  if (event.stamp.ts == 0) event.stamp.ts = clock().Now();
  if (event.stamp.client_id.empty()) event.stamp.client_id = options.client_id;
  event.payload = std::move(draft.payload);
}

Result<Appended> Log::Impl::AppendLocked(std::vector<Draft>& batch, bool* must_flush) {
  RETURN_IF_ERROR(CheckWritable());
  Placing next = placing;
  Appended appended{.first_seq = next_seq};
  std::vector<protocol::Event> events(batch.size());
  std::vector<std::size_t> starts;
  buffer.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    protocol::Event& event = events[i];
    RETURN_IF_ERROR(CheckDraft(batch[i].payload));
    Stamp(batch[i], event);
    event.seq = next_seq + i;
    RETURN_IF_ERROR(next.Place(event));
    starts.push_back(buffer.size());
    protocol::EncodeEvent(event, buffer);
    SealLine(buffer, starts.back());
    if (buffer.size() - starts.back() > kMaxLineBytes) {
      return Fail(Code::kInvalid, fmt::format("an event of {} bytes is too large: put its content in a blob",
                                              buffer.size() - starts.back()));
    }
    appended.ids.push_back(event.id);
    const Flush flush = protocol::FlushOf(event.payload);
    *must_flush |= flush == Flush::kAlways || (flush == Flush::kSync && options.durability == Durability::kStrict);
  }
  const std::uint64_t batch_start = end;
  RETURN_IF_ERROR(WriteBuffer());
  placing = std::move(next);
  next_seq += batch.size();
  appended.last_seq = next_seq - 1;
  const bool listening = publisher.listening();
  bool sync_soon = false;
  starts.push_back(buffer.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string_view line = std::string_view(buffer).substr(starts[i], starts[i + 1] - starts[i] - 1);
    index.BeginLine();
    index.AddLine(line, batch_start + starts[i], /*trusted=*/true);
    const Flush flush = protocol::FlushOf(events[i].payload);
    sync_soon |= flush != Flush::kLazy;
    if (!listening) continue;
    const bool waits = *must_flush && flush != Flush::kLazy;
    publisher.Add(std::move(events[i]), std::string(line), waits ? batch_start + starts[i + 1] : 0);
  }
  if (sync_soon && !*must_flush) commit->SyncSoon();
  KeepIndex();
  return appended;
}

// One write; what does not fit is taken back.
Status Log::Impl::WriteBuffer() {
  if (Status written = WriteAll(commit->fd(), buffer); !written) {
    if (::ftruncate(commit->fd(), static_cast<off_t>(end)) != 0) {
      commit->Fail(Error(Code::kIo, SystemError(errno, "taking a failed write back failed; the log is read-only now").message));
    }
    if (written.error().code == Code::kFull) {
      return Fail(Code::kFull, written.error().message + ": nothing was added; make room, the next append tries again");
    }
    commit->Fail(Error(Code::kIo, written.error().message + "; the log is read-only now"));
    return written;
  }
  end += buffer.size();
  commit->Wrote(end);
  return {};
}

// A missing index costs time at the next opening, never data: failures are only noted.
void Log::Impl::KeepIndex() {
  if (!index_file || index_file->Behind(index) < kIndexGroup) return;
  if (const Status kept = index_file->Append(index, commit->fd()); !kept) {
    STET_LOG(kWarn, "session {}: {}", header.session_id, kept.error().Text());
  }
}

Status Log::Impl::Settle(const Appended&, bool must_flush, std::uint64_t batch_end) {
  if (must_flush) RETURN_IF_ERROR(commit->SyncTo(batch_end));
  publisher.Drain(commit->flushed());
  return {};
}

Result<Appended> Log::Impl::AppendControl(Draft draft) {
  std::vector<Draft> batch;
  batch.push_back(std::move(draft));
  bool must_flush = false;
  return AppendLocked(batch, &must_flush);
}

// The opening's own events: the next epoch, then every damage that no gap names yet.
Status Log::Impl::RecordOpening() {
  protocol::Opened opened;
  opened.epoch = index.state().epoch + 1;
  opened.device_id = options.device_id;
  opened.pid = ::getpid();
  opened.version = ProgramVersion();
  RETURN_IF_ERROR(AppendControl({.payload = opened, .id = "", .stamp = {}}));
  bool header_lost = header.session_id.empty();
  if (header_lost) header = RebuildHeader(paths);
  const std::vector<Damage> damages = index.damages();
  for (const Damage& damage : damages) {
    if (damage.recorded != 0) continue;
    RETURN_IF_ERROR(CopyAside(paths, commit->fd(), damage));
    protocol::Gap gap;
    gap.offset = static_cast<std::int64_t>(damage.offset);
    gap.length = static_cast<std::int64_t>(damage.length);
    gap.id = LostId(commit->fd(), damage);
    if (damage.offset == 0 && header_lost) gap.header = header;
    header_lost = header_lost && damage.offset != 0;
    RETURN_IF_ERROR(AppendControl({.payload = std::move(gap), .id = "", .stamp = {}}));
  }
  if (header_lost) {
    protocol::Gap gap;
    gap.header = header;
    RETURN_IF_ERROR(AppendControl({.payload = std::move(gap), .id = "", .stamp = {}}));
  }
  return commit->SyncTo(end);
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::~Log() { (void)Close(); }

Result<std::unique_ptr<Log>> Log::Create(const std::string& dir, protocol::Header header, Options options) {
  auto impl = std::make_unique<Impl>();
  impl->paths = {dir};
  options.mode = Mode::kWrite;
  impl->options = std::move(options);
  RETURN_IF_ERROR(MakeDirs(dir));
  ASSIGN_OR_RETURN(impl->lock, FileLock::Acquire(impl->paths.lock()));
  header.version = protocol::kLogVersion;
  if (header.created_at == 0) header.created_at = impl->clock().Now();
  std::string line = Encode(header);
  SealLine(line, 0);
  ASSIGN_OR_RETURN(Fd fd, OpenFile(impl->paths.events(), O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0600));
  impl->Adopt(std::move(fd));
  impl->header = std::move(header);
  impl->first_line_hash = FastHash(std::string_view(line).substr(0, line.size() - 1));
  impl->buffer = std::move(line);
  RETURN_IF_ERROR(impl->WriteBuffer());
  impl->index.BeginLine();
  impl->index.set_bytes(impl->end);
  RETURN_IF_ERROR(impl->RecordOpening());
  RETURN_IF_ERROR(SyncDir(dir));
  RETURN_IF_ERROR(SyncDir(ParentDir(dir)));
  if (Result<IndexFile> file = IndexFile::Open(impl->paths.index(), impl->first_line_hash, 0, impl->index)) {
    impl->index_file = *std::move(file);
  }
  return std::unique_ptr<Log>(new Log(std::move(impl)));
}

Result<std::unique_ptr<Log>> Log::Open(const std::string& dir, Options options) {
  auto impl = std::make_unique<Impl>();
  impl->paths = {dir};
  impl->options = std::move(options);
  const bool writing = impl->options.mode == Mode::kWrite;
  const Result<FileStat> stat = StatFile(impl->paths.events());
  if (!stat) return std::unexpected(Error(stat.error()).While("opening session " + std::string(impl->paths.session_id())));
  if (stat->is_dir) return Fail(Code::kInvalid, impl->paths.events() + " is a directory, not a log");
  if (writing) {
    ASSIGN_OR_RETURN(impl->lock, FileLock::Acquire(impl->paths.lock()));
  }
  ASSIGN_OR_RETURN(Fd fd, OpenFile(impl->paths.events(), writing ? O_RDWR | O_APPEND : O_RDONLY));
  ASSIGN_OR_RETURN(Scanned scanned, ScanLog(impl->paths, fd.get(), impl->options.use_index));
  const SessionState& state = scanned.index.state();
  if (writing && !state.needs_newer.empty()) {
    return Fail(Code::kTooNew, fmt::format("the session holds an event of type \"{}\", which version {} does not know; stet {} wrote "
                                           "it: use that version or a newer one, or read it only",
                                           state.needs_newer, ProgramVersion(), state.version));
  }
  if (writing) RETURN_IF_ERROR(MendTail(impl->paths, fd.get(), scanned));
  impl->Adopt(std::move(fd));
  impl->first_line_hash = scanned.first_line_hash;
  impl->end = scanned.good_end;
  impl->next_seq = scanned.index.max_seq() + 1;
  impl->index = std::move(scanned.index);
  if (scanned.header) impl->header = *std::move(scanned.header);
  else if (!writing) impl->header = RebuildHeader(impl->paths);
  impl->commit->Wrote(impl->end);
  auto log = std::unique_ptr<Log>(new Log(std::move(impl)));
  Impl& self = *log->impl_;
  if (self.index.leaf() != kNone) {
    ASSIGN_OR_RETURN(self.placing.leaf_id, log->IdOf(self.index.leaf()));
    ASSIGN_OR_RETURN(self.placing.open, OpenCallsAt(*log, self.index.leaf()));
  }
  if (!writing) return log;
  if (Result<IndexFile> file = IndexFile::Open(self.paths.index(), self.first_line_hash, scanned.index_kept, self.index)) {
    self.index_file = *std::move(file);
  }
  RETURN_IF_ERROR(self.RecordOpening());
  return log;
}

Result<Appended> Log::Append(std::vector<Draft> batch) {
  if (batch.empty()) return Appended{};
  for (const Draft& draft : batch) {
    const auto own_way = [&]<class T>() { return std::holds_alternative<T>(draft.payload); };
    if (own_way.operator()<protocol::Rewind>() || own_way.operator()<protocol::Branch>() ||
        own_way.operator()<protocol::Opened>() || own_way.operator()<protocol::Gap>()) {
      return Fail(Code::kInvalid, fmt::format("{} has its own way into the log", protocol::TypeName(draft.payload)));
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
  RETURN_IF_ERROR(impl_->Settle(*appended, must_flush, batch_end));
  return appended;
}

Result<Appended> Log::Rewind(const std::optional<std::string>& target, const std::optional<std::string>& expected_leaf) {
  std::unique_lock lock(impl_->mutex);
  RETURN_IF_ERROR(impl_->CheckWritable());
  if (expected_leaf != impl_->placing.leaf_id) {
    return Fail(Code::kConflict, fmt::format("the session moved on: its leaf is {}", impl_->placing.leaf_id.value_or("(none)")));
  }
  protocol::Rewind rewind;
  rewind.expected_leaf_id = expected_leaf;
  if (target) {
    ASSIGN_OR_RETURN(const Ordinal event, Find(*target));
    ASSIGN_OR_RETURN(const Ordinal rest, RestPointOf(impl_->index, event));
    ASSIGN_OR_RETURN(rewind.target_event_id, IdOf(rest));
  }
  ASSIGN_OR_RETURN(Appended appended, impl_->AppendControl({.payload = rewind, .id = "", .stamp = {}}));
  impl_->placing = {rewind.target_event_id, {}};
  const std::uint64_t end = impl_->end;
  lock.unlock();
  RETURN_IF_ERROR(impl_->Settle(appended, true, end));
  return appended;
}

Result<Appended> Log::Branch(const std::string& leaf, const std::optional<std::string>& expected_leaf) {
  std::unique_lock lock(impl_->mutex);
  RETURN_IF_ERROR(impl_->CheckWritable());
  if (expected_leaf != impl_->placing.leaf_id) {
    return Fail(Code::kConflict, fmt::format("the session moved on: its leaf is {}", impl_->placing.leaf_id.value_or("(none)")));
  }
  ASSIGN_OR_RETURN(const Ordinal event, Find(leaf));
  if (!impl_->index.entries()[event].in_tree() || !Tree(impl_->index).Children(event).empty()) {
    return Fail(Code::kInvalid, fmt::format("{} is not a leaf: `stet sessions tree` shows them; to go back to it, rewind", leaf));
  }
  protocol::Branch branch;
  branch.leaf_event_id = leaf;
  branch.expected_leaf_id = expected_leaf;
  ASSIGN_OR_RETURN(Appended appended, impl_->AppendControl({.payload = branch, .id = "", .stamp = {}}));
  impl_->placing.leaf_id = leaf;
  ASSIGN_OR_RETURN(impl_->placing.open, OpenCallsAt(*this, event));
  const std::uint64_t end = impl_->end;
  lock.unlock();
  RETURN_IF_ERROR(impl_->Settle(appended, true, end));
  return appended;
}

std::uint64_t Log::Publish(protocol::TransientPayload payload) {
  protocol::Transient transient;
  transient.ts = impl_->clock().Now();
  transient.client_id = impl_->options.client_id;
  transient.transient = std::move(payload);
  std::uint64_t seq = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    seq = transient.seq = impl_->next_seq++;
    impl_->publisher.Add(std::move(transient));
  }
  impl_->publisher.Drain(impl_->commit->flushed());
  return seq;
}

Subscription Log::Subscribe(Subscriber subscriber) { return impl_->publisher.Subscribe(std::move(subscriber)); }

Status Log::Read(std::uint64_t from, const std::function<bool(const Entry&, std::string_view line)>& visit) const {
  const std::vector<Entry>& entries = impl_->index.entries();
  // Seq grows but for damage, so everything asked for stands behind the first entry that is not smaller.
  const auto first = std::ranges::find_if(entries, [&](const Entry& entry) { return entry.seq >= from; });
  if (first == entries.end()) return {};
  std::size_t next = static_cast<std::size_t>(first - entries.begin());
  LineScanner scanner(impl_->commit->fd(), first->offset, impl_->end);
  ScannedLine line;
  while (next < entries.size()) {
    ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
    if (!any) return {};
    const std::uint64_t line_end = line.offset + line.text.size();
    for (; next < entries.size() && entries[next].offset < line_end; ++next) {
      const Entry& entry = entries[next];
      const std::string_view text = line.text.substr(entry.offset - line.offset, entry.length);
      if (entry.seq < from || !CheckLine(text)) continue;
      if (!visit(entry, text)) return {};
    }
  }
  return {};
}

Result<std::string> Log::LineAt(Ordinal event) const {
  const Entry& entry = impl_->index.entries()[event];
  std::string line(entry.length, '\0');
  RETURN_IF_ERROR(PreadExact(impl_->commit->fd(), line.data(), line.size(), entry.offset));
  if (!CheckLine(line)) {
    return Fail(Code::kCorrupt, fmt::format("the event at byte {} is damaged: `stet sessions repair {}` sets it aside", entry.offset,
                                            impl_->paths.session_id()));
  }
  return line;
}

Result<protocol::Event> Log::EventAt(Ordinal event) const {
  ASSIGN_OR_RETURN(const std::string line, LineAt(event));
  return protocol::DecodeEvent(line);
}

Result<std::string> Log::IdOf(Ordinal event) const {
  ASSIGN_OR_RETURN(const std::string line, LineAt(event));
  ASSIGN_OR_RETURN(protocol::Event decoded, protocol::DecodeEvent(line));
  return std::move(decoded.id);
}

Result<Ordinal> Log::Find(std::string_view id) const {
  const std::optional<Ordinal> found = impl_->index.Find(id);
  if (!found) return Fail(Code::kNotFound, fmt::format("session {} has no event {}", impl_->paths.session_id(), id));
  ASSIGN_OR_RETURN(const std::string actual, IdOf(*found));
  if (actual != id) return Fail(Code::kNotFound, fmt::format("session {} has no event {}", impl_->paths.session_id(), id));
  return *found;
}

Status Log::Close() {
  const std::lock_guard lock(impl_->mutex);
  if (std::exchange(impl_->closed, true) || impl_->options.mode == Mode::kRead) return {};
  const Status flushed = impl_->commit->SyncTo(impl_->end);
  impl_->publisher.Drain(impl_->commit->flushed());
  if (impl_->index_file && impl_->index_file->Behind(impl_->index) > 0) {
    if (const Status kept = impl_->index_file->Append(impl_->index, impl_->commit->fd()); !kept) {
      STET_LOG(kWarn, "session {}: {}", impl_->header.session_id, kept.error().Text());
    }
  }
  if (const Status kept = WriteSummary(impl_->paths, MakeSummary(impl_->header, impl_->index)); !kept) {
    STET_LOG(kWarn, "session {}: {}", impl_->header.session_id, kept.error().Text());
  }
  impl_->lock.reset();
  return flushed;
}

const Index& Log::index() const { return impl_->index; }
const protocol::Header& Log::header() const { return impl_->header; }
const Paths& Log::paths() const { return impl_->paths; }
Blobs& Log::blobs() { return *impl_->blobs; }
std::int64_t Log::epoch() const { return impl_->index.state().epoch; }
std::uint64_t Log::last_seq() const { return impl_->next_seq - 1; }
const std::optional<std::string>& Log::leaf_id() const { return impl_->placing.leaf_id; }
const std::vector<OpenCall>& Log::open_calls() const { return impl_->placing.open; }
std::uint64_t Log::flush_count() const { return impl_->commit->flush_count(); }

}  // namespace stet::log
