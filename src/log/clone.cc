#include "log/clone.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/plain_file.h"
#include "log/last_toolset.h"
#include "log/line.h"
#include "log/tree.h"
#include "log/unborn.h"
#include "protocol/ids.h"

namespace stet::log {
namespace {

using protocol::kTypeNumber;

/// Which events go along, by ordinal.
std::vector<bool> Chosen(const Index& index, Ordinal at,
                         const std::optional<LastToolset>& toolset) {
  const std::vector<Entry>& entries = index.entries();
  std::vector<bool> chosen(entries.size(), false);
  for (const Ordinal event : PathTo(index, at)) chosen[event] = true;
  for (const Ordinal event : ControlsOn(index, at)) chosen[event] = true;
  for (Ordinal i = 0; i < entries.size(); ++i) {
    const bool always = entries[i].type == kTypeNumber<protocol::InstructionSnapshot> ||
                        entries[i].type == kTypeNumber<protocol::Pin>;
    if (always && (entries[i].flags & Entry::kDuplicate) == 0) chosen[i] = true;
  }
  if (toolset && toolset->event != kNone) chosen[toolset->event] = true;
  return chosen;
}

class Copying {
 public:
  Copying(Log& source, std::string dir, const std::optional<LastToolset>& toolset)
      : source_(source), paths_{std::move(dir)}, toolset_(toolset) {}

  /// The header and the chosen events, in file order, with new seqs; blobs beside them.
  Status CopyEvents(const protocol::Header& header, Ordinal at) {
    std::string out = Encode(header);
    SealLine(out, 0);
    const std::vector<bool> chosen = Chosen(source_.index(), at, toolset_);
    ids_.resize(chosen.size());
    std::uint64_t seq = 0;
    ASSIGN_OR_RETURN(const Fd fd,
                     OpenFile(paths_.events(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
    Status copied;
    RETURN_IF_ERROR(source_.Read(0, [&](const Entry& entry, std::string_view line) {
      const auto ordinal = static_cast<Ordinal>(&entry - source_.index().entries().data());
      if (!chosen[ordinal]) return true;
      ids_[ordinal] = ReadPrefix(line)->id;
      const bool has_parent = entry.parent != kNone && chosen[entry.parent];
      AppendReseated(
          out, line, ++seq,
          has_parent ? std::optional<std::string_view>(ids_[entry.parent]) : std::nullopt);
      copied = LinkBlobs(line);
      if (copied && out.size() > kWriteBytes) {
        copied = WriteAll(fd.get(), out);
        out.clear();
      }
      return copied.has_value();
    }));
    RETURN_IF_ERROR(copied);
    // Read passes over what is damaged.
    if (seq < static_cast<std::uint64_t>(std::ranges::count(chosen, true)))
      return Fail(Code::kCorrupt, "an event that is to be copied is damaged: open the log again");
    if (toolset_) RETURN_IF_ERROR(LinkBlob(toolset_->toolset.blob));
    RETURN_IF_ERROR(WriteAll(fd.get(), out));
    if (::fsync(fd.get()) != 0) return FailSystem(errno, "flush " + paths_.events());
    return blob_names_.empty() ? Status() : SyncDir(paths_.blobs());
  }

 private:
  static constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

  Status LinkBlobs(std::string_view line) {
    for (const std::string& name : Blobs::NamesIn(line)) RETURN_IF_ERROR(LinkBlob(name));
    return {};
  }

  Status LinkBlob(const std::string& name) {
    if (!Blobs::IsName(name)) return {};
    const std::string from = source_.blobs().PathOf(name);
    if (!PlainFileSize(from) || !blob_names_.insert(name).second) return {};
    RETURN_IF_ERROR(MakeDirs(paths_.blobs()));
    return LinkOrCopy(from, paths_.blobs() + "/" + name, Durable::kYes);
  }

  Log& source_;
  Paths paths_;
  const std::optional<LastToolset>& toolset_;
  std::vector<std::string> ids_;  // Of the events copied so far, by the source's ordinals.
  std::set<std::string> blob_names_;
};

/// The calls of the path to `at`, by their ids.
Result<std::set<std::string>> CallsOn(const Log& source, Ordinal at) {
  std::set<std::string> calls;
  for (const Ordinal event : PathTo(source.index(), at)) {
    if (source.index().entries()[event].type != kTypeNumber<protocol::ToolResult>) continue;
    ASSIGN_OR_RETURN(const protocol::Event decoded, source.EventAt(event));
    if (const auto* result = std::get_if<protocol::ToolResult>(&decoded.payload))
      calls.insert(result->tool_call_id);
  }
  return calls;
}

/// The tasks whose end the path to `at` tells of.
Result<std::set<std::string>> EndsToldOn(const Log& source, Ordinal at) {
  std::set<std::string> told;
  for (const Ordinal event : PathTo(source.index(), at)) {
    if (source.index().entries()[event].type != kTypeNumber<protocol::HarnessItem>) continue;
    ASSIGN_OR_RETURN(const protocol::Event decoded, source.EventAt(event));
    const auto* item = std::get_if<protocol::HarnessItem>(&decoded.payload);
    if (item == nullptr || !item->carries) continue;
    for (const protocol::Carried& carried : *item->carries)
      told.insert(carried.task_id.value_or(""));
  }
  return told;
}

/// What the copy's model must be told of tasks that were started on the path to `at` and that it
/// has no reason to believe ended: they are the origin's. Nothing when there are none.
Result<std::optional<protocol::Owed>> TasksLeftBehind(const Log& source, Ordinal at,
                                                      const Options& options) {
  std::vector<protocol::Task> started;
  const std::vector<Entry>& entries = source.index().entries();
  for (Ordinal event = 0; event < entries.size(); ++event) {
    if (entries[event].type != kTypeNumber<protocol::Task>) continue;
    ASSIGN_OR_RETURN(const protocol::Event decoded, source.EventAt(event));
    const auto* task = std::get_if<protocol::Task>(&decoded.payload);
    if (task != nullptr && task->phase == protocol::phase::kStart) started.push_back(*task);
  }
  if (started.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const std::set<std::string> calls, CallsOn(source, at));
  ASSIGN_OR_RETURN(const std::set<std::string> told, EndsToldOn(source, at));
  std::string names;
  for (const protocol::Task& task : started) {
    if (!calls.contains(task.tool_call_id.value_or("")) || told.contains(task.task_id)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", task.task_id);
    if (task.name) names += fmt::format(" ({})", *task.name);
  }
  if (names.empty()) return std::nullopt;
  protocol::Owed owed;
  owed.owed_id = protocol::NewOwedId(options.random != nullptr ? *options.random : ProcessRandom());
  owed.origin = "system";
  owed.kind = "runtime_notice";
  owed.text = fmt::format(
      "This session is a copy of another one. Background tasks that were started there are not its "
      "own: {}. Here they do not run, and they cannot be read or stopped.",
      names);
  return owed;
}

/// Opens the copy once: folded session_info, the tools of an older log, whose requests are not
/// copied, what its model must be told, and a result for every call that is open in it.
Status Finish(const Log& source, Ordinal at, const std::string& dir, const Options& options,
              const std::optional<LastToolset>& toolset) {
  Options writing = options;
  writing.mode = Mode::kWrite;
  ASSIGN_OR_RETURN(const std::unique_ptr<Log> copy, Log::Open(dir, writing));
  std::vector<Draft> batch;
  if (const protocol::InfoChanges& info = source.index().state().info;
      info != protocol::InfoChanges()) {
    batch.push_back({.payload = protocol::SessionInfo{.changes = info}});
  }
  if (toolset && toolset->event == kNone) {
    protocol::Toolset first = toolset->toolset;
    first.cause = protocol::toolset_cause::kFirst;
    batch.push_back({.payload = std::move(first)});
  }
  ASSIGN_OR_RETURN(std::optional<protocol::Owed> owed, TasksLeftBehind(source, at, options));
  if (owed) batch.push_back({.payload = *std::move(owed)});
  for (const OpenCall& call : copy->open_calls()) {
    protocol::ToolResult result;
    result.tool_call_id = call.tool_call_id;
    result.is_error = true;
    result.content = Raw{"\"not run in this copy\""};
    batch.push_back({.payload = std::move(result)});
  }
  RETURN_IF_ERROR(copy->Append(std::move(batch)));
  return copy->Close();
}

Status CloneInto(Log& source, Ordinal at, const protocol::Header& header, const std::string& dir,
                 const Options& options) {
  ASSIGN_OR_RETURN(const std::optional<LastToolset> toolset, FindLastToolset(source));
  Copying copying(source, dir, toolset);
  RETURN_IF_ERROR(copying.CopyEvents(header, at));
  RETURN_IF_ERROR(Finish(source, at, dir, options, toolset));
  return SyncDir(dir);
}

}  // namespace

Status Clone(Log& source, const std::optional<std::string>& at, const CloneTarget& target,
             const Options& options) {
  Ordinal event = source.index().leaf();
  if (at) {
    ASSIGN_OR_RETURN(event, source.Find(*at));
  }
  if (event != kNone && !source.index().entries()[event].in_tree()) {
    return Fail(Code::kInvalid, fmt::format("{} is not in the tree: name a message", *at));
  }
  RETURN_IF_ERROR(RemoveUnborn({target.dir}));
  if (Exists(target.dir)) return Fail(Code::kConflict, target.dir + " exists already");
  protocol::Header header = source.header();
  header.version = protocol::kLogVersion;
  header.session_id = target.session_id;
  header.device_id = target.device_id;
  header.created_at = (options.clock != nullptr ? *options.clock : SystemClock()).Now();
  header.cloned_from = protocol::Origin{.session_id = source.header().session_id};
  // A copy of a child is a root of its own: it works for no other session.
  if (header.parent_session_id || header.root_session_id) header.kind = "chat";
  header.parent_session_id.reset();
  header.root_session_id.reset();
  header.agent_id.reset();
  header.task_id.reset();
  header.parent_tool_call_id.reset();
  if (event != kNone) {
    ASSIGN_OR_RETURN(header.cloned_from->event_id, source.IdOf(event));
  }
  const std::string parent = ParentDir(target.dir);
  ASSIGN_OR_RETURN(const std::string building, MakeTempDir(parent, kTempFilePrefix));
  Status cloned = CloneInto(source, event, header, building, options);
  if (cloned) cloned = Rename(building, target.dir);
  if (!cloned) {
    (void)RemoveTree(building);  // The first failure is the one to tell.
    return cloned;
  }
  return SyncDir(parent);
}

}  // namespace stet::log
