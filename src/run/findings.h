// Findings: what policies and gates object to, as long as it is open. Pure; folded from events.
//
// A severity that we do not know is read as hard-deny. A finding is closed by being cleared, or
// lifted by an event that names its author and a reason: a justification lifts a soft-deny or a
// warning, a waiver anything; those of the model lift no hard-deny and no wanted evidence. Denials
// are kept however many they are; of warnings the last kMaxWarnings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/run_facts.h"
#include "protocol/run_report.h"

namespace stet::run {

namespace severity {
inline constexpr std::string_view kHardDeny = "hard-deny";
inline constexpr std::string_view kSoftDeny = "soft-deny";
inline constexpr std::string_view kEvidence = "evidence-required";
inline constexpr std::string_view kWarning = "warning";
}  // namespace severity

/// The model as an author: it may not lift what binds it.
inline constexpr std::string_view kByModel = "model";

/// An open finding with what its subject says.
struct Finding {
  protocol::RunFinding data;
  std::string gate;      // finish, write, run, outside-write; empty: it configures no gate.
  std::string evidence;  // The kind that would settle it; empty: none does.
  std::string question;  // The question whose answer would settle it.
  bool holds_write = false;
  bool holds_run = false;

  [[nodiscard]] bool is(std::string_view severity) const { return data.severity == severity; }
};

class Findings {
 public:
  static constexpr std::size_t kMaxWarnings = 100;

  /// Raised again under the same id, it is what it is now.
  void Raise(const protocol::FindingRaised& raised, std::uint64_t seq);
  /// True: it was open, and is no longer.
  bool Clear(const protocol::FindingCleared& cleared);
  bool Lift(const protocol::Waiver& waiver);
  void DropWarnings();

  /// In the order they were raised.
  [[nodiscard]] const std::vector<Finding>& open() const { return open_; }
  /// Whether one with this policy and subject is open; null stands for no subject.
  [[nodiscard]] bool Has(std::string_view policy, const protocol::OptionalRaw& subject) const;

 private:
  bool Remove(std::string_view id);

  std::vector<Finding> open_;
};

}  // namespace stet::run
