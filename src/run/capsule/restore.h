// Restoring a capsule: what is still true of it. The log wins wherever the two differ; what the log
// does not know (the files) is looked at again.
#pragma once

#include <string>
#include <vector>

#include "protocol/run_facts.h"
#include "run/capsule/capsule.h"

namespace stet::run {

struct AnchorVerdict {
  std::string path;
  std::string verdict;  // fresh, moved, stale (also when it cannot be read), gone
  std::string was;      // Hashes of the file.
  std::string now;      // Empty when there is nothing to hash.
  friend bool operator==(const AnchorVerdict&, const AnchorVerdict&) = default;
};

struct IntegrityFailure {
  /// capsule_invalid, digest, foreign_session, wrong_generation, phase_changed; denial_lost (the
  /// log has it, the capsule has not), denial_unknown (the reverse), denial_changed; the same of
  /// question_.
  std::string code;
  std::string id;
  friend bool operator==(const IntegrityFailure&, const IntegrityFailure&) = default;
};

struct Restored {
  std::vector<AnchorVerdict> anchors;
  std::vector<protocol::Transaction> reconciled;  // To be appended: what the files say.
  std::vector<IntegrityFailure> failures;
  [[nodiscard]] bool digest_mismatch() const;
};

struct RestoreFacts {
  std::vector<std::string> session_ids;  // Of this session and of those it was cloned from.
  FileReader reader;                     // Must be there.
};

/// `state` is the log's at its head. Anchors are the log's too; the capsule adds its references.
/// `capsule` may be an error: then that is a failure, and the rest is done all the same.
Restored RestoreCapsule(const Result<Capsule>& capsule, const State& state,
                        const RestoreFacts& facts);

/// What the files say of the writes whose outcome the log does not know: those that changed by it.
std::vector<protocol::Transaction> Reconcile(const protocol::RunTransactions& open,
                                             const FileReader& reader);

/// For capsule_restored. The same findings give the same bytes.
Raw VerdictsJson(const Restored& restored);
/// For the prompt: what is no longer as it was, in at most 2000 bytes, everything from outside
/// quoted. Empty when all is.
std::string RenderRestored(const Restored& restored);
/// Whether there is anything to append: verdicts other than the last ones, or none yet.
bool VerdictsDiffer(const Restored& restored, const State& state);

}  // namespace stet::run
