// Before a call that may change the project: how its files are is kept, so that they can be put
// back; and what that leaves out is not changed without a person's word.
#include <algorithm>

#include <fmt/format.h>

#include "agent/calls/one.h"
#include "agent/settings.h"
#include "base/text.h"
#include "tool/project/look.h"
#include "tool/shell/facts.h"

namespace stet::agent {

namespace {

/// Files that a box keeps from being changed because they could not be put back; with more the
/// command is asked.
constexpr std::size_t kMaxHeldFiles = 200;
constexpr std::size_t kMaxNamed = 3;

/// "a, b and 3 more files"
std::string Named(const tool::NotCovered& left_out) {
  std::string text;
  for (std::size_t i = 0; i < std::min(left_out.paths.size(), kMaxNamed); ++i)
    text += (i == 0 ? "" : ", ") + left_out.paths[i];
  if (left_out.more) return text + (text.empty() ? "" : ", ") + "files beyond those looked at";
  if (left_out.paths.size() > kMaxNamed)
    text += fmt::format(" and {} more files", left_out.paths.size() - kMaxNamed);
  return text;
}

}  // namespace

/// File tools say themselves what they write, and keep it.
bool Calls::MayChangeProject(const One& one) const {
  const bool only_reads = one.by == kByPolicy && one.decision.box == policy::Box::kReads;
  return one.intent.effects && one.intent.writes.empty() && one.intent.url.empty() && !only_reads;
}

/// Appends the checkpoint; the flush of `tool_started` covers it. Fails when it cannot be made.
Async<Status> Calls::TakeCheckpoint(const One& one) {
  tool::Checkpoints& checkpoints = *bench_.checkpoints;
  if (!checkpoints.keeps() || !MayChangeProject(one)) co_return Status();
  Result<tool::Checkpoints::Taken> taken = co_await checkpoints.Take(
      tool::ViewOf(bench_.workspace), "command", bench_.loop, one.cancel.token());
  if (!taken) co_return std::unexpected(taken.error());
  std::vector<protocol::Payload> payloads;
  // What changed meanwhile is a task's doing, where one ran; else it is not known whose.
  for (protocol::FileFact& fact :
       tool::FactsOfTask(bench_.workspace.project, taken->seen, *bench_.files))
    payloads.emplace_back(std::move(fact));
  taken->event.tool_call_id = one.block.tool_call_id;
  payloads.emplace_back(std::move(taken->event));
  const auto appended = bench_.log.Append(Drafts(std::move(payloads)));
  co_return appended ? Status() : std::unexpected(appended.error());
}

std::string Calls::NotCoveredText(const One& one) const {
  if (!bench_.checkpoints->keeps() || !MayChangeProject(one)) return "";
  const tool::NotCovered left_out = bench_.checkpoints->not_covered();
  if (left_out.paths.empty() && !left_out.more) return "";
  return "Undo does not cover " + Named(left_out);
}

/// What a call that no person allowed must leave as it is: kDenied when that is more than a box can
/// hold.
Result<std::vector<std::string>> Calls::HeldFiles(const One& one) const {
  const bool unasked = one.by == kByPolicy && one.decision.box != policy::Box::kNone;
  if (!unasked || !bench_.checkpoints->keeps() || !MayChangeProject(one))
    return std::vector<std::string>();
  const tool::NotCovered left_out = bench_.checkpoints->not_covered();
  if (left_out.more || left_out.paths.size() > kMaxHeldFiles) {
    bench_.settings->sandbox.shared->KeptBack(one.intent.command);
    return Fail(
        Code::kDenied,
        fmt::format("what it changes could not all be put back ({}). Try again: the user is "
                    "asked",
                    Named(left_out)));
  }
  std::vector<std::string> held;
  for (const std::string& path : left_out.paths)
    held.push_back(bench_.workspace.project + "/" + path);
  return held;
}

/// What a call that is no command left changed: commands tell it themselves.
Async<void> Calls::SeeWhatChanged(One& one, tool::Outcome& outcome) {
  if (!bench_.checkpoints->keeps() || !MayChangeProject(one) || !one.intent.command.empty())
    co_return;
  const CancelToken never;
  const Result<tool::Seen> seen =
      co_await bench_.checkpoints->Look(tool::ViewOf(bench_.workspace), bench_.loop, never);
  if (!seen) co_return;
  for (protocol::FileFact& fact : tool::FactsOf(bench_.workspace.project, seen->changes,
                                                *bench_.files, one.block.tool_call_id))
    outcome.writes.push_back(std::move(fact));
}

}  // namespace stet::agent
