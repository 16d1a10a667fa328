#include "lane/file_history.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::lane {
namespace {

using protocol::kTypeNumber;

constexpr std::size_t kMaxCallText = 100;

std::string CallText(const protocol::ToolCallBlock& call) {
  const JsonView args(call.args.text);
  std::string what = args["command"].StringOr("");
  if (what.empty()) what = args["file_path"].StringOr("");
  what = FirstLine(what);
  what.resize(Utf8PrefixLength(what, kMaxCallText));
  return what.empty() ? call.tool_name : fmt::format("{}: {}", call.tool_name, what);
}

/// The last one among the first `end` events; nothing when this device made none.
Result<std::optional<std::string>> LastManifest(const log::Log& log, log::Ordinal end,
                                                std::uint64_t own_since) {
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = end; event > 0 && entries[event - 1].seq >= own_since; --event) {
    if (entries[event - 1].type != kTypeNumber<protocol::Checkpoint>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event - 1));
    if (const auto* taken = std::get_if<protocol::Checkpoint>(&found.payload))
      return taken->manifest;
  }
  return std::nullopt;
}

void Take(const protocol::Event& event, bool own, FileHistory& history) {
  if (const auto* fact = std::get_if<protocol::FileFact>(&event.payload)) {
    if (fact->op != "read") (own ? history.facts : history.foreign).push_back(*fact);
  } else if (const auto* said = std::get_if<protocol::AssistantMessage>(&event.payload)) {
    for (const protocol::Block& block : said->message.blocks) {
      if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
        history.calls[call->tool_call_id] = CallText(*call);
    }
  } else if (const auto* taken = std::get_if<protocol::Checkpoint>(&event.payload);
             taken != nullptr && own && !history.at) {
    history.at = taken->manifest;
    history.until_checkpoint = history.facts.size();
  }
}

}  // namespace

Result<FileHistory> ReadFileHistory(const log::Log& log, log::Ordinal from,
                                    std::uint64_t own_since) {
  FileHistory history;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = from; event < entries.size(); ++event) {
    const auto type = entries[event].type;
    if (type != kTypeNumber<protocol::FileFact> && type != kTypeNumber<protocol::Checkpoint> &&
        type != kTypeNumber<protocol::AssistantMessage>)
      continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    Take(found, entries[event].seq >= own_since, history);
  }
  if (!history.at) history.until_checkpoint = history.facts.size();
  ASSIGN_OR_RETURN(history.before, LastManifest(log, from, own_since));
  return history;
}

std::shared_ptr<tool::Checkpoints> MakeCheckpoints(const config::Roots& roots, const log::Log& log,
                                                   std::uint64_t own_since) {
  return std::make_shared<tool::Checkpoints>(tool::Checkpoints::Setup{
      .store = roots.undo(), .session = log.paths().undo(), .last = [&log, own_since] {
        return LastManifest(log, static_cast<log::Ordinal>(log.index().entries().size()),
                            own_since);
      }});
}

}  // namespace stet::lane
