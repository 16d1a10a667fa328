#include "agent/resume.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/hash.h"

namespace stet::agent {
namespace {

/// What the log says of the calls of the last step and of its turn.
struct Left {
  std::vector<protocol::ToolStarted> started;
  std::vector<protocol::FileFact> writes;
  std::optional<std::string> open_turn;
};

Result<Left> Look(const log::Log& log) {
  Left left;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    const std::uint8_t type = entries[event].type;
    if (type != protocol::kTypeNumber<protocol::ToolStarted> &&
        type != protocol::kTypeNumber<protocol::FileFact> &&
        type != protocol::kTypeNumber<protocol::Turn>)
      continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    if (const auto* started = std::get_if<protocol::ToolStarted>(&found.payload)) {
      left.started.push_back(*started);
    } else if (const auto* fact = std::get_if<protocol::FileFact>(&found.payload)) {
      if (fact->op != "read") left.writes.push_back(*fact);
    } else if (const auto* turn = std::get_if<protocol::Turn>(&found.payload)) {
      left.open_turn = turn->phase == "start" ? found.stamp.turn_id : std::nullopt;
    }
  }
  return left;
}

/// Whether the write that a fact announced took place, by what is in the file now.
std::string JudgeWrite(const protocol::FileFact& fact) {
  const Result<std::string> hash = Sha256File(fact.path);
  if (hash && fact.after && *hash == *fact.after)
    return fmt::format("stet was stopped, but {} was written.", fact.path);
  const bool as_before = hash ? fact.before && *hash == *fact.before : !fact.before;
  if (as_before) return fmt::format("stet was stopped before {} was written.", fact.path);
  return fmt::format(
      "stet was stopped while {} was being written, and it has changed since: read it "
      "before you go on.",
      fact.path);
}

std::string Judge(const std::string& tool_call_id, const Left& left) {
  const auto started =
      std::ranges::find(left.started, tool_call_id, &protocol::ToolStarted::tool_call_id);
  if (started == left.started.end())
    return "stet was stopped before this call began: it was not run.";
  if (!started->effects) return "stet was stopped during this call: it has no result.";
  const auto write = std::ranges::find_if(left.writes, [&](const protocol::FileFact& fact) {
    return fact.tool_call_id == tool_call_id;
  });
  if (write != left.writes.end()) return JudgeWrite(*write);
  return "stet was stopped during this call: it may have run, wholly or in part. Look before you "
         "run it again.";
}

}  // namespace

Status SettleInterrupted(log::Log& log) {
  ASSIGN_OR_RETURN(const Left left, Look(log));
  const std::vector<log::OpenCall> open = log.open_calls();
  std::vector<log::Draft> batch;
  for (const log::OpenCall& call : open) {
    protocol::ToolResult result;
    result.tool_call_id = call.tool_call_id;
    result.is_error = true;
    protocol::TextBlock text;
    text.text = Judge(call.tool_call_id, left);
    protocol::Blocks content;
    content.emplace_back(std::move(text));
    result.content = Raw{Encode(content)};
    log::Draft draft{.payload = std::move(result), .id = "", .stamp = {}};
    draft.stamp.turn_id = left.open_turn;
    batch.push_back(std::move(draft));
  }
  if (left.open_turn) {
    protocol::Turn end;
    end.phase = "end";
    end.reason = "interrupted";
    log::Draft draft{.payload = std::move(end), .id = "", .stamp = {}};
    draft.stamp.turn_id = left.open_turn;
    batch.push_back(std::move(draft));
  }
  if (batch.empty()) return {};
  RETURN_IF_ERROR(log.Append(std::move(batch)));
  return {};
}

}  // namespace stet::agent
