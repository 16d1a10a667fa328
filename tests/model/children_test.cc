// Children: sessions that are opened for the work of another one, over real lanes and the emulator.
#include "agent/children.h"

#include <gtest/gtest.h>

#include "agent/turn.h"
#include "device/model_access.h"
#include "lane/children.h"
#include "lane/lane.h"
#include "lane/lanes.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

class ChildrenTest : public LiveTest {
 protected:
  void TearDown() override {
    loop_.RunUntilDone(lanes_.CloseAll());
    LiveTest::TearDown();
  }

  void OpenParent(protocol::Attach attach) {
    const Result<std::string> id = lanes_.Name(attach);
    ASSERT_TRUE(id) << id.error().Text();
    session_id_ = *id;
    const Result<lane::Lane*> lane =
        loop_.RunUntilDone(lanes_.Open(*id, std::move(attach), std::optional<Environment>()));
    ASSERT_TRUE(lane) << lane.error().Text();
  }
  std::string OpenChild(const std::string& parent_id, const std::string& prompt) {
    agent::ChildSpec spec{.parent_id = parent_id, .agent_id = "explore", .prompt = prompt};
    spec.task_id = "agent-1";
    spec.tool_call_id = "tc_1";
    const Result<std::string> id = loop_.RunUntilDone(children_.Open(std::move(spec)));
    EXPECT_TRUE(id) << id.error().Text();
    return id.value_or("");
  }
  agent::ChildEnd Await(const std::string& child_id) {
    const CancelToken never;
    const Result<agent::ChildEnd> end = loop_.RunUntilDone(children_.Await(child_id, never));
    EXPECT_TRUE(end) << end.error().Text();
    return end.value_or(agent::ChildEnd());
  }
  [[nodiscard]] std::string ChildDir(const std::string& child_id) const {
    return roots_.data + "/sessions/" + session_id_ + "/agents/" + child_id;
  }
  static std::vector<protocol::Event> EventsIn(const std::string& dir) {
    const auto log = log::Log::Open(dir, {});
    EXPECT_TRUE(log) << log.error().Text();
    std::vector<protocol::Event> events;
    for (log::Ordinal at = 0; log && at < (*log)->index().entries().size(); ++at)
      events.push_back(*(*log)->EventAt(at));
    return events;
  }

  Loop loop_;
  device::ModelAccess models_{loop_};
  lane::Lanes lanes_{loop_, roots_, models_};
  lane::LaneChildren children_{loop_, lanes_};
};

TEST_F(ChildrenTest, AChildIsASessionOfItsOwnInTheFolderOfItsRoot) {
  Script(R"({"replies":[{"blocks":[{"text":"Found it."}],"usage":{"input":30,"output":4}}]})");
  OpenParent(Here());
  const std::string child = OpenChild(session_id_, "look for it");
  const agent::ChildEnd end = Await(child);
  EXPECT_EQ(end.reason, agent::ended::kCompleted);
  EXPECT_EQ(end.text, "Found it.");
  EXPECT_EQ(end.cost.input, 30);
  EXPECT_EQ(end.cost.output, 4);
  EXPECT_EQ(lanes_.presence(child), lane::Presence::kAsleep) << "it rests";
  const auto log = log::Log::Open(ChildDir(child), {});
  ASSERT_TRUE(log) << log.error().Text();
  const protocol::Header& header = (*log)->header();
  EXPECT_EQ(header.kind, "agent");
  EXPECT_EQ(header.session_id, child);
  EXPECT_EQ(header.parent_session_id, session_id_);
  EXPECT_EQ(header.root_session_id, session_id_);
  EXPECT_EQ(header.agent_id, "explore");
  EXPECT_EQ(header.task_id, "agent-1");
  EXPECT_EQ(header.parent_tool_call_id, "tc_1");
  EXPECT_EQ(header.meta.cwd, project_);
  for (const protocol::Event& event : EventsIn(ChildDir(child)))
    EXPECT_EQ(event.stamp.agent_id, "explore") << protocol::TypeName(event.payload);
  for (const protocol::Event& event : EventsIn(roots_.data + "/sessions/" + session_id_))
    EXPECT_FALSE(event.stamp.agent_id) << protocol::TypeName(event.payload);
}

TEST_F(ChildrenTest, AChildsChildLiesBesideIt) {
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})");
  OpenParent(Here());
  const std::string child = OpenChild(session_id_, "one");
  Await(child);
  const std::string grandchild = OpenChild(child, "two");
  EXPECT_EQ(Await(grandchild).reason, agent::ended::kCompleted);
  const auto log = log::Log::Open(ChildDir(grandchild), {});
  ASSERT_TRUE(log) << log.error().Text();
  EXPECT_EQ((*log)->header().parent_session_id, child);
  EXPECT_EQ((*log)->header().root_session_id, session_id_);
}

TEST_F(ChildrenTest, WhatIsForbiddenToItsParentIsForbiddenToAChild) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Write","args":{"file_path":"b.txt","content":"x"}}}]},
    {"blocks":[{"text":"I may not."}]}]})");
  protocol::Attach attach = Here();
  attach.disallowed = "Write";
  OpenParent(attach);
  EXPECT_EQ(Await(OpenChild(session_id_, "write it")).text, "I may not.");
  EXPECT_FALSE(Exists(project_ + "/b.txt"));
  EXPECT_TRUE(Requests().back().contains("deny:Write"));
}

TEST_F(ChildrenTest, WhatIsSentWhileAChildWorksFollowsItsTurn) {
  Script(R"({"replies":[{"pauseMs":20,"blocks":[{"text":"One."}]},{"blocks":[{"text":"Two."}]}]})");
  OpenParent(Here());
  const std::string child = OpenChild(session_id_, "first");
  ASSERT_TRUE(loop_.RunUntilDone(children_.Send(child, "second")));
  EXPECT_EQ(Await(child).text, "Two.");
  EXPECT_EQ(Requests().size(), 2U);
}

TEST_F(ChildrenTest, ACancelEndsTheTurnOfAChildWhichCanBeContinued) {
  Script(R"({"replies":[{"blocks":[{"text":"Wait"}],"fault":{"kind":"stall","afterEvents":1}},
                        {"blocks":[{"text":"Now."}]}]})");
  OpenParent(Here());
  const std::string child = OpenChild(session_id_, "go");
  const auto cancel_soon = [&]() -> Async<void> {
    const CancelToken never;
    while (emulator_->Requests().empty())
      EXPECT_TRUE(co_await Sleep(loop_, std::chrono::milliseconds(1), never));
    children_.Cancel(child);
  };
  loop_.Spawn(cancel_soon());
  EXPECT_EQ(Await(child).reason, agent::ended::kCancelled);
  ASSERT_TRUE(loop_.RunUntilDone(children_.Continue(session_id_, child)));
  const agent::ChildEnd end = Await(child);
  EXPECT_EQ(end.reason, agent::ended::kCompleted);
  EXPECT_EQ(end.text, "Now.");
}

TEST_F(ChildrenTest, ThereIsNoChildOfASessionThatIsNotThere) {
  Script(R"({"replies":[]})");
  agent::ChildSpec spec{.parent_id = "ses_00000000000000000000", .agent_id = "a", .prompt = "x"};
  EXPECT_FALSE(loop_.RunUntilDone(children_.Open(std::move(spec))));
}

}  // namespace
}  // namespace stet::test
