#include "run/ledger.h"

#include <algorithm>

namespace stet::run {
namespace {

using protocol::CostSum;

void Add(CostSum& to, const CostSum& from) {
  to.calls += from.calls;
  to.attempts += from.attempts;
  to.input += from.input;
  to.output += from.output;
  to.cache_read += from.cache_read;
  to.cache_write += from.cache_write;
  to.reasoning += from.reasoning;
  to.price += from.price;
  to.unknown_calls += from.unknown_calls;
  to.unpriced_calls += from.unpriced_calls;
}

CostSum& Named(protocol::CostSums& sums, const std::string& name) {
  const auto found = std::ranges::find(sums, name, &CostSum::name);
  if (found != sums.end()) return *found;
  sums.emplace_back().name = name;
  return sums.back();
}

void TakeEnd(const protocol::ModelCall& call, CostSum& sum) {
  bool unknown = !call.attempts || call.attempts->empty();
  if (call.attempts) {
    for (const protocol::Attempt& attempt : *call.attempts) {
      ++sum.attempts;
      unknown = unknown || !attempt.usage || attempt.partial.value_or(false);
      if (!attempt.usage) continue;
      sum.input += attempt.usage->input;
      sum.output += attempt.usage->output;
      sum.cache_read += attempt.usage->cache_read.value_or(0);
      sum.cache_write += attempt.usage->cache_write.value_or(0);
      sum.reasoning += attempt.usage->reasoning.value_or(0);
    }
  }
  sum.unknown_calls = unknown ? 1 : 0;
  sum.unpriced_calls = call.price ? 0 : 1;
  sum.price = call.price.value_or(0);
}

}  // namespace

void Ledger::Fold(const protocol::Event& event) {
  const auto* call = std::get_if<protocol::ModelCall>(&event.payload);
  if (call == nullptr) return;
  const auto [at, is_new] = by_id_.try_emplace(call->call_id, calls_.size());
  if (is_new) {
    Call& added = calls_.emplace_back();
    added.purpose = call->purpose.value_or("");
    added.model = call->model.value_or("");
    added.turn = event.stamp.turn_id.value_or("");
    added.sum.calls = 1;
    added.sum.unknown_calls = 1;  // Until its end is met.
  }
  if (call->phase == protocol::phase::kEnd) {
    CostSum& sum = calls_[at->second].sum;
    sum = CostSum();
    sum.calls = 1;
    TakeEnd(*call, sum);
  }
}

protocol::CostReport Ledger::Report(const std::string& session_id) const {
  protocol::CostReport report;
  report.session_id = session_id;
  for (const Call& call : calls_) {
    Add(report.total, call.sum);
    Add(Named(report.purposes, call.purpose), call.sum);
    Add(Named(report.models, call.model), call.sum);
    // Turns come one after the other: the last is the one looked for, nearly always.
    const bool same = !report.turns.empty() && report.turns.back().name == call.turn;
    Add(same ? report.turns.back() : Named(report.turns, call.turn), call.sum);
  }
  return report;
}

}  // namespace stet::run
