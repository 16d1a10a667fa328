// What the fault tests share: running the writer program under the shim, what it acknowledged, and
// the check that a session holds all of it.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/subprocess/subprocess.h"
#include "bench/session_player.h"
#include "log/log.h"

namespace stet::fault {

/// An event that the log has said is safe.
struct Ack {
  std::uint64_t seq = 0;
  std::string crc;  // Of its line: right content is the same crc.

  friend auto operator<=>(const Ack&, const Ack&) = default;
};
using Acks = std::map<std::string, Ack>;  // By id.

struct WriterRun {
  std::string dir;
  std::uint64_t seed = 1;
  int steps = 10;
  bool relaxed = false;
  std::vector<std::string> env = {};  // For the shim: "STET_SHIM_AT=3", ...
};

SpawnOptions WriterCommand(const WriterRun& run);
/// Runs the writer to its end, whatever that is.
Finished RunWriter(const WriterRun& run);
/// Adds what the writer acknowledged in its output.
void AddAcks(std::string_view output, Acks& acks);

log::Options WriteOptions();
/// Events of a few hundred bytes, with blobs, rewinds, compactions and queues among them.
inline constexpr bench::PlayerOptions kSmallEvents = {.least_text = 20,
                                                      .most_text = 1200,
                                                      .blob_one_in = 40,
                                                      .rewind_one_in = 4,
                                                      .compact_one_in = 6,
                                                      .queue_one_in = 4};
/// A closed session of about `events` events in `parent`; its folder.
std::string SmallSession(const std::string& parent, std::uint64_t seed, std::uint64_t events,
                         const bench::PlayerOptions& player = kSmallEvents);
/// Null, and a failure, when it cannot be opened.
std::unique_ptr<log::Log> OpenToRead(const std::string& dir, bool use_index = true);

/// Every event of the session by id; fails the test when an id stands twice or seq does not grow.
Acks EventsOf(const log::Log& log);
/// Ids of the path of the leaf.
std::vector<std::string> PathIds(const log::Log& log);

/// The index on disk and a full scan of the log must give the same.
void ExpectSameFold(const log::Log& a, const log::Log& b);
/// Opens for reading, indexed and scanned: nothing acknowledged is missing or doubled, the path of
/// the leaf is whole, and both ways of opening agree.
void ExpectNothingLost(const std::string& dir, const Acks& acks);
/// Opens for writing and appends; what that acknowledged is added.
void ExpectWritable(const std::string& dir, Acks& acks);

}  // namespace stet::fault
