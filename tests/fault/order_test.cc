// What is flushed before what, read off the calls of a writer as the shim noted them.
#include <set>
#include <sstream>

#include <poll.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "tests/fault/faults.h"

namespace stet::fault {
namespace {

class OrderTest : public testing::Test {
 protected:
  struct Call {
    std::string name;  // "write", "fsync", ..., "said"
    std::string path;  // For "said": its first word.
    std::string rest;
  };

  /// The calls of one run of the writer.
  std::vector<Call> CallsOf(bool relaxed, int steps) {
    const std::string log = temp_.Sub("calls");
    const Finished finished = RunWriter({.dir = dir_,
                                         .seed = 77,
                                         .steps = steps,
                                         .relaxed = relaxed,
                                         .env = {"STET_SHIM_LOG=" + log}});
    EXPECT_EQ(finished.exit_code, 0) << finished.out;
    std::vector<Call> calls;
    std::istringstream lines(*ReadFile(log));
    for (std::string line; std::getline(lines, line);) {
      // The batch's later acknowledgements stand on lines of their own.
      if (line.starts_with("ack ")) line.insert(0, "said ");
      std::istringstream words(line);
      Call call;
      words >> call.name >> call.path;
      std::getline(words >> std::ws, call.rest);
      calls.push_back(std::move(call));
    }
    return calls;
  }

  /// Walks the calls; at each acknowledgement what must be flushed by then is.
  void ExpectOrder(const std::vector<Call>& calls, bool relaxed) {
    const auto reader = OpenToRead(dir_);
    bool unflushed = false;
    std::set<std::string> loose;  // Blobs that a power cut would take, and their folder.
    int checked = 0;
    for (const Call& call : calls) {
      if (call.path == Events() && call.name == "write") unflushed = true;
      if (call.path == Events() && call.name == "fdatasync") {
        EXPECT_TRUE(loose.empty())
            << *loose.begin() << " is not flushed before the event that may name it";
        unflushed = false;
      }
      if (call.name == "rename" && call.path.starts_with(dir_ + "/blobs/"))
        loose.insert({call.path, dir_ + "/blobs"});
      if (call.name == "fsync") loose.erase(call.path);
      if (call.name != "said" || call.path != "ack") continue;
      std::istringstream words(call.rest);
      std::uint64_t seq = 0;
      std::string id;
      words >> seq >> id;
      const Result<log::Ordinal> event = reader->Find(id);
      ASSERT_TRUE(event) << event.error().Text();
      const protocol::Payload payload = reader->EventAt(*event)->payload;
      const protocol::Flush flush = protocol::FlushOf(payload);
      if (flush == protocol::Flush::kLazy || (relaxed && flush == protocol::Flush::kSync)) continue;
      ++checked;
      EXPECT_FALSE(unflushed) << protocol::TypeName(payload) << " " << seq
                              << " was acknowledged before its flush";
    }
    EXPECT_GT(checked, 5);
  }

  [[nodiscard]] std::string Events() const { return dir_ + "/events.jsonl"; }

  static std::size_t Position(const std::vector<Call>& calls, std::string_view name,
                              const std::string& path, int nth = 1) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].name == name && calls[i].path == path && --nth == 0) return i;
    }
    return calls.size();
  }

  TempDir temp_;
  std::string dir_ = temp_.Sub("ses_order");
};

TEST_F(OrderTest, CreateFlushesHeaderAndOpenedAndTheirFolders) {
  const std::vector<Call> calls = CallsOf(true, 1);
  const std::size_t said = Position(calls, "said", "opened");
  const std::size_t flushed = Position(calls, "fdatasync", Events());
  ASSERT_LT(said, calls.size());
  EXPECT_LT(Position(calls, "write", Events(), 2), flushed)
      << "the header and `opened` are written";
  EXPECT_LT(flushed, said);
  EXPECT_LT(Position(calls, "fsync", dir_), said) << "the log's name";
  EXPECT_LT(Position(calls, "fsync", temp_.path()), said) << "the folder's name";
}

TEST_F(OrderTest, StrictAcknowledgesAfterTheFlushThatTheTypeAsksFor) {
  ExpectOrder(CallsOf(false, 150), false);
}

TEST_F(OrderTest, RelaxedStillFlushesFirstWhereTheTypeSaysAlways) {
  ExpectOrder(CallsOf(true, 150), true);
}

TEST_F(OrderTest, ReopeningFlushesOpenedBeforeAnythingElse) {
  CallsOf(false, 5);
  ASSERT_TRUE(Remove(temp_.Sub("calls")));
  const std::vector<Call> calls = CallsOf(true, 0);
  EXPECT_LT(Position(calls, "fdatasync", Events()), Position(calls, "said", "opened"));
}

TEST_F(OrderTest, ATornLineIsSafelyAsideBeforeItIsCutOff) {
  CallsOf(false, 5);
  ASSERT_TRUE(Remove(temp_.Sub("calls")));
  const std::string bytes = *ReadFile(Events());
  ASSERT_TRUE(ReplaceFile(Events(), bytes.substr(0, bytes.size() - 7), Durable::kNo));
  const std::vector<Call> calls = CallsOf(false, 0);
  const std::size_t cut = Position(calls, "ftruncate", Events());
  ASSERT_LT(cut, calls.size());
  EXPECT_LT(Position(calls, "fsync", dir_ + "/aside"), cut);
  EXPECT_LT(Position(calls, "fsync", dir_), cut);
  EXPECT_LT(cut, Position(calls, "fdatasync", Events()));
}

TEST_F(OrderTest, RelaxedFlushesWithinASecond) {
  log::Options options = WriteOptions();
  options.durability = log::Durability::kRelaxed;
  protocol::Header header;
  header.session_id = "ses_order";
  const auto log = log::Log::Create(dir_, header, options);
  ASSERT_TRUE(log) << log.error().Text();
  const std::uint64_t before = (*log)->flush_count();
  protocol::UserMessage message;
  message.source = "user";
  std::vector<log::Draft> batch;
  batch.push_back({.payload = std::move(message)});
  const auto start = SystemClock().Steady();
  ASSERT_TRUE((*log)->Append(std::move(batch)));
  EXPECT_EQ((*log)->flush_count(), before) << "not at once";
  const Deadline deadline = Deadline::After(std::chrono::seconds(5));
  while ((*log)->flush_count() == before && !deadline.Passed()) ::poll(nullptr, 0, 2);
  const auto late =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - start);
  EXPECT_EQ((*log)->flush_count(), before + 1);
  EXPECT_LE(late.count(), 1500) << "1 s, and what a loaded machine adds";
}

}  // namespace
}  // namespace stet::fault
