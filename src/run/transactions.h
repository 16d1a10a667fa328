// Transactions: writes to files on their way, as far as they are not settled. Pure; folded from
// events.
//
// The write fact of a call opens one (`writing`), its result without an error makes it `written`,
// a test or build that passes later `verified`; with an error it stays until it is reconciled by
// hash. `transaction` events say the rest, by id; a status that we do not know is `unknown`.
// Settled ones are only counted. A write or a deletion that leaves the file as it was before makes
// it `reverted`; any other takes the place of what was written before; one that is read again
// settles what was unknown. Beyond kMaxOpen the oldest written ones
// are counted as superseded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "protocol/conversation.h"
#include "protocol/run_facts.h"
#include "protocol/run_report.h"
#include "protocol/work.h"

namespace stet::run {

namespace tx {
inline constexpr std::string_view kPlanned = "planned";
inline constexpr std::string_view kWriting = "writing";
inline constexpr std::string_view kWritten = "written";
inline constexpr std::string_view kVerified = "verified";
inline constexpr std::string_view kBlocked = "blocked";
inline constexpr std::string_view kReverted = "reverted";
inline constexpr std::string_view kUnknown = "unknown";
}  // namespace tx

/// The id of the transaction that a write fact opens.
std::string TransactionId(const std::string& tool_call_id, const std::string& path);

class Transactions {
 public:
  static constexpr std::size_t kMaxOpen = 1000;

  /// Any file fact.
  void Fold(const protocol::FileFact& fact, std::uint64_t seq);
  void Fold(const protocol::ToolResult& result);
  void Fold(const protocol::Transaction& said, std::uint64_t seq);
  /// A test or a build passed: what is written so far is verified.
  void Verify();

  /// In the order they were opened.
  [[nodiscard]] const protocol::RunTransactions& open() const { return open_; }
  [[nodiscard]] const protocol::RunClosed& closed() const { return closed_; }
  /// Whether a write was recorded whose call has no result yet.
  [[nodiscard]] bool awaits_result() const { return !awaited_.empty(); }
  /// The first whose outcome only the file can tell; null when there is none. A write whose call
  /// still runs is not among them.
  [[nodiscard]] const protocol::RunTransaction* FirstUnsettled() const;

 private:
  void Settle(std::size_t at);
  void Revert(const protocol::FileFact& fact);
  void Supersede(const std::string& path, bool changed_again);
  [[nodiscard]] bool Awaited(const protocol::RunTransaction& one) const;

  protocol::RunTransactions open_;
  protocol::RunClosed closed_;
  std::unordered_set<std::string> awaited_;  // Calls.
};

}  // namespace stet::run
