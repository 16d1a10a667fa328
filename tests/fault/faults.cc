#include "tests/fault/faults.h"

#include <charconv>
#include <sstream>

#include <unistd.h>

#include "base/fs.h"
#include "bench/generator.h"
#include "log/line.h"
#include "log/tree.h"
#include "log/verify.h"

namespace stet::fault {
namespace {

using log::Log;
using log::Ordinal;

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> own;
  for (char** at = environ; *at != nullptr; ++at) own.emplace_back(*at);
  return own;
}

/// Every event's parent is the one that its own line names.
void ExpectPathWhole(const Log& log) {
  const std::vector<Ordinal> path = log::PathTo(log.index(), log.index().leaf());
  for (const Ordinal event : path) {
    const log::Entry& entry = log.index().entries()[event];
    EXPECT_TRUE(entry.in_tree());
    EXPECT_EQ(entry.flags & log::Entry::kBridged, 0) << "nothing was lost, so nothing is bridged";
    const Result<protocol::Event> decoded = log.EventAt(event);
    ASSERT_TRUE(decoded) << decoded.error().Text();
    const std::optional<std::string> parent =
        entry.parent == log::kNone ? std::nullopt : std::optional(*log.IdOf(entry.parent));
    EXPECT_EQ(decoded->parent_id, parent);
  }
}

}  // namespace

SpawnOptions WriterCommand(const WriterRun& run) {
  SpawnOptions command;
  command.argv = {STET_FAULT_WRITER, run.dir, std::to_string(run.seed), std::to_string(run.steps)};
  if (run.relaxed) command.argv.emplace_back("relaxed");
  if (!run.env.empty()) {
    std::vector<std::string>& env = command.env.emplace(OwnEnvironment());
    env.emplace_back("LD_PRELOAD=" STET_FAULT_SHIM);
    env.insert(env.end(), run.env.begin(), run.env.end());
  }
  return command;
}

Finished RunWriter(const WriterRun& run) {
  Result<Finished> finished =
      Subprocess::Run(WriterCommand(run), Deadline::After(std::chrono::seconds(60)), CancelToken());
  EXPECT_TRUE(finished) << finished.error().Text();
  if (!finished) return {};
  EXPECT_NE(finished->end, Finished::End::kTimeout) << "the writer hangs";
  EXPECT_EQ(finished->err, "");
  return *std::move(finished);
}

void AddAcks(std::string_view output, Acks& acks) {
  // A line that its writer did not live to end is no acknowledgement.
  output = output.substr(0, output.rfind('\n') + 1);
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string id;
    Ack ack;
    if (words >> word >> ack.seq >> id >> ack.crc && word == "ack") {
      EXPECT_TRUE(acks.emplace(id, ack).second) << id << " was acknowledged twice";
    }
  }
}

log::Options WriteOptions() { return {.mode = log::Mode::kWrite, .device_id = "dev_test"}; }

std::string SmallSession(const std::string& parent, std::uint64_t seed, std::uint64_t events,
                         const bench::PlayerOptions& player) {
  const Result<bench::Generated> made =
      bench::GenerateSession(parent, {.events = events, .seed = seed, .player = player});
  EXPECT_TRUE(made) << made.error().Text();
  return made ? made->dir : "";
}

std::unique_ptr<Log> OpenToRead(const std::string& dir, bool use_index) {
  Result<std::unique_ptr<Log>> log =
      Log::Open(dir, {.mode = log::Mode::kRead, .use_index = use_index});
  EXPECT_TRUE(log) << log.error().Text();
  return log ? *std::move(log) : nullptr;
}

Acks EventsOf(const Log& log) {
  Acks events;
  std::uint64_t last_seq = 0;
  const Status read = log.Read(0, [&](const log::Entry& entry, std::string_view line) {
    EXPECT_GT(entry.seq, last_seq);
    last_seq = entry.seq;
    const Result<protocol::Event> event = protocol::DecodeEvent(line);
    EXPECT_TRUE(event) << event.error().Text();
    if (!event) return false;
    EXPECT_EQ(event->seq, entry.seq);
    EXPECT_TRUE(events.emplace(event->id, Ack{entry.seq, std::string(log::LineCrc(line))}).second)
        << event->id << " stands in the log twice";
    return true;
  });
  EXPECT_TRUE(read) << read.error().Text();
  EXPECT_EQ(events.size(), log.index().entries().size()) << "every entry of the index can be read";
  return events;
}

std::vector<std::string> PathIds(const Log& log) {
  std::vector<std::string> ids;
  for (const Ordinal event : log::PathTo(log.index(), log.index().leaf())) {
    const Result<std::string> id = log.IdOf(event);
    EXPECT_TRUE(id) << id.error().Text();
    ids.push_back(id.value_or(""));
  }
  return ids;
}

void ExpectSameFold(const Log& a, const Log& b) {
  const auto entry_text = [](const log::Entry& e) {
    return std::tuple(e.offset, e.seq, e.id_hash, e.length, e.parent, e.open, e.call_index, e.type,
                      e.flags);
  };
  const auto entries = [&](const Log& log) {
    std::vector<decltype(entry_text(log.index().entries()[0]))> all;
    for (const log::Entry& entry : log.index().entries()) all.push_back(entry_text(entry));
    return all;
  };
  const auto keys = [](const Log& log) {
    std::vector<std::tuple<std::uint64_t, std::uint32_t, Ordinal>> all;
    for (const log::Key& key : log.index().keys()) all.emplace_back(key.hash, key.kind, key.event);
    return all;
  };
  const auto damages = [](const Log& log) {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, Ordinal, std::uint32_t>> all;
    for (const log::Damage& d : log.index().damages())
      all.emplace_back(d.offset, d.length, d.bridge, d.recorded);
    return all;
  };
  EXPECT_TRUE(entries(a) == entries(b))
      << a.index().entries().size() << " and " << b.index().entries().size() << " entries";
  EXPECT_TRUE(keys(a) == keys(b)) << a.index().keys().size() << " and " << b.index().keys().size()
                                  << " keys";
  EXPECT_EQ(damages(a), damages(b));
  EXPECT_EQ(a.index().leaf(), b.index().leaf());
  EXPECT_EQ(a.index().state(), b.index().state());
  EXPECT_EQ(a.index().lines(), b.index().lines());
  EXPECT_EQ(a.index().bytes(), b.index().bytes());
  EXPECT_EQ(a.last_seq(), b.last_seq());
  EXPECT_EQ(a.header(), b.header());
}

void ExpectNothingLost(const std::string& dir, const Acks& acks) {
  const std::unique_ptr<Log> indexed = OpenToRead(dir, true);
  const std::unique_ptr<Log> scanned = OpenToRead(dir, false);
  ASSERT_TRUE(indexed && scanned);
  ExpectSameFold(*indexed, *scanned);
  const Acks there = EventsOf(*scanned);
  for (const auto& [id, ack] : acks) {
    const auto found = there.find(id);
    ASSERT_TRUE(found != there.end())
        << id << " (seq " << ack.seq << ") was acknowledged and is lost";
    EXPECT_EQ(found->second, ack) << id;
    const Result<Ordinal> ordinal = indexed->Find(id);
    ASSERT_TRUE(ordinal) << ordinal.error().Text();
    EXPECT_EQ(indexed->index().entries()[*ordinal].seq, ack.seq);
  }
  ExpectPathWhole(*indexed);
}

void ExpectWritable(const std::string& dir, Acks& acks) {
  const Result<std::unique_ptr<Log>> log = Log::Open(dir, WriteOptions());
  ASSERT_TRUE(log) << log.error().Text();
  std::vector<log::Draft> batch;
  batch.push_back({.payload = protocol::Custom{.kind = "still writable"}});
  const Result<log::Appended> appended = (*log)->Append(std::move(batch));
  ASSERT_TRUE(appended) << appended.error().Text();
  const Result<std::string> line = (*log)->LineAt(*(*log)->Find(appended->ids.front()));
  ASSERT_TRUE(line) << line.error().Text();
  acks.emplace(appended->ids.front(), Ack{appended->first_seq, std::string(log::LineCrc(*line))});
  const Result<log::Verdict> verdict = log::Verify(dir);
  ASSERT_TRUE(verdict);
  for (const log::Fault& fault : verdict->faults) {
    if (fault.recorded) continue;  // A header that the first writer did not live to write.
    ADD_FAILURE() << log::FaultTitle(fault.kind) << " at line " << fault.line << ": "
                  << fault.detail;
  }
}

}  // namespace stet::fault
