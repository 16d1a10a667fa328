#include "agent/resume.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/hash.h"

namespace stet::agent {
namespace {

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

std::string Judge(const std::string& tool_call_id, const Opening& opening) {
  const auto started =
      std::ranges::find(opening.started, tool_call_id, &protocol::ToolStarted::tool_call_id);
  if (started == opening.started.end())
    return "stet was stopped before this call began: it was not run.";
  if (!started->effects) return "stet was stopped during this call: it has no result.";
  const auto write = std::ranges::find_if(opening.writes, [&](const protocol::FileFact& fact) {
    return fact.tool_call_id == tool_call_id;
  });
  if (write != opening.writes.end()) return JudgeWrite(*write);
  return "stet was stopped during this call: it may have run, wholly or in part. Look before you "
         "run it again.";
}

/// Nobody can answer any more what this call asked.
std::vector<protocol::Payload> Withdrawals(const std::string& tool_call_id,
                                           const Opening& opening) {
  std::vector<protocol::Payload> withdrawn;
  for (const protocol::Permission& asked : opening.permissions) {
    if (asked.tool_call_id != tool_call_id || asked.phase != "asked") continue;
    protocol::Permission event;
    event.request_id = asked.request_id;
    event.tool_call_id = asked.tool_call_id;
    event.args_hash = asked.args_hash;
    event.phase = "withdrawn";
    withdrawn.emplace_back(std::move(event));
  }
  for (const protocol::Question& asked : opening.questions) {
    if (asked.question_id != tool_call_id || asked.phase != "asked") continue;
    protocol::Question event;
    event.question_id = asked.question_id;
    event.phase = "withdrawn";
    withdrawn.emplace_back(std::move(event));
  }
  return withdrawn;
}

}  // namespace

Result<bool> SettleInterrupted(log::Log& log, const Opening& opening, bool keep_waiting) {
  bool waits = false;
  std::vector<log::Draft> batch;
  const auto add = [&](protocol::Payload payload) {
    log::Draft draft{.payload = std::move(payload), .id = "", .stamp = {}};
    draft.stamp.turn_id = opening.open_turn;
    batch.push_back(std::move(draft));
  };
  for (const log::OpenCall& call : log.open_calls()) {
    if (keep_waiting && opening.open_turn && opening.Waits(call.tool_call_id)) {
      waits = true;
      continue;
    }
    for (protocol::Payload& withdrawn : Withdrawals(call.tool_call_id, opening))
      add(std::move(withdrawn));
    protocol::ToolResult result;
    result.tool_call_id = call.tool_call_id;
    result.is_error = true;
    protocol::TextBlock text;
    text.text = Judge(call.tool_call_id, opening);
    protocol::Blocks content;
    content.emplace_back(std::move(text));
    result.content = Raw{Encode(content)};
    add(std::move(result));
  }
  if (opening.open_turn && !waits) {
    protocol::Turn end;
    end.phase = "end";
    end.reason = "interrupted";
    add(std::move(end));
  }
  if (!batch.empty()) RETURN_IF_ERROR(log.Append(std::move(batch)));
  return waits;
}

}  // namespace stet::agent
