// Facts of a run: what gates, findings, promises and write transactions are projected from.
#pragma once

#include <cstdint>

#include "protocol/content.h"
#include "protocol/place.h"

namespace stet::protocol {

struct PhaseMoved {
  static constexpr std::string_view kType = "phase_moved";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(PhaseMoved,
              (Text, from),
              (Text, to),  // intake, plan, execute, verify, report; the same as `from`: only `next`.
              (OptionalText, reason),
              (OptionalText, next))  // The resume point: where to go on. Absent: there is none.
};

struct FindingRaised {
  static constexpr std::string_view kType = "finding_raised";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(FindingRaised,
              (Text, finding_id),
              (Text, policy),
              (Text, severity),  // hard-deny, soft-deny, evidence-required, warning
              (Text, message),
              (OptionalRaw, subject),
              (Texts, evidence_ids))
};

struct FindingCleared {
  static constexpr std::string_view kType = "finding_cleared";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(FindingCleared, (Text, finding_id), (OptionalText, reason), (OptionalText, by))
};

struct Waiver {
  static constexpr std::string_view kType = "waiver";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Waiver,
              (Text, finding_id),
              (OptionalText, reason),  // Without it, or without `by`, nothing is lifted.
              (Text, by),
              (OptionalText, kind))  // waiver, or justification: that lifts a soft-deny only.
};

struct Evidence {
  static constexpr std::string_view kType = "evidence";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Evidence,
              (Text, evidence_id),
              (Text, kind),  // read, test, build, user
              (Text, outcome),  // passed, failed
              (OptionalText, subject_hash),
              (OptionalText, blob),
              (OptionalRaw, data))
};

struct Anchor {
  static constexpr std::string_view kType = "anchor";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Anchor, (Text, anchor_id), (Text, path), (Text, file_hash), (OptionalRaw, refs))
};

struct Repair {
  static constexpr std::string_view kType = "repair";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Repair,
              (Text, status),
              (std::int64_t, attempt),
              (OptionalText, signature),
              (OptionalText, evidence_id))
};

struct Stop {
  static constexpr std::string_view kType = "stop";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Stop,
              (Text, kind),  // done, blocked, budget-exhausted, stuck, unsafe, scope-drift
              (Text, reason),
              (Texts, finding_ids),
              (OptionalBool, cleared))
};

struct PromiseMade {
  static constexpr std::string_view kType = "promise";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(PromiseMade,
              (Text, promise_id),
              (std::int64_t, version),
              (Raw, clauses),  // [{id, text, evidence}]: evidence is the kind that proves it.
              (OptionalText, state),  // drafted, confirmed, withdrawn
              (OptionalText, by))
};

struct CapsuleRestored {
  static constexpr std::string_view kType = "capsule_restored";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(CapsuleRestored, (Text, compact_id), (Raw, verdicts))
};

struct Pin {
  static constexpr std::string_view kType = "pin";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Pin, (Text, pin_id), (OptionalText, text), (OptionalBool, removed), (Text, source))
};

struct Transaction {
  static constexpr std::string_view kType = "transaction";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(Transaction,
              (Text, transaction_id),
              (Text, path),
              (Text, status),  // planned, writing, written, verified, blocked, reverted, unknown
              (OptionalText, before),
              (OptionalText, after),
              (OptionalText, tool_call_id),
              (Texts, anchor_ids),
              (OptionalText, reason))
};

struct Receipt {
  static constexpr std::string_view kType = "receipt";
  static constexpr Place kPlace = Place::kSession;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Receipt, (Text, receipt_id), (Text, outcome), (Raw, data))
};

}  // namespace stet::protocol
