#include "lane/open_lane.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "device/model_access.h"
#include "lane/lane.h"
#include "lane/lanes.h"
#include "log/log.h"
#include "log/paths.h"
#include "store/session_store.h"

namespace stet::lane {
namespace {

/// Counts how often a lane's log was opened and closed.
class Counter final : public LaneListener {
 public:
  void Opened(log::Log&) override { ++opened; }
  void Closed() override { ++closed; }

  int opened = 0;
  int closed = 0;
};

class OpenLaneTest : public testing::Test {
 protected:
  OpenLaneTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(MakeDirs(roots_.config));
  }

  Result<Lane*> Open(const std::string& id, protocol::Attach attach) {
    return loop_.RunUntilDone(lanes_.Open(id, std::move(attach), std::nullopt));
  }
  /// A session in which a turn came to its end; closed.
  std::string MakeSession() {
    protocol::Attach attach;
    attach.cwd = project_;
    attach.model = "offline";
    const std::string id = lanes_.Name(attach).value();
    const Result<Lane*> lane = Open(id, attach);
    EXPECT_TRUE(lane) << lane.error().Text();
    protocol::Turn turn;
    turn.phase = "start";
    Append((*lane)->log(), turn);
    turn.phase = "end";
    turn.reason = "completed";
    Append((*lane)->log(), turn);
    EXPECT_TRUE(loop_.RunUntilDone(lanes_.Close(id, true)));
    return id;
  }
  static void Append(log::Log& log, protocol::Payload payload) {
    std::vector<log::Draft> batch;
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = {}});
    EXPECT_TRUE(log.Append(std::move(batch)));
  }
  void Flip(const std::string& id, std::string_view text) {
    const std::string path = log::Paths{store_.Find(id).value()}.events();
    std::string bytes = *ReadFile(path);
    const std::size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(path, bytes, Durable::kNo));
  }
  [[nodiscard]] static protocol::Attach Of(const std::string& id) {
    protocol::Attach attach;
    attach.session_id = id;
    return attach;
  }

  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  config::Roots roots_{.data = dir_.path() + "/home", .config = dir_.path() + "/home"};
  store::SessionStore store_{roots_};
  Loop loop_;
  device::ModelAccess models_{loop_};
  Lanes lanes_{loop_, roots_, models_};
};

TEST_F(OpenLaneTest, DamageThatTheIndexHidesIsSetAsideAndTheSessionOpens) {
  const std::string id = MakeSession();
  Flip(id, R"("phase":"start")");
  Counter counter;
  lanes_.Listen(id, counter);
  const Result<Lane*> lane = Open(id, Of(id));
  ASSERT_TRUE(lane) << lane.error().Text();
  EXPECT_EQ(counter.opened, 2) << "once by the index, once by a scan";
  EXPECT_EQ(counter.closed, 0);
  const log::Index& index = (*lane)->log().index();
  ASSERT_EQ(index.damages().size(), 1U);
  EXPECT_EQ(index.damages()[0].recorded, 1U);
  EXPECT_FALSE((*lane)->log().met_damage());
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Close(id, true)));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(counter.opened, 3) << "the index knows of it now";
  lanes_.Unlisten(id, counter);
}

TEST_F(OpenLaneTest, ASoundSessionIsOpenedOnce) {
  const std::string id = MakeSession();
  Counter counter;
  lanes_.Listen(id, counter);
  ASSERT_TRUE(Open(id, Of(id)));
  EXPECT_EQ(counter.opened, 1);
  lanes_.Unlisten(id, counter);
}

TEST_F(OpenLaneTest, ASessionIsMadeUnderAnIdWhoseMakerDied) {
  ASSERT_TRUE(MakeDirs(store_.NewDir("ses_dead")));
  protocol::Attach resumed = Of("ses_dead");
  EXPECT_EQ(lanes_.Name(resumed).error().code, Code::kNotFound);
  protocol::Attach attach;
  attach.cwd = project_;
  attach.model = "offline";
  attach.new_session_id = "ses_dead";
  ASSERT_EQ(lanes_.Name(attach).value(), "ses_dead");
  const Result<Lane*> lane = Open("ses_dead", attach);
  ASSERT_TRUE(lane) << lane.error().Text();
  EXPECT_EQ((*lane)->log().header().session_id, "ses_dead");
}

}  // namespace
}  // namespace stet::lane
