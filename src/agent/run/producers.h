// What the loop tells the log about the run: denials as findings, tests and builds as evidence,
// writes in doubt as settled transactions, plan mode as a phase, and restored capsules.
//
// All of it belongs to the session's lane. Functions that give payloads append nothing: the caller
// puts them into the batch of what they are about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/workbench.h"
#include "policy/policy.h"
#include "run/capsule/capsule.h"
#include "tool/tool.h"

namespace stet::agent {

using Payloads = std::vector<protocol::Payload>;

/// A call, for what is said about it.
struct CallFacts {
  const std::string& tool_call_id;
  const std::string& tool;
  const tool::Intent& intent;
};

/// What the run permits now. A log that cannot be read permits nothing but reading.
policy::Capabilities CapabilitiesNow(Workbench& bench);

/// A denial: a warning, or a hard-deny when a hard rule said it; once for the same policy and
/// subject. Nothing when the run itself withheld it: that is on record.
Payloads FindingsOfDenial(Workbench& bench, const CallFacts& call,
                          const policy::Decision& decision);

/// What an outcome proves and raises: goes behind its file facts and before its result.
Payloads FactsOfOutcome(Workbench& bench, const CallFacts& call, const tool::Outcome& outcome);

/// The end of plan mode: the phase, and the mode as it was before planning.
Payloads EndOfPlan(const Workbench& bench, policy::Mode* mode);

/// Brings the run in step before calls are decided on: a compaction is restored, and the run is in
/// the phase `plan` exactly while the mode is plan. Cheap when there is nothing to do.
Status PrepareRun(Workbench& bench, const protocol::Stamp& stamp);

/// Verifies the run against the files: after a compaction, when a session is opened, and after a
/// move of the leaf. Appends transactions that the files settle and, when there is a compaction on
/// the path and the verdicts are new, `capsule_restored`; what the model must know is owed to
/// it.
Status RestoreAfterCompact(Workbench& bench, const protocol::Stamp& stamp);

/// The same when the run was not verified since the session was opened or its leaf was moved.
Status VerifyRun(Workbench& bench, const protocol::Stamp& stamp);

/// A turn begins, so the run goes on: a stop by a limit or a gate is lifted. A stop as unsafe or
/// out of scope stays.
Status LiftStop(Workbench& bench, const protocol::Stamp& stamp);

/// For capsules: the bytes of a regular file.
Result<std::string> ReadForCapsule(const std::string& path);

}  // namespace stet::agent
