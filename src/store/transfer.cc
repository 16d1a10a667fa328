#include "store/transfer.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/plain_file.h"
#include "base/random.h"
#include "log/blobs.h"
#include "log/log.h"
#include "log/recover.h"
#include "log/scan.h"
#include "log/unborn.h"
#include "log/verify.h"
#include "protocol/ids.h"
#include "store/intake.h"
#include "store/masked.h"
#include "store/renamed_log.h"
#include "store/staging.h"
#include "store/tar.h"
#include "store/tree_lock.h"
#include "store/verify_tree.h"

namespace stet::store {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{256} << 10;
/// Of stdin, which is kept on the disk until it is taken in.
constexpr std::uint64_t kMaxSpooled = std::uint64_t{8} << 30;

/// Copies `in` to `out`, up to `bytes` from `offset`.
Status CopyBytes(int in, std::uint64_t offset, std::uint64_t bytes, int out) {
  std::string buffer(kCopyBytes, '\0');
  while (bytes > 0) {
    const std::size_t piece = std::min<std::uint64_t>(bytes, buffer.size());
    ASSIGN_OR_RETURN(const std::size_t got, Pread(in, std::span(buffer.data(), piece), offset));
    if (got == 0) return {};
    RETURN_IF_ERROR(WriteAll(out, std::string_view(buffer).substr(0, got)));
    offset += got;
    bytes -= got;
  }
  return {};
}

/// The whole lines of the log as it is now.
Status CopyLog(const log::Paths& from, int out) {
  ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(from.events(), O_RDONLY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  std::uint64_t end = stat.size;
  std::array<char, 4096> tail{};
  while (end > 0) {
    const std::uint64_t start = end > tail.size() ? end - tail.size() : 0;
    ASSIGN_OR_RETURN(const std::size_t got,
                     Pread(fd.get(), std::span(tail.data(), end - start), start));
    const std::size_t lf = std::string_view(tail.data(), got).rfind('\n');
    if (lf != std::string_view::npos) {
      end = start + lf + 1;
      break;
    }
    end = start;
  }
  return CopyBytes(fd.get(), 0, end, out);
}

/// A copy of the session's folder that no lane writes: the log's whole lines, blobs as links, the
/// summary.
Status Stage(const log::Paths& from, const log::Paths& to) {
  RETURN_IF_ERROR(MakeDirs(to.dir));
  ASSIGN_OR_RETURN(const Fd out, OpenFile(to.events(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  RETURN_IF_ERROR(CopyLog(from, out.get()));
  if (PlainFileSize(from.summary())) RETURN_IF_ERROR(LinkOrCopy(from.summary(), to.summary()));
  if (const Result<std::vector<DirEntry>> blobs = ListDir(from.blobs())) {
    RETURN_IF_ERROR(MakeDirs(to.blobs()));
    for (const DirEntry& blob : *blobs) {
      if (blob.kind != EntryKind::kFile || !log::Blobs::IsName(blob.name)) continue;
      RETURN_IF_ERROR(LinkOrCopy(from.blobs() + "/" + blob.name, to.blobs() + "/" + blob.name));
    }
  }
  return {};
}

/// The child sessions in a root's folder that have a log, wherever the folder is.
std::vector<std::string> ChildrenIn(const log::Paths& root) {
  std::vector<std::string> ids = SessionsIn(root.agents());
  std::erase_if(ids, [&](const std::string& id) {
    return !Exists(log::Paths{root.agents() + "/" + id}.events());
  });
  return ids;
}

/// A copy of a session and of its children: of a child alone, which has none in its folder.
Status StageTree(const log::Paths& from, const log::Paths& to) {
  RETURN_IF_ERROR(Stage(from, to));
  for (const std::string& id : ChildrenIn(from))
    RETURN_IF_ERROR(Stage({from.agents() + "/" + id}, {to.agents() + "/" + id}));
  return {};
}

/// Moves what a session has, and nothing else, from an unpacked folder into a clean one. Blobs that
/// do not fit their name are left behind: verify then tells that they are missing.
Status TakeIn(const log::Paths& from, const log::Paths& to) {
  RETURN_IF_ERROR(MakeDirs(to.dir));
  const auto take = [](const std::string& source, const std::string& target) -> Status {
    // No link is followed: what a tar brings must be inside it.
    ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(source, O_RDONLY));
    if (::fsync(fd.get()) != 0) return FailSystem(errno, "flush " + source);
    return Rename(source, target);
  };
  RETURN_IF_ERROR(take(from.events(), to.events()));
  if (PlainFileSize(from.summary())) RETURN_IF_ERROR(take(from.summary(), to.summary()));
  // Nor is one that is a folder: it would take the blobs out of another session.
  if (KindOf(from.blobs()) != EntryKind::kDir) return SyncDir(to.dir);
  if (const Result<std::vector<DirEntry>> blobs = ListDir(from.blobs())) {
    const log::Blobs source(from.blobs());
    for (const DirEntry& blob : *blobs) {
      if (blob.kind != EntryKind::kFile || !source.Check(blob.name)) continue;
      RETURN_IF_ERROR(MakeDirs(to.blobs()));
      RETURN_IF_ERROR(take(from.blobs() + "/" + blob.name, to.blobs() + "/" + blob.name));
    }
  }
  return SyncDir(to.dir);
}

Status TakeInTree(const log::Paths& from, const log::Paths& to) {
  RETURN_IF_ERROR(TakeIn(from, to));
  for (const std::string& id : ChildrenIn(from))
    RETURN_IF_ERROR(TakeIn({from.agents() + "/" + id}, {to.agents() + "/" + id}));
  if (!Exists(to.agents())) return {};
  RETURN_IF_ERROR(SyncDir(to.agents()));
  return SyncDir(to.dir);
}

/// What was unpacked, checked as far as any session is.
class Incoming {
 public:
  Incoming(const SessionStore& store, log::Paths root)
      : store_(store), root_(std::move(root)), children_(ChildrenIn(root_)) {}

  /// The id that it has; empty when it has none that can be kept.
  Result<std::string> OwnId(const std::string& path) const {
    ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(root_.events(), O_RDONLY));
    ASSIGN_OR_RETURN(const log::Scanned scanned, log::ScanLog(root_, fd.get(), false));
    if (!scanned.header && scanned.index.entries().empty()) {
      return Fail(
          Code::kInvalid,
          fmt::format("{} is not a session: it has neither a header nor an event that can be read",
                      path));
    }
    if (!scanned.header || !protocol::IsSessionId(scanned.header->session_id)) return "";
    return scanned.header->session_id;
  }

  /// kConflict names the one that is taken.
  Status CheckFree(const std::string& own_id) const {
    std::vector<std::string> ids = children_;
    if (!own_id.empty()) ids.push_back(own_id);
    for (const std::string& id : ids) {
      const Result<SessionPlace> there = store_.Locate(id);
      if (!there && there.error().code == Code::kNotFound) continue;
      return Fail(
          Code::kConflict,
          fmt::format("session {} is here already: --new-id imports it beside that one", id));
    }
    return {};
  }

  /// A child that was exported alone is a root from now on, by its header too.
  Status BecomeRoot(const std::string& own_id) {
    ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, log::Log::Open(root_.dir, {}));
    if (!log->header().root_session_id) return {};
    return RenameLog(root_, {.session_id = own_id}, {});
  }

  /// New ids, for the children as well if they may not keep theirs. Gives the root's.
  Result<std::string> Rename(const std::string& own_id, bool children_too) {
    NewIds ids;
    std::string new_id = protocol::NewSessionId(ProcessRandom());
    if (!own_id.empty()) ids[own_id] = new_id;
    for (const std::string& id : children_)
      ids[id] = children_too ? protocol::NewSessionId(ProcessRandom()) : id;
    RETURN_IF_ERROR(RenameLog(root_, {.session_id = new_id}, ids));
    for (std::string& id : children_) {
      const std::string old_dir = root_.agents() + "/" + id;
      id = ids[id];
      RETURN_IF_ERROR(RenameLog({old_dir}, {.session_id = id, .root_id = new_id}, ids));
      RETURN_IF_ERROR(stet::Rename(old_dir, root_.agents() + "/" + id));
    }
    return new_id;
  }

  /// kInvalid where there is so much wrong that it is no log.
  Result<protocol::FaultReports> Faults() const {
    ASSIGN_OR_RETURN(const log::Verdict own, log::Verify(root_.dir));
    RETURN_IF_ERROR(CheckDamage(own));
    protocol::FaultReports faults = ReportsOf(own.faults);
    for (const std::string& id : children_) {
      ASSIGN_OR_RETURN(const log::Verdict verdict, log::Verify(root_.agents() + "/" + id));
      RETURN_IF_ERROR(CheckDamage(verdict));
      for (protocol::FaultReport& fault : ReportsOf(verdict.faults)) {
        fault.session_id = id;
        faults.push_back(std::move(fault));
      }
    }
    return faults;
  }

  [[nodiscard]] std::vector<std::string> Dirs() const {
    std::vector<std::string> dirs{root_.dir};
    for (const std::string& id : children_) dirs.push_back(root_.agents() + "/" + id);
    return dirs;
  }

 private:
  static Status CheckDamage(const log::Verdict& verdict) {
    if (verdict.faults.size() < log::kMaxFaults) return {};
    return Fail(Code::kInvalid, fmt::format("{} things or more are wrong with it: it is no session",
                                            log::kMaxFaults));
  }

  const SessionStore& store_;
  log::Paths root_;
  std::vector<std::string> children_;  // Their ids.
};

Result<bool> IsJsonl(const std::string& path) {
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  if (stat.is_dir)
    return Fail(Code::kInvalid, path + " is a directory: import takes a tar or a JSONL");
  if (stat.size == 0) return Fail(Code::kInvalid, path + " is empty");
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY));
  char first = 0;
  RETURN_IF_ERROR(PreadExact(fd.get(), &first, 1, 0));
  return first == '{';
}

/// Everything from stdin, as a file. What begins as neither a tar nor a JSONL is not read on.
Result<std::string> Spool(const Staging& staging) {
  std::string path = staging.dir() + "/stdin";
  ASSIGN_OR_RETURN(const Fd out, OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  std::string buffer(kCopyBytes, '\0');
  std::uint64_t bytes = 0;
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailSystem(errno, "read stdin");
    if (got == 0) return path;
    bytes += static_cast<std::uint64_t>(got);
    if (bytes > kMaxSpooled)
      return Fail(
          Code::kInvalid,
          fmt::format("stdin has more than {} bytes: no session is that large", kMaxSpooled));
    RETURN_IF_ERROR(
        WriteAll(out.get(), std::string_view(buffer).substr(0, static_cast<std::size_t>(got))));
    if (bytes == static_cast<std::uint64_t>(got) && buffer[0] == '\0')
      return Fail(Code::kInvalid, "stdin is neither a tar nor a JSONL");
  }
}

/// The folder inside an unpacked tar that holds the log: one folder of the tar, or its root.
Result<std::string> FindFolder(const std::string& unpacked) {
  const auto has_log = [](const std::string& dir) {
    return KindOf(log::Paths{dir}.events()).has_value();
  };
  std::vector<std::string> found;
  if (has_log(unpacked)) found.push_back(unpacked);
  ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, ListDir(unpacked));
  for (const DirEntry& entry : entries) {
    const std::string dir = unpacked + "/" + entry.name;
    if (entry.kind == EntryKind::kDir && has_log(dir)) found.push_back(dir);
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    return Fail(Code::kInvalid, "the tar holds no session: there is no events.jsonl in it");
  return Fail(Code::kInvalid,
              fmt::format("the tar holds {} sessions that are not one tree, such as {} and {}: "
                          "import them one by one",
                          found.size(), log::Paths{found[0]}.session_id(),
                          log::Paths{found[1]}.session_id()));
}

/// Adds what is still in the folder after the session was taken out.
void AddLeftOut(const std::string& dir, const std::string& prefix, LeftOut& left_out) {
  const Result<std::vector<DirEntry>> entries = ListDir(dir);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    const std::string name = prefix + entry.name;
    if (entry.kind == EntryKind::kDir) {
      AddLeftOut(dir + "/" + entry.name, name + "/", left_out);
      continue;
    }
    left_out.Add(name);
  }
}

}  // namespace

Status Export(const SessionStore& store, const std::string& session_id, client::ExportFormat format,
              const std::string& path, int fd, bool reveal) {
  ASSIGN_OR_RETURN(const std::string dir, store.Find(session_id));
  const log::Paths paths{dir};
  if (!path.empty() && Exists(path)) return Fail(Code::kConflict, path + " exists already");
  ASSIGN_OR_RETURN(const Staging staging, Staging::Make(store.roots().sessions()));
  const log::Paths copy{staging.dir() + "/" + session_id};
  RETURN_IF_ERROR(StageTree(paths, copy));
  if (!reveal) RETURN_IF_ERROR(MaskCopy(copy));
  if (format == client::ExportFormat::kJsonl && path.empty()) return CopyLog(copy, fd);
  if (format == client::ExportFormat::kJsonl) {
    ASSIGN_OR_RETURN(const Fd out, OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    return CopyLog(copy, out.get());
  }
  const std::string tar = path.empty() ? staging.dir() + "/out.tar" : path;
  RETURN_IF_ERROR(PackTar(tar, staging.dir(), session_id));
  if (!path.empty()) return {};
  ASSIGN_OR_RETURN(const Fd made, OpenFile(tar, O_RDONLY));
  return CopyBytes(made.get(), 0, UINT64_MAX, fd);
}

Result<client::Imported> Import(const SessionStore& store, const std::string& path, bool new_id) {
  ASSIGN_OR_RETURN(const Staging staging, Staging::Make(store.roots().sessions()));
  std::string source = path;
  if (path == "-") {
    ASSIGN_OR_RETURN(source, Spool(staging));
  }
  ASSIGN_OR_RETURN(const bool jsonl, IsJsonl(source));
  const std::string unpacked = staging.dir() + "/unpacked";
  RETURN_IF_ERROR(MakeDirs(unpacked));
  std::string folder = unpacked;
  LeftOut left_out;
  if (jsonl) {
    RETURN_IF_ERROR(TakeJsonl(source, unpacked));
  } else {
    ASSIGN_OR_RETURN(left_out, TakeTar(source, unpacked));
    ASSIGN_OR_RETURN(folder, FindFolder(unpacked));
  }
  const log::Paths clean{staging.dir() + "/clean"};
  RETURN_IF_ERROR(TakeInTree({folder}, clean));
  client::Imported imported;
  AddLeftOut(unpacked, "", left_out);
  imported.left_out = left_out.count;
  imported.left_out_names = {left_out.names.begin(), left_out.names.end()};

  Incoming incoming(store, clean);
  ASSIGN_OR_RETURN(imported.session_id, incoming.OwnId(path));
  if (!new_id) RETURN_IF_ERROR(incoming.CheckFree(imported.session_id));
  if (new_id || imported.session_id.empty()) {
    ASSIGN_OR_RETURN(imported.session_id, incoming.Rename(imported.session_id, new_id));
  } else {
    RETURN_IF_ERROR(incoming.BecomeRoot(imported.session_id));
  }
  ASSIGN_OR_RETURN(imported.faults, incoming.Faults());
  // Held while the tree appears: a process that finds it early waits until it is flushed.
  ASSIGN_OR_RETURN(const TreeLock lock, TreeLock::Acquire(incoming.Dirs()));
  RETURN_IF_ERROR(log::RemoveUnborn({store.NewDir(imported.session_id)}));
  RETURN_IF_ERROR(stet::Rename(clean.dir, store.NewDir(imported.session_id)));
  RETURN_IF_ERROR(SyncDir(store.roots().sessions()));
  return imported;
}

}  // namespace stet::store
