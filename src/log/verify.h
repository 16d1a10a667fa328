// Verify: reads every byte of a session and tells everything that is wrong with it at once. Repair:
// does about it what a writer's opening does, from a full scan, and says beforehand what that is.
// Neither ever removes a byte that can be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/index.h"
#include "log/log.h"

namespace stet::log {

/// The fault's stable name: "damaged_line".
std::string_view FaultName(Fault::Kind kind);
/// What it is, for people: "damaged line".
std::string_view FaultTitle(Fault::Kind kind);

struct Verdict {
  std::vector<Fault> faults;  // In file order, then those about no line.
  std::uint64_t events = 0;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blobs = 0;  // Distinct ones that events name.

  /// Nothing is wrong but what the log itself records.
  [[nodiscard]] bool sound() const;
};

/// Without a lock and without changing anything. Damage that a gap event already names is told all
/// the same, as recorded. Fails only when there is nothing to verify: no folder, no log, a
/// directory in place of the log, no permission.
Result<Verdict> Verify(const std::string& dir);

/// What Repair would do about the faults, one sentence each; empty when there is nothing to do.
std::vector<std::string> PlanRepair(const Verdict& verdict);

/// Takes the lock, folds the whole log again, sets torn and damaged bytes aside, records gaps, and
/// writes index and summary anew. kBusy when another process writes the session.
Status Repair(const std::string& dir, Options options);

}  // namespace stet::log
