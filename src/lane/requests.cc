#include "lane/requests.h"

#include "agent/room.h"
#include "base/hash.h"
#include "lane/request_maker.h"

namespace stet::lane {
namespace {

protocol::ReplayRow RowOf(const protocol::Event& event, const protocol::ModelCall& call) {
  protocol::ReplayRow row;
  row.call_id = call.call_id;
  row.turn_id = event.stamp.turn_id.value_or("");
  row.purpose = call.purpose.value_or("");
  row.model = call.model.value_or("");
  row.dialect = call.dialect.value_or("");
  row.recorded_hash = call.request_hash.value_or("");
  row.verdict = "not_compared";
  return row;
}

/// The request of a turn, made again.
void Compare(const Result<provider::WireRequest>& wire, protocol::ReplayRow& row) {
  if (!wire) {
    row.why = wire.error().Text();
    return;
  }
  row.hash = FastHashHex(wire->body);
  row.bytes = static_cast<std::int64_t>(wire->body.size());
  const bool same = row.hash == row.recorded_hash;
  row.verdict = same ? "same" : "different";
  if (!same) row.why = "the log gives other bytes than were sent";
}

}  // namespace

Result<protocol::ReplayReport> ReplayRequests(log::Log& log, const config::Settings& settings) {
  protocol::ReplayReport report;
  report.session_id = log.header().session_id;
  RequestMaker maker(log, settings);
  RETURN_IF_ERROR(maker.Open());
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    if (entries[at].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    const auto* call = std::get_if<protocol::ModelCall>(&event.payload);
    if (call == nullptr || call->phase != protocol::phase::kStart) continue;
    protocol::ReplayRow& row = report.requests.emplace_back(RowOf(event, *call));
    if (row.purpose == "turn")
      Compare(maker.Make(*call, at), row);
    else
      row.why = "it was not made for a turn";
    ++(row.verdict == "same"        ? report.same
       : row.verdict == "different" ? report.different
                                    : report.not_compared);
  }
  return report;
}

void PrimeRequests(agent::Workbench& bench, const config::Settings& settings) {
  const std::vector<TurnCall> last = LastTurnCalls(bench.log, 1);
  RequestMaker maker(bench.log, settings);
  if (last.empty() || !maker.Open()) return;
  const TurnCall& call = last.front();
  const Result<provider::WireRequest> wire = maker.Make(call.start, call.at);
  const Result<const provider::Model*> model = maker.ModelNamed(call.start.model.value_or(""));
  if (!wire || !model) return;
  bench.account.Prime("turn", **model, *wire, call.usage, call.ts, call.at);
  bench.fixed_bytes = agent::BytesOf(maker.parts());
  bench.conversation = maker.TakeConversation();
  agent::LearnTokens(bench, call.usage);
  bench.fixed_bytes = 0;  // The tools may be others now.
}

}  // namespace stet::lane
