#include "tool/change.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fs.h"
#include "base/hash.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

constexpr mode_t kNewFileMode = 0666;  // Less the umask, as editors do it.

Status Touched(const std::string& path) {
  return Fail(
      Code::kConflict,
      fmt::format("{} was changed by another program just now. Nothing was written. Read it "
                  "again.",
                  path));
}

bool WasOnDisk(const Change& change) { return change.before && change.before->on_disk; }

/// The name that is changed, in a folder that is held from now on.
Result<Beneath> PlaceOf(const Call& call, const Change& change, Parents parents) {
  const std::string root = RootOf(change.path, call.workspace);
  // Folders are made in the project only.
  return Beneath::Open(root, change.path, root == "/" ? Parents::kMustExist : parents);
}

/// The file is as it was read, judged by what stat(2) says alone.
Status CheckUntouched(const Change& change, const Result<Beneath>& place) {
  if (!place && place.error().code != Code::kNotFound) return std::unexpected(place.error());
  const auto now = place ? place->Stat() : std::unexpected(place.error());
  const bool same = WasOnDisk(change) ? now && now->size == change.before->stat.size &&
                                            now->mtime_ns == change.before->stat.mtime_ns &&
                                            now->inode == change.before->stat.inode
                                      : !now && now.error().code == Code::kNotFound;
  return same ? Status() : Touched(change.path);
}

/// The same by its content: within a tick of the clock a write leaves no other trace.
Status CheckContent(const Change& change, const Result<Beneath>& place) {
  RETURN_IF_ERROR(CheckUntouched(change, place));
  if (!change.before) return {};
  const auto now = place ? place->Read(kMaxTextBytes) : std::unexpected(place.error());
  if (now && now->bytes == change.before->bytes) return {};
  if (!change.before->in_editor) return Touched(change.path);
  return Fail(
      Code::kConflict,
      fmt::format(
          "{} is not saved in the user's editor, which lets no other program write into it. "
          "Nothing was written. Ask the user to save it.",
          change.path));
}

}  // namespace

Result<const KnownFile*> CheckKnown(const KnownFiles& files, const std::string& path,
                                    const std::string& hash) {
  const KnownFile* known = files.Find(path);
  if (known == nullptr)
    return Fail(Code::kConflict,
                fmt::format("{} exists and was not read yet. Read it first.", path));
  if (known->hash != hash)
    return Fail(Code::kConflict,
                fmt::format("{} was changed outside since it was read. Read it again.", path));
  return known;
}

Status CheckWritable(const std::string& path, const FileStat& stat) {
  // The mode counts as well as what the system would let us do: root may write everything.
  if ((stat.mode & 0222) != 0 && ::access(path.c_str(), W_OK) == 0) return {};
  return Fail(Code::kDenied,
              fmt::format("{} is read-only (mode {:o}). Nothing was written.", path, stat.mode));
}

namespace {

Status WriteToDisk(const Change& change, const Result<Beneath>& place) {
  RETURN_IF_ERROR(CheckContent(change, place));
  return place ? place->Write(change.after, kNewFileMode) : std::unexpected(place.error());
}

/// An editor follows links where we follow none: as late as we can, that the path is no other file.
Async<Status> WriteInEditor(Call& call, Editor& editor, const Change& change) {
  if (change.before && change.before->in_editor) {
    const Result<std::string> now = co_await editor.Read(change.path, call.cancel);
    if (!now || *now != change.before->bytes) co_return Touched(change.path);
  } else {
    CO_RETURN_IF_ERROR(CheckContent(change, PlaceOf(call, change, Parents::kMustExist)));
  }
  CO_RETURN_IF_ERROR(CheckUntouched(change, PlaceOf(call, change, Parents::kMustExist)));
  const Status written = co_await editor.Write(change.path, change.after, call.cancel);
  if (written) co_return Status();
  co_return Fail(written.error().code,
                 fmt::format("The user's editor did not write {}: {}. Read it again to see what it "
                             "holds.",
                             change.path, written.error().message));
}

}  // namespace

/// Above a new file: those that are made with it, and go with it when it is undone.
static std::int64_t MissingFolders(const std::string& path) {
  std::int64_t missing = 0;
  for (std::string folder = ParentDir(path); folder != "/" && !Exists(folder);
       folder = ParentDir(folder))
    ++missing;
  return missing;
}

Async<Status> Apply(Call& call, const Change& change) {
  protocol::FileFact fact{.op = "write",
                          .path = change.path,
                          .after = Sha256Hex(change.after),
                          .coverage = change.coverage,
                          .tool_call_id = call.tool_call_id};
  if (WasOnDisk(change)) CO_RETURN_IF_ERROR(CheckWritable(change.path, change.before->stat));
  if (change.before) {
    fact.before = Sha256Hex(change.before->bytes);
    CO_ASSIGN_OR_RETURN(fact.before_blob, call.put_blob(change.before->bytes));
  } else if (const std::int64_t missing = MissingFolders(change.path); missing > 0) {
    fact.new_folders = missing;
  }
  CO_RETURN_IF_ERROR(CheckUntouched(change, PlaceOf(call, change, Parents::kMustExist)));
  CO_RETURN_IF_ERROR(call.record_write(fact));
  // Again, because recording waits for the disk; and from here on it is this folder, whatever its
  // path leads to.
  const Result<Beneath> place =
      PlaceOf(call, change, WasOnDisk(change) ? Parents::kMustExist : Parents::kMake);
  if (!place) co_return std::unexpected(place.error());
  const std::shared_ptr<Editor> editor = call.editor;
  if (editor && editor->writes() && IsForEditor(change.path, change.after)) {
    CO_RETURN_IF_ERROR(co_await WriteInEditor(call, *editor, change));
  } else {
    CO_RETURN_IF_ERROR(WriteToDisk(change, place));
  }
  call.files.Learn(fact);
  co_return Status();
}

}  // namespace stet::tool
