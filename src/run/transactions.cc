#include "run/transactions.h"

#include <algorithm>
#include <array>

namespace stet::run {
namespace {

constexpr std::array kStatuses = {tx::kPlanned, tx::kWriting,  tx::kWritten, tx::kVerified,
                                  tx::kBlocked, tx::kReverted, tx::kUnknown};

bool IsSettled(const std::string& status) {
  return status == tx::kVerified || status == tx::kReverted;
}

}  // namespace

std::string TransactionId(const std::string& tool_call_id, const std::string& path) {
  return tool_call_id + ":" + path;
}

bool Transactions::Awaited(const protocol::RunTransaction& one) const {
  return one.tool_call_id && awaited_.contains(*one.tool_call_id);
}

/// Counts and removes it, if it is settled.
void Transactions::Settle(std::size_t at) {
  const std::string& status = open_[at].status;
  if (!IsSettled(status)) return;
  ++(status == tx::kVerified ? closed_.verified : closed_.reverted);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Those that the fact undoes: it leaves their file as it was before them, or gone as it was.
void Transactions::Revert(const protocol::FileFact& fact) {
  if (fact.op == "write" && !fact.after) return;  // It does not say how it leaves the file.
  const protocol::OptionalText left = fact.op == "write" ? fact.after : std::nullopt;
  const auto gone = std::erase_if(open_, [&](const protocol::RunTransaction& one) {
    if (one.path != fact.path || one.before != left || Awaited(one)) return false;
    return one.status == tx::kUnknown || one.status == tx::kWriting || one.status == tx::kWritten;
  });
  closed_.reverted += static_cast<std::int64_t>(gone);
}

void Transactions::Supersede(const std::string& path, bool changed_again) {
  const auto gone = std::erase_if(open_, [&](const protocol::RunTransaction& one) {
    if (one.path != path || Awaited(one)) return false;
    return one.status == tx::kUnknown || one.status == tx::kWriting ||
           (changed_again && one.status == tx::kWritten);
  });
  closed_.superseded += static_cast<std::int64_t>(gone);
}

void Transactions::Fold(const protocol::FileFact& fact, std::uint64_t seq) {
  if (fact.op == "read") Supersede(fact.path, false);
  if (fact.op != "write" && fact.op != "delete") return;
  Revert(fact);
  Supersede(fact.path, true);
  if (fact.op == "delete" || !fact.tool_call_id) return;
  protocol::RunTransaction opened;
  opened.transaction_id = TransactionId(*fact.tool_call_id, fact.path);
  opened.path = fact.path;
  opened.status = tx::kWriting;
  opened.before = fact.before;
  opened.after = fact.after;
  opened.tool_call_id = fact.tool_call_id;
  opened.seq = seq;
  std::erase_if(open_,
                [&](const auto& one) { return one.transaction_id == opened.transaction_id; });
  awaited_.insert(*fact.tool_call_id);
  open_.push_back(std::move(opened));
  if (open_.size() <= kMaxOpen) return;
  const auto oldest = std::ranges::find(open_, tx::kWritten, &protocol::RunTransaction::status);
  if (oldest == open_.end()) return;
  open_.erase(oldest);
  ++closed_.superseded;
}

void Transactions::Fold(const protocol::ToolResult& result) {
  if (awaited_.erase(result.tool_call_id) == 0 || result.is_error) return;
  for (protocol::RunTransaction& one : open_) {
    if (one.tool_call_id == result.tool_call_id && one.status == tx::kWriting)
      one.status = tx::kWritten;
  }
}

void Transactions::Fold(const protocol::Transaction& said, std::uint64_t seq) {
  auto found =
      std::ranges::find(open_, said.transaction_id, &protocol::RunTransaction::transaction_id);
  if (found == open_.end()) {
    open_.emplace_back().transaction_id = said.transaction_id;
    found = open_.end() - 1;
  }
  const bool known = std::ranges::find(kStatuses, said.status) != kStatuses.end();
  found->status = known ? said.status : std::string(tx::kUnknown);
  found->path = said.path;
  found->seq = seq;
  // What an event does not say stays as it was.
  if (said.before) found->before = said.before;
  if (said.after) found->after = said.after;
  if (said.tool_call_id) found->tool_call_id = said.tool_call_id;
  if (!said.anchor_ids.empty()) found->anchor_ids = said.anchor_ids;
  if (said.reason) found->reason = said.reason;
  Settle(static_cast<std::size_t>(found - open_.begin()));
}

void Transactions::Verify() {
  const auto gone = std::erase_if(
      open_, [](const protocol::RunTransaction& one) { return one.status == tx::kWritten; });
  closed_.verified += static_cast<std::int64_t>(gone);
}

const protocol::RunTransaction* Transactions::FirstUnsettled() const {
  const auto found = std::ranges::find_if(open_, [&](const protocol::RunTransaction& one) {
    return one.status == tx::kUnknown || (one.status == tx::kWriting && !Awaited(one));
  });
  return found == open_.end() ? nullptr : &*found;
}

}  // namespace stet::run
