#include "agent/room.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/compaction.h"
#include "agent/request.h"
#include "agent/settings.h"
#include "context/plan.h"
#include "tool/bounded_output.h"

namespace stet::agent {
namespace {

constexpr std::size_t kPreviewBytes = 2000;
constexpr std::size_t kClearedBytes = 300;  // What stays of an old result.
constexpr std::size_t kRecentSteps = 12;    // Their results are not old.
constexpr std::uint32_t kLargeResult = 3000;
// Clearing breaks the cached prefix: it is done late, and then for much.
constexpr std::int64_t kClearFromPermille = 600;  // Of the threshold.
constexpr std::int64_t kWorthwhilePermille = 150;

/// The text of the result that an event is; empty where it is none.
Result<std::string> TextOf(const log::Log& log, log::Ordinal event) {
  ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
  const auto* result = std::get_if<protocol::ToolResult>(&found.payload);
  if (result == nullptr) return std::string();
  Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(result->content.text);
  return blocks ? protocol::PlainText(*blocks) : result->content.text;
}

/// The results become a preview and a blob that the model can read.
Status Replace(Workbench& bench, std::span<const std::size_t> parts, std::size_t preview_bytes,
               std::string_view by, const protocol::Stamp& stamp) {
  std::vector<log::Draft> batch;
  for (const std::size_t at : parts) {
    const log::Ordinal event = bench.conversation.parts()[at].event;
    ASSIGN_OR_RETURN(const std::string text, TextOf(bench.log, event));
    protocol::ContentReplacement replacement;
    replacement.by = by;
    ASSIGN_OR_RETURN(replacement.blob, bench.log.blobs().Put(text));
    ASSIGN_OR_RETURN(std::string id, bench.log.IdOf(event));
    replacement.event_ids.push_back(std::move(id));
    const std::string note =
        fmt::format("The whole is in blob:{}, which Read shows.", *replacement.blob);
    replacement.preview = text.size() > preview_bytes ? tool::HeadAndTail(text, preview_bytes, note)
                                                      : fmt::format("{}\n[{}]", text, note);
    batch.push_back({.payload = std::move(replacement), .id = "", .stamp = stamp});
  }
  if (batch.empty()) return {};
  RETURN_IF_ERROR(bench.log.Append(std::move(batch)));
  return bench.conversation.Update(bench.log);
}

Status KeepResultsToBudget(Workbench& bench, const Room& room, const protocol::Stamp& stamp) {
  const std::int64_t budget =
      bench.settings->context.result_budget > 0
          ? std::min(bench.settings->context.result_budget, room.available() / 2)
          : room.available() / 4;
  const std::vector<std::size_t> over =
      context::ResultsOverBudget(bench.conversation.parts(), bench.tokens.BytesOf(budget));
  return Replace(bench, over, kPreviewBytes, "result_budget", stamp);
}

Status ClearOldResults(Workbench& bench, const Room& room, const protocol::Stamp& stamp) {
  if (TokensNow(bench) * 1000 < room.threshold * kClearFromPermille) return {};
  const std::span<const context::Part> parts = bench.conversation.parts();
  const std::vector<std::size_t> old = context::OldResults(parts, kRecentSteps, kLargeResult);
  context::Size saved;
  for (const std::size_t at : old)
    saved += {static_cast<std::int64_t>(parts[at].bytes) - static_cast<std::int64_t>(kClearedBytes),
              parts[at].images};
  const std::int64_t worth = room.threshold * kWorthwhilePermille / 1000;
  if (saved.bytes < bench.tokens.BytesOf(worth)) return {};
  return Replace(bench, old, kClearedBytes, "micro_compaction", stamp);
}

}  // namespace

Async<Status> MakeRoom(Workbench& bench, const protocol::Stamp& stamp, CancelToken cancel) {
  CO_RETURN_IF_ERROR(bench.conversation.Update(bench.log));
  if (bench.fixed_bytes == 0) bench.fixed_bytes = BytesOf(PartsOf(bench));  // They do not change.
  const Room room = RoomOf(bench);
  CO_RETURN_IF_ERROR(KeepResultsToBudget(bench, room, stamp));
  if (bench.settings->context.auto_compact) CO_RETURN_IF_ERROR(ClearOldResults(bench, room, stamp));
  Growth& growth = bench.growth;
  const std::int64_t now = TokensNow(bench);
  if (growth.last > 0)
    growth.expected = (3 * growth.expected + std::max<std::int64_t>(now - growth.last, 0)) / 4;
  const bool full = now >= room.threshold;
  const bool soon = now + growth.expected > room.most && now * 4 > room.threshold * 3;
  if (bench.settings->context.auto_compact && growth.answered && (full || soon)) {
    CompactionWanted wanted{.trigger = full ? trigger::kAuto : trigger::kPredictive, .focus = ""};
    const Result<std::optional<Compacted>> done =
        co_await Compact(bench, stamp, std::move(wanted), cancel);
    if (!done) co_return std::unexpected(done.error());
    // Not twice in a row: whether it helped is known when a model has answered.
    growth.answered = cancel.cancelled();
    growth.expected = 0;
  }
  growth.last = TokensNow(bench);
  co_return Status();
}

void LearnTokens(Workbench& bench, const protocol::OptionalUsage& usage) {
  bench.growth.answered = true;
  if (!usage) return;
  context::Size size = context::SizeOf(bench.conversation);
  size.bytes += bench.fixed_bytes;
  const std::int64_t tokens =
      usage->input + usage->cache_read.value_or(0) + usage->cache_write.value_or(0);
  bench.tokens.Took(size, tokens);
  bench.growth.last = bench.tokens.Of(size);
}

}  // namespace stet::agent
