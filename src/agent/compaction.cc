#include "agent/compaction.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/reattach.h"
#include "agent/request.h"
#include "agent/run/producers.h"
#include "agent/session_memory.h"
#include "agent/session_tools.h"
#include "agent/settings.h"
#include "agent/summary.h"
#include "base/utf8.h"
#include "context/plan.h"
#include "context/retelling.h"
#include "provider/provider.h"
#include "tool/bounded_output.h"

namespace stet::agent {
namespace {

constexpr int kFailuresBeforeGivingUp = 3;
constexpr std::int64_t kLeastAvailable = 1000;
constexpr std::int64_t kMaxReserve = 20'000;  // Tokens that a reply is given.
constexpr std::int64_t kTooLittleBytes = 2000;
// Of the smallest window that we work in, less what a reply is given there: whatever a
// configuration says, every server has this.
constexpr std::int64_t kLeastThreshold = 12'000;

/// What of the room below the threshold each part may have, in tokens; together less than all.
struct Shares {
  std::int64_t keep = 0;
  std::int64_t summary = 0;
  std::int64_t facts = 0;
  std::int64_t quote = 0;
  std::int64_t reattach = 0;
};

Shares SharesOf(const Room& room, bool smallest) {
  const std::int64_t all = room.available();
  Shares shares;
  shares.keep = smallest ? 0 : std::min<std::int64_t>(all / 5, 20'000);
  shares.summary = SummaryTokens(room);
  shares.facts = std::min<std::int64_t>(all / 20, 2'000);
  shares.quote = std::min<std::int64_t>(all / 10, 10'000);
  shares.reattach = smallest ? 0 : std::min<std::int64_t>(all / 6, 20'000);
  return shares;
}

/// A server that refused a request has less room than we think: less than that request. When it
/// refuses again after a compaction, only kLeastThreshold is believed.
Room Narrowed(Room room, const CompactionWanted& wanted, std::int64_t tokens_before) {
  if (wanted.trigger != trigger::kReactive) return room;
  const std::int64_t believed = wanted.smallest ? 0 : tokens_before;
  room.threshold = std::min(room.threshold, std::max(believed, kLeastThreshold));
  return room;
}

std::size_t Bytes(const Workbench& bench, std::int64_t tokens) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bench.tokens.BytesOf(tokens), 0));
}

/// The turn's own message, word for word; what does not fit can be read.
Result<std::string> Quoted(Workbench& bench, const context::Retelling& told, std::size_t part,
                           std::size_t max_bytes) {
  const std::string whole = told.Quote(part, SIZE_MAX);
  std::string note;
  if (whole.size() > max_bytes) {
    ASSIGN_OR_RETURN(const std::string blob, bench.log.blobs().Put(whole));
    note = fmt::format("The whole is in blob:{}, which Read shows.", blob);
  }
  return fmt::format("The request of the user that you are working on, word for word:\n{}\n",
                     tool::HeadAndTail(whole, max_bytes, note));
}

std::string Whole(const std::optional<Summary>& summary, std::string_view earlier,
                  const std::string& facts, const std::string& quote, std::size_t max_bytes) {
  std::string text =
      "What was said and done before this was left out to make room. The log keeps all of it.\n\n";
  if (summary) {
    text += summary->text + "\n\n";
  } else if (!earlier.empty()) {
    text += fmt::format("What was known before:\n{}\n\n",
                        earlier.substr(0, Utf8PrefixLength(earlier, max_bytes)));
  }
  if (!facts.empty())
    text += "These facts are from the log; where a summary differs, they are right.\n" + facts;
  if (!quote.empty()) text += "\n" + quote;
  return text;
}

/// The facts and the quote stand behind the summary in what is kept of the one before.
std::string_view SummaryPart(std::string_view earlier) {
  return earlier.substr(0, earlier.find("\nThese facts are from the log;"));
}

/// What is remembered of the session, when no more than `most_bytes` came after it: then the view
/// is cut behind what it covers.
Result<std::optional<SessionMemory>> FreshMemory(Workbench& bench, context::Cut& cut,
                                                 std::int64_t most_bytes) {
  ASSIGN_OR_RETURN(std::optional<SessionMemory> memory, FindMemory(bench.log));
  if (!memory || memory->text.empty()) return std::nullopt;
  const std::span<const context::Part> parts = bench.conversation.parts();
  const auto end = std::ranges::lower_bound(parts, memory->through, {}, &context::Part::event);
  if (end == parts.end() || end->event != memory->through) return std::nullopt;
  std::int64_t after = 0;
  for (auto part = std::next(end); part != parts.end(); ++part) after += part->bytes;
  if (after > most_bytes) return std::nullopt;
  cut = context::CutBehind(parts, static_cast<std::size_t>(end - parts.begin()));
  return memory;
}

}  // namespace

run::Capsule CapsuleNow(const log::Log& log, const run::State& state, std::string trace_id) {
  run::CapsuleFacts facts;
  facts.session_id = log.header().session_id;
  facts.trace_id = std::move(trace_id);
  facts.leaf_id = log.leaf_id();
  facts.seq = state.last_seq();
  facts.generation = state.generation() + 1;
  facts.created_at = SystemClock().Now();
  facts.reader = ReadForCapsule;
  return run::MakeCapsule(state, facts);
}

std::int64_t SummaryTokens(const Room& room) {
  return std::min<std::int64_t>(room.available() / 7, 8'000);
}

std::int64_t Room::available() const { return std::max(threshold - fixed, kLeastAvailable); }

Room RoomFor(const provider::Model& model, const ContextRules& rules) {
  Room room;
  room.window = std::max<std::int64_t>(model.context_window, 4 * kLeastAvailable);
  const std::int64_t reserve =
      std::min({std::max<std::int64_t>(model.max_output, 1), room.window / 4, kMaxReserve});
  room.most = room.window - reserve;
  room.threshold = std::min(room.window * rules.threshold_permille / 1000, room.most);
  return room;
}

Room RoomOf(const Workbench& bench) {
  Room room = RoomFor(bench.model->model(), bench.settings->context);
  room.fixed = bench.tokens.Of({.bytes = bench.fixed_bytes, .images = 0});
  if (bench.tokens.reported())
    room.fixed = bench.fixed_bytes * 1000 / std::max<std::int64_t>(bench.tokens.BytesOf(1000), 1);
  return room;
}

std::int64_t TokensNow(const Workbench& bench) {
  context::Size size = context::SizeOf(bench.conversation);
  size.bytes += bench.fixed_bytes;
  return bench.tokens.Of(size);
}

namespace {

/// What the compaction will do, decided before hooks or a model are asked.
struct Planned {
  std::int64_t tokens_before = 0;
  Room room;
  Shares shares;
  context::Cut cut;
  std::int64_t kept_bytes = 0;
  std::string keep_after;  // An event's id.
  std::optional<SessionMemory> memory;
  context::Retelling told;
};

/// Nothing when there is too little to leave out.
Result<std::optional<Planned>> Plan(Workbench& bench, const CompactionWanted& wanted) {
  RETURN_IF_ERROR(bench.conversation.Update(bench.log));
  Planned plan;
  plan.tokens_before = TokensNow(bench);
  plan.room = Narrowed(RoomOf(bench), wanted, plan.tokens_before);
  plan.shares = SharesOf(plan.room, wanted.smallest);
  const std::span<const context::Part> parts = bench.conversation.parts();
  const std::int64_t bytes = context::SizeOf(bench.conversation).bytes;
  const bool manual = wanted.trigger == trigger::kManual;
  if (manual && bytes < kTooLittleBytes) return std::nullopt;
  // A user who asks for a compaction wants it done, though there is room: keep less.
  const std::int64_t keep = bench.tokens.BytesOf(plan.shares.keep);
  const std::optional<context::Cut> cut =
      context::PlanCut(bench.log.index(), parts, manual ? std::min(keep, bytes / 4) : keep);
  if (!cut) return std::nullopt;
  plan.cut = *cut;
  if (wanted.focus.empty() && !wanted.smallest) {
    ASSIGN_OR_RETURN(plan.memory, FreshMemory(bench, plan.cut, 2 * keep));
  }
  for (const context::Part& part : parts.subspan(plan.cut.last_out + 1))
    plan.kept_bytes += part.bytes;
  ASSIGN_OR_RETURN(plan.keep_after, bench.log.IdOf(parts[plan.cut.last_out].event));
  ASSIGN_OR_RETURN(plan.told, context::Retelling::Read(bench.log, bench.conversation,
                                                       {.count = plan.cut.last_out + 1}));
  return plan;
}

/// By what is remembered, else by a model; nothing when neither gives one.
Async<Result<std::optional<Summary>>> Summarise(Workbench& bench, const protocol::Stamp& stamp,
                                                const Planned& plan, const CompactionWanted& wanted,
                                                CancelToken cancel) {
  int& failures = bench.growth.summary_failures;
  if (plan.memory) co_return std::optional(Summary{.text = plan.memory->text, .model = ""});
  // A user who asks for it has it tried, whatever failed before.
  const bool given_up = failures >= kFailuresBeforeGivingUp && wanted.trigger != trigger::kManual;
  if (wanted.smallest || given_up) co_return std::nullopt;
  SummaryWanted asked;
  asked.focus = wanted.focus;
  asked.max_bytes = Bytes(bench, plan.shares.summary);
  asked.fits = wanted.trigger != trigger::kReactive &&
               plan.tokens_before + plan.shares.summary < plan.room.window;
  Result<std::optional<Summary>> made =
      co_await AskForSummary(bench, stamp, plan.told, std::move(asked), cancel);
  if (made && !cancel.cancelled()) failures = *made ? 0 : failures + 1;
  co_return made;
}

/// All but trigger and capsule.
Result<protocol::Compaction> MakeEvent(Workbench& bench, const Planned& plan,
                                       const std::optional<Summary>& summary) {
  const context::Retelling& told = plan.told;
  std::string quote;
  if (plan.cut.quoted) {
    ASSIGN_OR_RETURN(quote, Quoted(bench, told, *plan.cut.quoted, Bytes(bench, plan.shares.quote)));
  }
  protocol::Compaction event;
  event.keep_after_event_id = plan.keep_after;
  event.tokens_before = plan.tokens_before;
  if (summary && !summary->model.empty()) event.model = summary->model;
  event.summary =
      Whole(summary, SummaryPart(told.earlier()), told.Facts(Bytes(bench, plan.shares.facts)),
            quote, Bytes(bench, plan.shares.summary));
  // But for what is attached again.
  const auto summary_bytes = static_cast<std::int64_t>(event.summary.size());
  event.tokens_after =
      bench.tokens.Of({.bytes = bench.fixed_bytes + plan.kept_bytes + summary_bytes, .images = 0});
  return event;
}

}  // namespace

Async<Result<std::optional<Compacted>>> Compact(Workbench& bench, const protocol::Stamp& stamp,
                                                CompactionWanted wanted, CancelToken cancel) {
  CO_ASSIGN_OR_RETURN(std::optional<Planned> plan, Plan(bench, wanted));
  if (!plan) co_return std::nullopt;
  const std::string kind(wanted.trigger == trigger::kManual ? "manual" : "auto");
  const std::size_t focus = wanted.focus.size();
  Result<bool> agreed = co_await BeforeCompaction(bench, stamp, kind, wanted.focus, cancel);
  if (!agreed) co_return std::unexpected(agreed.error());
  // A reactive one happens though hooks object: the server takes no request of this size.
  if (!*agreed && wanted.trigger != trigger::kReactive) co_return std::nullopt;
  if (wanted.focus.size() != focus) plan->memory.reset();
  Result<std::optional<Summary>> summary = co_await Summarise(bench, stamp, *plan, wanted, cancel);
  if (!summary) co_return std::unexpected(summary.error());
  // The turn ends here: the next one compacts, by a model that is let finish.
  if (cancel.cancelled()) co_return std::nullopt;

  CO_ASSIGN_OR_RETURN(protocol::Compaction event, MakeEvent(bench, *plan, *summary));
  event.trigger = wanted.trigger;
  event.client_message_id = wanted.client_message_id;
  CO_RETURN_IF_ERROR(bench.run.Update(bench.log));
  event.capsule = Raw{Encode(CapsuleNow(bench.log, bench.run.state(), stamp.turn_id.value_or("")))};
  std::string told = event.summary;
  CO_RETURN_IF_ERROR(AppendEvent(bench.log, std::move(event), stamp));
  bench.tools.Renew();
  CO_RETURN_IF_ERROR(KeepToolset(bench, stamp));
  bench.fixed_bytes = BytesOf(PartsOf(bench));
  CO_RETURN_IF_ERROR(RestoreAfterCompact(bench, stamp));
  CO_RETURN_IF_ERROR(Reattach(bench, stamp, plan->told, Bytes(bench, plan->shares.reattach)));
  const Status heard = co_await AfterCompaction(bench, stamp, kind, std::move(told), cancel);
  if (!heard) co_return std::unexpected(heard.error());
  CO_RETURN_IF_ERROR(bench.conversation.Update(bench.log));
  Compacted done;
  done.tokens_before = plan->tokens_before;
  done.tokens_after = TokensNow(bench);
  done.source = plan->memory ? "memory" : *summary ? "model" : "log";
  co_return done;
}

}  // namespace stet::agent
