#include "store/renamed_log.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/plain_file.h"
#include "log/line.h"
#include "log/recover.h"
#include "log/scan.h"
#include "protocol/event.h"
#include "protocol/header.h"

namespace stet::store {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

void RenameId(protocol::OptionalText& id, const NewIds& ids) {
  if (!id) return;
  if (const auto found = ids.find(*id); found != ids.end()) id = found->second;
}

std::string RenamedHeader(protocol::Header header, const LogNames& names, const NewIds& ids) {
  if (header.session_id != names.session_id) {
    header.cloned_from = protocol::Origin{.session_id = header.session_id};
    header.session_id = names.session_id;
  }
  RenameId(header.parent_session_id, ids);
  RenameId(header.root_session_id, ids);
  if (!names.root_id.empty()) {
    header.root_session_id = names.root_id;
  } else if (header.root_session_id) {
    // A child that came alone: as in a clone, nothing of its tree is left.
    header.root_session_id.reset();
    header.parent_session_id.reset();
    header.agent_id.reset();
    header.kind = "chat";
  }
  std::string line = Encode(header);
  log::SealLine(line, 0);
  return line;
}

/// Appends a `task` event that names a session which has a new id, and says whether it is one.
bool AppendRenamed(std::string_view line, const NewIds& ids, std::string& out) {
  const std::optional<log::Prefix> prefix = log::ReadPrefix(line);
  if (!prefix || prefix->type != protocol::Task::kType || !log::CheckLine(line)) return false;
  Result<protocol::Event> event = protocol::DecodeEvent(line);
  auto* task = event ? std::get_if<protocol::Task>(&event->payload) : nullptr;
  if (task == nullptr || !task->session_id || !ids.contains(*task->session_id)) return false;
  RenameId(task->session_id, ids);
  const std::size_t start = out.size();
  protocol::EncodeEvent(*event, out);
  log::SealLine(out, start);
  return true;
}

}  // namespace

Status RenameLog(const log::Paths& paths, const LogNames& names, const NewIds& ids) {
  ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(paths.events(), O_RDONLY));
  ASSIGN_OR_RETURN(const log::Scanned scanned, log::ScanLog(paths, fd.get(), /*use_index=*/false));
  if (!scanned.header) return {};
  const std::string renamed = paths.events() + ".new";
  ASSIGN_OR_RETURN(const Fd out, OpenFile(renamed, O_WRONLY | O_CREAT | O_EXCL, 0600));
  std::string text = RenamedHeader(*scanned.header, names, ids);
  log::LineScanner scanner(fd.get(), 0);
  log::ScannedLine line;
  for (bool header = scanned.header_on_line_1;; header = false) {
    ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
    if (!any || text.size() > kWriteBytes) {
      RETURN_IF_ERROR(WriteAll(out.get(), text));
      text.clear();
    }
    if (!any) break;
    if (header || AppendRenamed(line.text, ids, text)) continue;
    text += line.text;
    if (line.terminated) text += '\n';
  }
  if (::fsync(out.get()) != 0) return FailSystem(errno, "flush " + renamed);
  return stet::Rename(renamed, paths.events());
}

}  // namespace stet::store
