#include "log/log.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/fs.h"
#include "log/impl.h"
#include "log/line.h"
#include "log/scan.h"
#include "log/summary.h"

namespace stet::log {

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::~Log() { (void)Close(); }

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

Subscription Log::Subscribe(Subscriber subscriber) {
  return impl_->publisher.Subscribe(std::move(subscriber));
}

Status Log::Read(std::uint64_t from,
                 const std::function<bool(const Entry&, std::string_view line)>& visit) const {
  const std::vector<Entry>& entries = impl_->index.entries();
  // Seq grows but for damage, so everything asked for stands behind the first entry that is not
  // smaller.
  const auto first =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry.seq >= from; });
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
      if (entry.offset < line.offset) continue;  // Only a forged index goes back.
      const std::string_view text = line.text.substr(entry.offset - line.offset, entry.length);
      if (entry.seq < from) continue;
      if (!CheckLine(text)) {
        impl_->MeetDamage();
        continue;
      }
      if (!visit(entry, text)) return {};
    }
  }
  return {};
}

void Log::Impl::MeetDamage() const {
  if (met_damage.exchange(true) || options.mode == Mode::kRead) return;
  STET_LOG(kWarn, "session {}: an event is damaged that its index has as good", header.session_id);
  // Ignoring the error on purpose: there may be none, and the event is damaged either way.
  (void)Remove(paths.index());
}

Result<std::string> Log::Impl::LineAt(Ordinal event) const {
  const Entry& entry = index.entries()[event];
  std::string line(entry.length, '\0');
  Status read = PreadExact(commit->fd(), line.data(), line.size(), entry.offset);
  if (!read && read.error().code != Code::kCorrupt) return std::unexpected(std::move(read).error());
  if (read && CheckLine(line)) return line;
  MeetDamage();
  return Fail(Code::kCorrupt,
              fmt::format("the event at byte {} of session {} is damaged: open the session again, "
                          "which sets it aside (as `stet sessions repair` does)",
                          entry.offset, paths.session_id()));
}

Result<protocol::Event> Log::Impl::EventAt(Ordinal event) const {
  ASSIGN_OR_RETURN(const std::string line, LineAt(event));
  return protocol::DecodeEvent(line);
}

Result<std::vector<OpenCall>> Log::Impl::OpenCallsAt(Ordinal leaf) const {
  const std::vector<Entry>& entries = index.entries();
  if (leaf == kNone || entries[leaf].open == 0) return std::vector<OpenCall>();
  std::vector<std::string> answered;
  Ordinal at = leaf;
  while (at != kNone && entries[at].type == protocol::kTypeNumber<protocol::ToolResult>) {
    const Result<protocol::Event> event = EventAt(at);
    const auto* result = event ? std::get_if<protocol::ToolResult>(&event->payload) : nullptr;
    if (result != nullptr) answered.push_back(result->tool_call_id);
    at = entries[at].parent;
  }
  std::vector<OpenCall> open;
  if (at == kNone) return open;
  Result<protocol::Event> event = EventAt(at);
  if (!event) return open;  // Its crc is right, but it is no JSON: there is no call to answer.
  Placing step;
  RETURN_IF_ERROR(step.Place(*event));
  for (OpenCall& call : step.open) {
    if (std::ranges::find(answered, call.tool_call_id) == answered.end())
      open.push_back(std::move(call));
  }
  return open;
}

Result<std::string> Log::LineAt(Ordinal event) const { return impl_->LineAt(event); }
Result<protocol::Event> Log::EventAt(Ordinal event) const { return impl_->EventAt(event); }

Result<std::string> Log::IdOf(Ordinal event) const {
  ASSIGN_OR_RETURN(const std::string line, LineAt(event));
  // The prefix is all that the fold has seen: the rest of the line may be no JSON.
  const std::optional<Prefix> prefix = ReadPrefix(line);
  if (!prefix) {
    impl_->MeetDamage();
    return Fail(Code::kCorrupt, "the index does not fit the log: open the session again");
  }
  const std::string quoted = fmt::format("\"{}\"", prefix->id);
  std::string id;
  return JsonReader(quoted).String(&id) ? id : std::string(prefix->id);
}

Result<Ordinal> Log::Find(std::string_view id) const {
  const std::optional<Ordinal> found = impl_->index.Find(id);
  if (!found)
    return Fail(Code::kNotFound,
                fmt::format("session {} has no event {}", impl_->paths.session_id(), id));
  ASSIGN_OR_RETURN(const std::string actual, IdOf(*found));
  if (actual != id)
    return Fail(Code::kNotFound,
                fmt::format("session {} has no event {}", impl_->paths.session_id(), id));
  return *found;
}

Status Log::Close() {
  const std::lock_guard lock(impl_->mutex);
  if (std::exchange(impl_->closed, true) || impl_->options.mode == Mode::kRead) return {};
  const Status flushed = impl_->commit->SyncTo(impl_->end);
  impl_->publisher.Drain(impl_->commit->flushed());
  impl_->KeepIndex(/*all=*/true);
  if (const Status kept = WriteSummary(impl_->paths, MakeSummary(impl_->header, impl_->index));
      !kept) {
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
bool Log::met_damage() const { return impl_->met_damage; }

Status ReadLog(const std::string& dir, const std::function<Status(Log&)>& work) {
  for (const bool use_index : {true, false}) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Log> log, Log::Open(dir, {.use_index = use_index}));
    Status done = work(*log);
    if (done || done.error().code != Code::kCorrupt || !use_index) return done;
  }
  return {};
}

}  // namespace stet::log
