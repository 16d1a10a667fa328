// EvidenceBook: what was read, tested, built and said by the user, and whether it still proves
// anything. Pure; folded from events.
//
// The evidence of a kind is valid while its latest record passed and nothing was written to any
// file after it. Memory: the latest record of each of at most kMaxKinds kinds, and the last kRecent
// records; a kind beyond the cap is never proven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "protocol/run_facts.h"
#include "protocol/run_report.h"

namespace stet::run {

enum class Proof {
  kNone,    // Nothing of that kind was ever recorded.
  kFailed,  // The latest failed, or something was written since.
  kPassed,
};

class EvidenceBook {
 public:
  static constexpr std::size_t kMaxKinds = 64;
  static constexpr std::size_t kRecent = 50;

  void Fold(const protocol::Evidence& evidence, std::uint64_t seq);
  /// Evidence that other events are: a file that was read, a question that was answered.
  void TakePassed(const std::string& kind, std::uint64_t seq) { Keep(kind, {seq, true}); }
  /// A file was written, by a tool of ours or by another program.
  void TakeWrite(std::uint64_t seq) { last_write_ = seq; }

  [[nodiscard]] Proof Judge(const std::string& kind) const;
  /// The last recorded by `evidence` events, the oldest first.
  [[nodiscard]] protocol::RunEvidences Recent() const;

 private:
  struct Latest {
    std::uint64_t seq = 0;
    bool passed = false;
  };

  [[nodiscard]] bool Valid(const Latest& latest) const {
    return latest.passed && latest.seq > last_write_;
  }
  void Keep(const std::string& kind, Latest latest);

  std::map<std::string, Latest> kinds_;
  std::deque<protocol::RunEvidence> recent_;
  std::uint64_t last_write_ = 0;
};

}  // namespace stet::run
