// Log, opening: creates a log, or folds what is there, mends its end, and records the opening.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "base/version.h"
#include "log/impl.h"
#include "log/line.h"
#include "log/recover.h"
#include "log/summary.h"
#include "log/unborn.h"

namespace stet::log {

// The opening's own events: the next epoch, then every damage that no gap names yet.
Status Log::Impl::RecordOpening(bool header_lost) {
  protocol::Opened opened;
  opened.epoch = index.state().epoch + 1;
  opened.device_id = options.device_id;
  opened.pid = ::getpid();
  opened.version = ProgramVersion();
  RETURN_IF_ERROR(AppendOwn(opened));
  const std::vector<Damage> damages = index.damages();
  for (const Damage& damage : damages) {
    if (damage.recorded != 0) continue;
    RETURN_IF_ERROR(CopyAside(paths, commit->fd(), damage));
    protocol::Gap gap;
    gap.offset = static_cast<std::int64_t>(damage.offset);
    gap.length = static_cast<std::int64_t>(damage.length);
    gap.id = LostId(commit->fd(), damage);
    if (damage.bridge != kNone) {
      // For people; a bridge that is damaged itself is named by its own gap.
      if (const Result<protocol::Event> bridge = EventAt(damage.bridge))
        gap.bridged_to = bridge->id;
    }
    if (damage.offset == 0 && header_lost) gap.header = header;
    header_lost = header_lost && damage.offset != 0;
    RETURN_IF_ERROR(AppendOwn(std::move(gap)));
  }
  if (header_lost) {
    protocol::Gap gap;
    gap.header = header;
    RETURN_IF_ERROR(AppendOwn(std::move(gap)));
  }
  return commit->SyncTo(end);
}

Result<std::unique_ptr<Log>> Log::Create(const std::string& dir, protocol::Header header,
                                         Options options) {
  auto impl = std::make_unique<Impl>();
  impl->paths = {dir};
  options.mode = Mode::kWrite;
  impl->options = std::move(options);
  RETURN_IF_ERROR(MakeDirs(dir));
  ASSIGN_OR_RETURN(impl->lock, FileLock::Acquire(impl->paths.lock()));
  if (IsUnborn(impl->paths) && Exists(impl->paths.events()))
    RETURN_IF_ERROR(Remove(impl->paths.events()));
  header.version = protocol::kLogVersion;
  if (header.created_at == 0) header.created_at = impl->clock().Now();
  std::string line = Encode(header);
  SealLine(line, 0);
  ASSIGN_OR_RETURN(Fd fd,
                   OpenFile(impl->paths.events(), O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0600));
  impl->Adopt(std::move(fd));
  impl->header = std::move(header);
  impl->first_line_hash = FastHash(std::string_view(line).substr(0, line.size() - 1));
  impl->buffer = std::move(line);
  RETURN_IF_ERROR(impl->WriteBuffer());
  impl->index.BeginLine();
  impl->index.set_bytes(impl->end);
  RETURN_IF_ERROR(impl->RecordOpening(/*header_lost=*/false));
  RETURN_IF_ERROR(SyncDir(dir));
  RETURN_IF_ERROR(SyncDir(ParentDir(dir)));
  if (Result<IndexFile> file = IndexFile::Open(impl->paths.index(), impl->first_line_hash, {})) {
    impl->index_file = *std::move(file);
  }
  return std::unique_ptr<Log>(new Log(std::move(impl)));
}

Result<std::unique_ptr<Log>> Log::Open(const std::string& dir, Options options) {
  auto impl = std::make_unique<Impl>();
  impl->paths = {dir};
  impl->options = std::move(options);
  const bool writing = impl->options.mode == Mode::kWrite;
  if (const Result<std::uint64_t> log_bytes = PlainFileSize(impl->paths.events()); !log_bytes)
    return std::unexpected(
        Error(log_bytes.error()).While("opening session " + std::string(impl->paths.session_id())));
  if (writing) {
    ASSIGN_OR_RETURN(impl->lock, FileLock::Acquire(impl->paths.lock()));
  }
  ASSIGN_OR_RETURN(Fd fd,
                   OpenPlainFile(impl->paths.events(), writing ? O_RDWR | O_APPEND : O_RDONLY));
  ASSIGN_OR_RETURN(Scanned scanned, ScanLog(impl->paths, fd.get(), impl->options.use_index));
  if (scanned.header && scanned.header->version > protocol::kLogVersion) {
    return Fail(
        Code::kTooNew,
        fmt::format(
            "session {} has format version {}, this program reads up to {}: use a newer stet",
            impl->paths.session_id(), scanned.header->version, protocol::kLogVersion));
  }
  const SessionState& state = scanned.index.state();
  if (writing && !state.needs_newer.empty()) {
    return Fail(Code::kTooNew, fmt::format("the session holds an event of type \"{}\", which "
                                           "version {} does not know; stet {} wrote "
                                           "it: use that version or a newer one, or read it only",
                                           state.needs_newer, ProgramVersion(), state.version));
  }
  if (writing) RETURN_IF_ERROR(MendTail(impl->paths, fd.get(), scanned));
  impl->Adopt(std::move(fd));
  impl->first_line_hash = scanned.first_line_hash;
  impl->end = scanned.good_end;
  impl->next_seq = scanned.index.max_seq() + 1;
  impl->index = std::move(scanned.index);
  const bool header_lost = !scanned.header;
  impl->header = header_lost ? RebuildHeader(impl->paths) : *std::move(scanned.header);
  impl->commit->Wrote(impl->end);
  auto log = std::unique_ptr<Log>(new Log(std::move(impl)));
  Impl& self = *log->impl_;
  if (self.index.leaf() != kNone) {
    ASSIGN_OR_RETURN(self.placing.leaf_id, log->IdOf(self.index.leaf()));
    ASSIGN_OR_RETURN(self.placing.open, self.OpenCallsAt(self.index.leaf()));
  }
  if (!writing) return log;
  if (Result<IndexFile> file =
          IndexFile::Open(self.paths.index(), self.first_line_hash, scanned.index_kept)) {
    self.index_file = *std::move(file);
  }
  RETURN_IF_ERROR(self.RecordOpening(header_lost));
  return log;
}

}  // namespace stet::log
