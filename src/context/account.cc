#include "context/account.h"

#include <algorithm>
#include <set>

namespace stet::context {
namespace {

/// What it costs to have `tokens` read anew instead of from the cache.
protocol::OptionalInt CostOf(const provider::Model& model, std::int64_t tokens) {
  if (!model.prices) return std::nullopt;
  const provider::Prices& prices = *model.prices;
  const std::int64_t fresh = prices.cache_write > 0 ? prices.cache_write : prices.input;
  constexpr std::int64_t kMillion = 1'000'000;
  return static_cast<std::int64_t>(static_cast<__int128>(tokens) *
                                   std::max<std::int64_t>(fresh - prices.cache_read, 0) / kMillion);
}

}  // namespace

const ServerCache& Account::CacheOf(const std::string& model) const {
  static const ServerCache none;
  const auto found = caches_.find(model);
  return found == caches_.end() ? none : found->second;
}

/// Whichever the model.
const Account::Request* Account::LastOf(const std::string& purpose) const {
  const Request* last = nullptr;
  for (const auto& [key, request] : last_) {
    if (key.first == purpose && (last == nullptr || request.events >= last->events))
      last = &request;
  }
  return last;
}

Account::Request Account::Look(const provider::Model& model, const provider::WireRequest& wire,
                               Millis at, std::size_t events) const {
  Request request{.print = PrintOf(model, wire), .rules = RulesFor(model), .at = at};
  const ServerCache& cache = CacheOf(request.print.model);
  request.events = events;
  request.hit = cache.Read(request.print, request.rules, at);
  return request;
}

protocol::Prefix Account::Judge(const std::string& purpose, const provider::Model& model,
                                const Request& request, const log::Log& log) const {
  protocol::Prefix prefix;
  if (request.rules.kind != CacheRules::Kind::kNone) prefix.cached = request.hit.tokens;
  const auto found = last_.find({purpose, request.print.model});
  const bool known = found != last_.end() && found->second.print.dialect == request.print.dialect;
  const Request* before = known ? &found->second : LastOf(purpose);
  if (before == nullptr) return prefix;
  if (known) {
    const Comparison comparison = Compare(before->print, request.print);
    prefix.equal_bytes = comparison.equal_bytes;
    if (comparison.extends) return prefix;
    prefix.cause = CauseOf(comparison, log, before->events);
  } else {
    prefix.cause = cause::kModel;
  }
  const std::int64_t would_be =
      CacheOf(before->print.model).Read(before->print, before->rules, request.at).tokens;
  prefix.cost = CostOf(model, std::max<std::int64_t>(would_be - request.hit.tokens, 0));
  return prefix;
}

protocol::Prefix Account::Foresee(const std::string& purpose, const provider::Model& model,
                                  const provider::WireRequest& wire, const log::Log& log) const {
  return Judge(purpose, model, Look(model, wire, clock_.Now(), log.index().entries().size()), log);
}

protocol::Prefix Account::Begin(const std::string& purpose, const provider::Model& model,
                                const provider::WireRequest& wire, const log::Log& log) {
  Request request = Look(model, wire, clock_.Now(), log.index().entries().size());
  protocol::Prefix prefix = Judge(purpose, model, request, log);
  request.open = true;
  Keep(purpose, std::move(request));
  return prefix;
}

void Account::Keep(const std::string& purpose, Request request) {
  std::set<std::string> models;
  for (auto& [key, old] : last_) {
    models.insert(key.second);
    if (key.first == purpose) old.open = false;
  }
  if (models.size() >= kMaxModels && !models.contains(request.print.model)) {
    last_.clear();
    caches_.clear();
  }
  Key key(purpose, request.print.model);
  last_.insert_or_assign(std::move(key), std::move(request));
}

void Account::End(const std::string& purpose, const protocol::OptionalUsage& usage) {
  for (auto& [key, request] : last_) {
    if (key.first != purpose || !std::exchange(request.open, false) || !usage) continue;
    const std::int64_t total =
        usage->input + usage->cache_read.value_or(0) + usage->cache_write.value_or(0);
    if (total <= 0) return;
    caches_[key.second].Write(request.print, request.rules, *usage, request.hit, request.at);
  }
}

void Account::Prime(const std::string& purpose, const provider::Model& model,
                    const provider::WireRequest& wire, const protocol::OptionalUsage& usage,
                    Millis at, std::size_t events) {
  Request request = Look(model, wire, at, events);
  request.open = true;
  Keep(purpose, std::move(request));
  End(purpose, usage);
}

}  // namespace stet::context
