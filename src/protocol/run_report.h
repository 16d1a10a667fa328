// Where a run stands, as faces show it, `--json` prints it and a capsule carries it: plain data,
// made by run::State. Its words are those of doc/format/capsule.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

/// What comes next, and at once why it does not simply go on.
struct RunNext {
  STET_FIELDS(RunNext,
              (Text, code),  // stop, denied, question, reconcile, resume, gate, finish, go_on
              (Text, subject),  // The id of what it is about, if anything.
              (Text, text),
              (bool, blocks))
};

struct RunCapabilities {
  STET_FIELDS(RunCapabilities,
              (bool, may_write),
              (bool, may_run),
              (bool, may_finish),
              (Text, reason))  // Why not, for the first that is not given.
};

struct RunFinding {
  STET_FIELDS(RunFinding,
              (Text, finding_id),
              (Text, policy),
              (Text, severity),
              (Text, message),
              (OptionalRaw, subject),
              (Texts, evidence_ids),
              (std::uint64_t, seq))
};
using RunFindings = std::vector<RunFinding>;

/// A finding that configures a gate, and what the gate says now.
struct RunGate {
  STET_FIELDS(RunGate,
              (Text, finding_id),
              (Text, policy),
              (Text, severity),
              (Text, gate),  // finish, write, run, outside-write
              (OptionalText, evidence),  // The kind that it wants.
              (Text, state))  // passed, failed, not_evaluated
};
using RunGates = std::vector<RunGate>;

struct RunQuestion {
  STET_FIELDS(RunQuestion,
              (Text, question_id),
              (Text, text),
              (bool, blocking),
              (OptionalRaw, options),
              (std::uint64_t, seq))
};
using RunQuestions = std::vector<RunQuestion>;

struct RunTransaction {
  STET_FIELDS(RunTransaction,
              (Text, transaction_id),
              (Text, path),
              (Text, status),
              (OptionalText, before),
              (OptionalText, after),
              (OptionalText, tool_call_id),
              (Texts, anchor_ids),
              (OptionalText, reason),
              (std::uint64_t, seq))
};
using RunTransactions = std::vector<RunTransaction>;

/// How many transactions are closed.
struct RunClosed {
  STET_FIELDS(RunClosed,
              (std::int64_t, verified),
              (std::int64_t, reverted),
              (std::int64_t, superseded))  // Their file was written or read again since.
};

/// Lines start..end of a file, 1-based, and what stood there.
struct RunRef {
  STET_FIELDS(RunRef,
              (std::int64_t, start),
              (std::int64_t, end),
              (Text, hash),  // SHA-256 of the lines, each with an LF.
              (std::uint64_t, sum))  // Of the lines' fast hashes, to find them elsewhere.
};
using RunRefs = std::vector<RunRef>;

/// A file as it was last known.
struct RunAnchor {
  STET_FIELDS(RunAnchor,
              (Text, path),
              (Text, hash),
              (bool, whole),  // All of it was known.
              (RunRefs, refs),
              (std::uint64_t, seq))
};
using RunAnchors = std::vector<RunAnchor>;

struct RunEvidence {
  STET_FIELDS(RunEvidence,
              (Text, evidence_id),
              (Text, kind),
              (Text, outcome),
              (bool, valid),
              (std::uint64_t, seq))
};
using RunEvidences = std::vector<RunEvidence>;

struct RunClause {
  STET_FIELDS(RunClause,
              (Text, id),
              (Text, text),
              (Text, evidence))
};
using RunClauses = std::vector<RunClause>;

struct RunPromise {
  STET_FIELDS(RunPromise,
              (Text, promise_id),
              (std::int64_t, version),
              (Text, state),  // drafted, confirmed
              (RunClauses, clauses))
};
using OptionalRunPromise = std::optional<RunPromise>;

struct RunStop {
  STET_FIELDS(RunStop,
              (Text, kind),
              (Text, reason),
              (Texts, finding_ids))
};
using OptionalRunStop = std::optional<RunStop>;

struct RunRepair {
  STET_FIELDS(RunRepair,
              (Text, status),
              (std::int64_t, attempt),
              (OptionalText, signature),
              (OptionalText, evidence_id),
              (std::int64_t, repeats))  // The same signature in a row.
};
using OptionalRunRepair = std::optional<RunRepair>;

struct RunResume {
  STET_FIELDS(RunResume,
              (Text, phase),
              (Text, action),
              (OptionalText, question_id))  // That must be answered first.
};
using OptionalRunResume = std::optional<RunResume>;

struct RunPin {
  STET_FIELDS(RunPin,
              (Text, pin_id),
              (Text, text),
              (Text, source))
};
using RunPins = std::vector<RunPin>;

struct RunReport {
  STET_FIELDS(RunReport,
              (Text, phase),
              (RunNext, next),
              (RunCapabilities, capabilities),
              (RunGates, gates),
              (RunFindings, findings),  // Open ones that configure no gate.
              (RunQuestions, questions),
              (RunTransactions, transactions),
              (RunClosed, closed),
              (RunAnchors, anchors),
              (RunEvidences, evidence),
              (OptionalRunPromise, promise),
              (Texts, unmet_clauses),
              (OptionalRunStop, stop),
              (OptionalRunRepair, repair),
              (OptionalRunResume, resume),
              (RunPins, pins),
              (bool, restore_pending))
};

}  // namespace stet::protocol
