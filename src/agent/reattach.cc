#include "agent/reattach.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "agent/items.h"
#include "agent/question.h"
#include "agent/settings.h"
#include "base/beneath.h"
#include "base/hash.h"
#include "log/tree.h"
#include "tool/text_file.h"

namespace stet::agent {
namespace {

constexpr std::size_t kMaxFiles = 5;
constexpr std::size_t kMaxFacts = 200;  // How far back changes are looked for.

/// The files that were written last, the last one first.
Result<std::vector<std::string>> ChangedFiles(const log::Log& log, std::uint64_t own_since) {
  std::vector<std::string> files;
  const std::vector<log::Entry>& entries = log.index().entries();
  std::size_t facts = 0;
  for (std::size_t at = entries.size(); at > 0 && facts < kMaxFacts && files.size() < kMaxFiles;
       --at) {
    if (entries[at - 1].seq < own_since) break;
    if (entries[at - 1].type != protocol::kTypeNumber<protocol::FileFact>) continue;
    ++facts;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(static_cast<log::Ordinal>(at - 1)));
    const auto* fact = std::get_if<protocol::FileFact>(&event.payload);
    if (fact == nullptr || fact->op != "write" || !fact->tool_call_id) continue;
    if (std::ranges::find(files, fact->path) == files.end()) files.push_back(fact->path);
  }
  return files;
}

/// Empty when it cannot be shown within `max_bytes`.
std::string FileText(const std::string& path, std::size_t max_bytes) {
  const Result<Beneath> place = Beneath::Open("/", path);
  const Result<Beneath::Content> now =
      place ? place->Read(max_bytes) : std::unexpected(place.error());
  if (!now) return "";
  const tool::TextFile file = tool::DecodeText(now->bytes);
  if (file.binary || !file.exact) return "";
  return fmt::format("{} as it is now (sha256 {}):\n{}", path, Sha256Hex(now->bytes).substr(0, 12),
                     file.text);
}

}  // namespace

Status Reattach(Workbench& bench, const protocol::Stamp& stamp, const context::Retelling& left_out,
                std::size_t max_bytes) {
  std::size_t left = max_bytes;
  const auto attach = [&](std::string text) -> Status {
    if (text.empty() || text.size() > left) return {};
    left -= text.size();
    NewItem item{.kind = item::kAttachment, .content = std::move(text)};
    return AppendItem(bench.log, std::move(item), stamp);
  };
  // However little room there is: the model could not know of it in any other way.
  if (std::string running = bench.background ? bench.background() : ""; !running.empty()) {
    left -= std::min(left, running.size());
    NewItem item{.kind = item::kAttachment, .content = std::move(running)};
    RETURN_IF_ERROR(AppendItem(bench.log, std::move(item), stamp));
  }
  if (const std::string& todo = left_out.todo(); !todo.empty())
    RETURN_IF_ERROR(attach("Your list of things to do:\n" + todo));
  if (const std::string& plan = left_out.plan(); !plan.empty())
    RETURN_IF_ERROR(attach("The plan that you put forward:\n" + plan));
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ChangedFiles(bench.log, bench.own.since));
  for (const std::string& path : files) {
    if (!MayReadUnasked(bench.settings->rules, bench.workspace, path)) continue;
    RETURN_IF_ERROR(attach(bench.redactor.Clean(FileText(path, std::min(left, max_bytes / 3)))));
  }
  return {};
}

}  // namespace stet::agent
