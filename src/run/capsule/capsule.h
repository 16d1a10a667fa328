// Capsule: the state of a run as a compaction carries it across. doc/format/capsule.md has the
// members.
//
// The log stays the truth: a capsule is a view of it at one seq, checked again when it is restored,
// and where the two differ the log wins. Pure: time and files come in from outside. Nothing here
// throws or fails on any bytes; what cannot be read is an Error that names the first fault.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/run_report.h"
#include "run/state.h"

namespace stet::run {

struct Capsule {
  static constexpr std::int64_t kVersion = 1;
  STET_FIELDS(Capsule,
              (std::int64_t, version),
              (std::string, session_id),
              (std::string, trace_id),  // The turn or run that it was made in.
              (protocol::OptionalText, leaf_id),
              (std::uint64_t, seq),  // The last event that it covers.
              (std::int64_t, generation),  // From 1; one more with every compaction on the path.
              (std::int64_t, created_at),  // Unix milliseconds.
              (std::string, phase),
              (protocol::RunNext, next),
              (protocol::RunFindings, denials),  // All open findings, warnings too.
              (protocol::RunQuestions, questions),
              (protocol::OptionalRunResume, resume),
              (protocol::RunGates, gates),
              (protocol::RunTransactions, transactions),
              (protocol::RunClosed, closed),
              (protocol::RunAnchors, anchors),
              (protocol::OptionalRunPromise, promise),
              (protocol::Texts, unmet_clauses),
              (protocol::OptionalRunStop, stop),
              (protocol::OptionalRunRepair, repair),
              (protocol::RunPins, pins),
              (protocol::OptionalText, digest))  // SHA-256 of the encoding without it.
};

/// The bytes of a file; kNotFound when there is none, another error when it cannot be told.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

struct CapsuleFacts {
  std::string session_id;
  std::string trace_id;
  std::optional<std::string> leaf_id;
  std::uint64_t seq = 0;
  std::int64_t generation = 1;
  std::int64_t created_at = 0;
  FileReader reader;
};

/// Sealed: its digest is right. Files that are still what their anchors say give references to the
/// lines that were read; whole ones need none.
Capsule MakeCapsule(const State& state, const CapsuleFacts& facts);

/// The digest that a capsule of this content has.
std::string CapsuleDigest(const Capsule& capsule);

struct CapsuleFault {
  std::string path;  // "denials[2].policy"
  std::string code;
  friend bool operator==(const CapsuleFault&, const CapsuleFault&) = default;
};

struct CapsuleCheck {
  static constexpr std::size_t kMaxFaults = 100;  // Of each sort; more are left out.

  /// not_json, not_utf8, too_large, missing, wrong_kind, unknown_value, duplicate, version, digest
  std::vector<CapsuleFault> errors;
  /// unknown_member, question_without_resume_point, planned_write_without_anchor,
  /// resume_question_not_open, gate_without_finding
  std::vector<CapsuleFault> warnings;
  [[nodiscard]] bool valid() const { return errors.empty(); }
};

/// Total over any bytes. A capsule without errors can be read, rendered and restored.
CapsuleCheck CheckCapsule(std::string_view text);

/// kInvalid names the first fault; kTooNew when it is of a greater version.
Result<Capsule> ReadCapsule(std::string_view text);

/// For the prompt: the rules, then what comes next, then the rest, each part within a fixed share
/// of kMaxRendered bytes, with what was left out counted. Whatever came from a model, a file or a
/// user is quoted on one line. Pins are not in it.
inline constexpr std::size_t kMaxRendered = 7000;
std::string RenderCapsule(const Capsule& capsule);

/// The pins, byte for byte. Empty when there are none.
std::string RenderPins(const protocol::RunPins& pins);

}  // namespace stet::run
