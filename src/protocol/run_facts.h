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
  STET_FIELDS(PhaseMoved, (Text, from), (Text, to), (OptionalText, reason))
};

struct FindingRaised {
  static constexpr std::string_view kType = "finding_raised";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kSync;
  STET_FIELDS(FindingRaised,
              (Text, finding_id),
              (Text, policy),
              (Text, severity),
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
  STET_FIELDS(Waiver, (Text, finding_id), (OptionalText, reason), (Text, by))
};

struct Evidence {
  static constexpr std::string_view kType = "evidence";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(Evidence,
              (Text, evidence_id),
              (Text, kind),
              (Text, outcome),
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
  STET_FIELDS(Stop, (Text, kind), (Text, reason), (Texts, finding_ids), (OptionalBool, cleared))
};

struct PromiseMade {
  static constexpr std::string_view kType = "promise";
  static constexpr Place kPlace = Place::kControl;
  static constexpr Flush kFlush = Flush::kLazy;
  STET_FIELDS(PromiseMade, (Text, promise_id), (std::int64_t, version), (Raw, clauses))
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
              (Text, status),
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
