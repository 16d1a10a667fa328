// What is appended about a call at its end: its result, whether it ran or not, behind its facts.
#include <fmt/format.h>

#include "agent/calls/one.h"
#include "agent/settings.h"
#include "base/hash.h"

namespace stet::agent {

tool::Outcome NotRun(std::string_view why) {
  return tool::Problem(fmt::format("This call was not run: {}", why));
}

// One batch, the result last: a crash may keep a prefix of it, but never a result without the facts
// of its call.
Status Calls::AppendOutcome(One& one) {
  std::vector<log::Draft> batch;
  const auto add = [&](std::vector<protocol::Payload> payloads) {
    for (log::Draft& draft : Drafts(std::move(payloads))) batch.push_back(std::move(draft));
  };
  if (one.tool->asks_user()) add({one.started});
  for (const auto* facts : {&one.outcome->reads, &one.outcome->writes}) {
    for (const protocol::FileFact& fact : *facts) {
      bench_.files->Learn(fact);
      add({fact});
    }
  }
  add(FactsOfOutcome(bench_, one.facts(), *one.outcome));
  std::optional<policy::Mode> mode;
  if (one.outcome->plan_approved) add(EndOfPlan(bench_, &mode.emplace()));
  RETURN_IF_ERROR(Answer(one.block, *one.outcome, std::move(batch)));
  one.result_id = bench_.log.leaf_id().value_or("");
  // Only now: a mode that the log does not have must not let anything run.
  if (mode) bench_.settings.SetMode(*mode);
  protocol::ToolExecutionEnd done;
  done.tool_call_id = one.block.tool_call_id;
  done.duration_ms = one.took.count();
  done.is_error = one.outcome->is_error;
  bench_.log.Publish(std::move(done));
  return {};
}

/// `more` is said behind the reason.
Status Calls::Refuse(const One& one, const policy::Decision& decision, std::string_view more) {
  return Deny(one, decision, fmt::format("{}{} (rule: {})", decision.reason, more, decision.rule));
}

Status Calls::Deny(const One& one, const policy::Decision& decision, std::string_view why) {
  denials_.push_back({one.block.tool_name, one.block.tool_call_id, one.args, decision.rule});
  return Answer(one.block, NotRun(why), Drafts(FindingsOfDenial(bench_, one.facts(), decision)));
}

/// `batch` goes before the result.
Status Calls::Answer(const protocol::ToolCallBlock& block, const tool::Outcome& outcome,
                     std::vector<log::Draft> batch) {
  protocol::ToolResult result;
  result.tool_call_id = block.tool_call_id;
  result.is_error = outcome.is_error;
  result.content = Raw{Encode(outcome.content)};
  for (const protocol::Block& part : outcome.content) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&part))
      result.blobs.push_back(image->blob);
  }
  findings_.push_back(FastHashHex(block.tool_name + block.args.text + result.content.text));
  batch.push_back({.payload = std::move(result), .id = "", .stamp = stamp_});
  RETURN_IF_ERROR(bench_.log.Append(std::move(batch)));
  return {};
}

std::vector<log::Draft> Calls::Drafts(std::vector<protocol::Payload> payloads) const {
  std::vector<log::Draft> batch;
  for (protocol::Payload& payload : payloads)
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = stamp_});
  return batch;
}

}  // namespace stet::agent
