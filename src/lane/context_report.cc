#include "lane/context_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/compaction.h"
#include "base/loop.h"
#include "context/account.h"
#include "context/plan.h"
#include "context/tokens.h"
#include "device/model_access.h"
#include "device/model_names.h"
#include "lane/request_maker.h"
#include "provider/selection.h"

namespace stet::lane {
namespace {

/// What the request carries that was made last.
context::Size SizeOf(const RequestMaker& maker) {
  context::Size size = context::SizeOf(maker.conversation());
  size.bytes += agent::BytesOf(maker.parts());
  return size;
}

/// What servers reported of the last requests.
struct Past {
  context::Tokens tokens;
  context::Account account;
  std::int64_t bytes = 0;  // Of the last one.
  std::optional<protocol::ModelCall> last;
  protocol::OptionalUsage usage;
};

/// Two requests: the second tells how far off an estimate is that knows of the first.
Past ReadPast(log::Log& log, RequestMaker& maker) {
  Past past;
  for (TurnCall& call : LastTurnCalls(log, 2)) {
    const Result<provider::WireRequest> wire = maker.Make(call.start, call.at);
    const Result<const provider::Model*> model = maker.ModelNamed(call.start.model.value_or(""));
    if (!wire || !model) continue;
    past.account.Prime("turn", **model, *wire, call.usage, call.ts, call.at);
    if (call.usage) past.tokens.Took(SizeOf(maker), PromptTokens(*call.usage));
    past.bytes = context::PrintOf(**model, *wire).bytes();
    past.usage = call.usage;
    past.last = std::move(call.start);
  }
  return past;
}

void AddPart(protocol::ContextReport& report, std::string_view name, std::size_t bytes) {
  const auto found = std::ranges::find(report.parts, name, &protocol::ContextPart::name);
  protocol::ContextPart& part = found != report.parts.end() ? *found : report.parts.emplace_back();
  part.name = name;
  part.count += 1;
  part.bytes += static_cast<std::int64_t>(bytes);
}

std::size_t BytesOf(const protocol::Blocks& blocks) { return Encode(blocks).size(); }

void DescribeParts(const RequestMaker& maker, const context::Tokens& tokens,
                   protocol::ContextReport& report) {
  for (const protocol::Section& section : maker.snapshot().snapshot.sections) {
    if (!section.rendered_block.empty())
      AddPart(report, "system." + section.kind, section.rendered_block.size());
  }
  for (const provider::ToolSpec& tool : maker.parts().tools)
    AddPart(report, "tools", tool.name.size() + tool.description.size() + tool.schema.text.size());
  for (const provider::Entry& entry : maker.conversation().Entries()) {
    if (const auto* user = std::get_if<provider::UserInput>(&entry)) {
      const bool ours = protocol::PlainText(user->blocks).starts_with("<system-reminder>");
      AddPart(report, ours ? "reminders" : "user", BytesOf(user->blocks));
    } else if (const auto* turn = std::get_if<provider::AssistantTurn>(&entry)) {
      AddPart(report, "assistant", BytesOf(turn->blocks));
    } else if (const auto* result = std::get_if<provider::ToolResult>(&entry)) {
      AddPart(report, "tool results", BytesOf(result->content));
    }
  }
  const std::int64_t per_thousand = std::max<std::int64_t>(tokens.BytesOf(1000), 1);
  for (protocol::ContextPart& part : report.parts) part.tokens = part.bytes * 1000 / per_thousand;
}

/// Asks the server of the request that was made last.
Result<std::int64_t> Count(RequestMaker& maker, const config::Settings& settings,
                           const provider::Environment& keys, const std::string& model) {
  ASSIGN_OR_RETURN(provider::Selected selected,
                   provider::SelectModel(settings, device::AskedFor(settings, model), keys));
  Loop loop;
  device::ModelAccess access(loop);
  const std::unique_ptr<provider::Provider> provider = access.Open(std::move(selected));
  provider::Request request = maker.Lend();
  const Result<std::int64_t> counted =
      loop.RunUntilDone(provider->CountTokens(request, CancelToken()));
  maker.TakeBack(std::move(request));
  return counted;
}

}  // namespace

Result<protocol::ContextReport> DescribeContext(log::Log& log, const config::Settings& settings,
                                                const provider::Environment& keys,
                                                const protocol::ContextWanted& wanted) {
  RequestMaker maker(log, settings);
  RETURN_IF_ERROR(maker.Open());
  protocol::ContextReport report;
  report.session_id = log.header().session_id;
  report.model = log.index().state().info.model.value_or(log.header().meta.model);
  const Past past = ReadPast(log, maker);
  ASSIGN_OR_RETURN(const provider::WireRequest next, maker.MakeNext(report.model));
  ASSIGN_OR_RETURN(const provider::Model* model, maker.ModelNamed(report.model));
  report.dialect = provider::DialectName(model->dialect);
  const agent::Room room = agent::RoomFor(
      *model, {.auto_compact = true, .threshold_permille = settings.threshold_permille});
  report.context_window = model->context_window;
  report.threshold = room.threshold;
  report.bytes = static_cast<std::int64_t>(next.body.size());
  report.tokens = past.tokens.Of(SizeOf(maker));
  report.error_permille = past.tokens.error_permille();
  DescribeParts(maker, past.tokens, report);
  if (wanted.wire) report.body = next.body;
  if (wanted.count) {
    ASSIGN_OR_RETURN(report.counted, Count(maker, settings, keys, report.model));
  }
  const protocol::Prefix prefix = past.account.Foresee("turn", *model, next, log);
  report.cached = prefix.cached;
  if (!past.last) return report;
  if (past.usage) report.last_tokens = PromptTokens(*past.usage);
  report.last_bytes = past.bytes;
  report.same_bytes = prefix.equal_bytes;
  report.cause = prefix.cause;
  report.cost = prefix.cost;
  return report;
}

}  // namespace stet::lane
