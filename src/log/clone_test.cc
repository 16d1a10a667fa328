#include "log/clone.h"

#include <set>

#include <gtest/gtest.h>

#include "log/last_toolset.h"
#include "log/log_fixture.h"
#include "log/verify.h"

namespace stet::log {
namespace {

class CloneTest : public LogTest {
 protected:
  std::unique_ptr<Log> CloneAt(Log& source, const std::optional<std::string>& at) {
    const Status cloned =
        Clone(source, at, {Dir("ses_copy"), "ses_copy", "dev_other"}, WriteOptions());
    EXPECT_TRUE(cloned) << cloned.error().Text();
    Result<std::unique_ptr<Log>> copy = Log::Open(Dir("ses_copy"), WriteOptions());
    EXPECT_TRUE(copy) << copy.error().Text();
    return *std::move(copy);
  }

  std::multiset<std::string> Types(Log& log) {
    std::multiset<std::string> types;
    EXPECT_TRUE(log.Read(0, [&](const Entry& entry, std::string_view) {
      types.emplace(protocol::TypeName(entry.type));
      return true;
    }));
    return types;
  }
};

TEST_F(CloneTest, ACloneHasThePathWithTheSameIdsAndNamesItsOrigin) {
  auto log = Create();
  const std::string first = Append(*log, User("one"));
  const std::string second = Append(*log, Assistant("two"));
  Append(*log, User("three"));
  auto copy = CloneAt(*log, second);
  EXPECT_EQ(PathIds(*copy), (std::vector{first, second}));
  ASSERT_TRUE(copy->header().cloned_from);
  EXPECT_EQ(copy->header().cloned_from->session_id, "ses_test");
  EXPECT_EQ(copy->header().cloned_from->event_id, second);
  EXPECT_EQ(copy->header().session_id, "ses_copy");
  EXPECT_EQ(PathIds(*log).size(), 3u) << "the origin is untouched";
  EXPECT_TRUE(Verify(Dir("ses_copy"))->sound());
}

TEST_F(CloneTest, ControlEventsThatApplyGoAlongQueuesAndTasksDoNot) {
  auto log = Create();
  const std::string first = Append(*log, User("one"));
  Append(*log, {.payload = protocol::Custom{.kind = "applies"}});
  Append(*log, {.payload = protocol::QueueUpdate{.queue = "steer"}});
  Append(*log, {.payload = protocol::Task{.task_id = "t", .kind = "shell", .phase = "start"}});
  Append(*log, {.payload = protocol::Permission{.request_id = "r"}});
  Append(*log, {.payload = protocol::ModelCall{.call_id = "m", .phase = "start"}});
  Append(*log, {.payload = protocol::Pin{.pin_id = "p", .text = "never push", .source = "user"}});
  Append(*log, {.payload = protocol::InstructionSnapshot()});
  Append(*log, Assistant("two"));
  Append(*log, {.payload = protocol::Custom{.kind = "later"}});
  auto copy = CloneAt(*log, first);
  EXPECT_EQ(Types(*copy), (std::multiset<std::string>{"message", "custom", "pin",
                                                      "instruction_snapshot", "opened", "opened"}));
}

TEST_F(CloneTest, TheLastToolsetGoesAlongWithItsBlobWhereverTheTargetIs) {
  auto log = Create();
  const std::string first = Append(*log, User("one"));
  const std::string earlier = *log->blobs().Put("[1]");
  const std::string last = *log->blobs().Put("[2]");
  Append(*log, {.payload = protocol::Toolset{.blob = earlier, .cause = "first"}});
  Append(*log, Assistant("two"));
  const std::string event =
      Append(*log, {.payload = protocol::Toolset{.blob = last, .cause = "option"}});
  auto copy = CloneAt(*log, first);
  const auto found = FindLastToolset(*copy);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->toolset.blob, last);
  EXPECT_EQ((*found)->toolset.cause, "option");
  EXPECT_EQ(*copy->IdOf((*found)->event), event);
  EXPECT_EQ(copy->blobs().Get(last).value_or(""), "[2]");
  EXPECT_EQ(Types(*copy).count("toolset"), 1u);
  EXPECT_TRUE(Verify(Dir("ses_copy"))->sound());
}

TEST_F(CloneTest, TheToolsOfAnOlderLogsLastRequestBecomeTheClonesToolset) {
  auto log = Create();
  Append(*log, User("one"));
  const std::string blob = *log->blobs().Put("[1]");
  protocol::ModelCall call{.call_id = "m", .phase = "start", .purpose = "turn", .toolset = blob};
  Append(*log, {.payload = call});
  call.call_id = "n";
  call.purpose = "title";
  call.toolset.reset();
  Append(*log, {.payload = call});
  Append(*log, Assistant("two"));
  const auto older = FindLastToolset(*log);
  ASSERT_TRUE(older && *older);
  EXPECT_EQ((*older)->toolset.blob, blob);
  EXPECT_EQ((*older)->event, kNone);
  auto copy = CloneAt(*log, std::nullopt);
  const auto found = FindLastToolset(*copy);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->toolset.blob, blob);
  EXPECT_EQ((*found)->toolset.cause, "first");
  EXPECT_NE((*found)->event, kNone);
  EXPECT_EQ(copy->blobs().Get(blob).value_or(""), "[1]");
  EXPECT_TRUE(Verify(Dir("ses_copy"))->sound());
  auto again = Create("ses_empty");
  EXPECT_FALSE(*FindLastToolset(*again)) << "no model was ever asked";
}

TEST_F(CloneTest, TheCopyIsToldThatTasksOfItsOriginAreNotItsOwn) {
  auto log = Create();
  Append(*log, User("one"));
  Append(*log, Assistant("", {"call_1", "call_2"}));
  const auto start = [&](std::string id, std::string call) {
    protocol::Task task;
    task.task_id = std::move(id);
    task.kind = "shell";
    task.phase = "start";
    task.name = "sleep 1000";
    task.tool_call_id = std::move(call);
    Append(*log, {.payload = std::move(task)});
  };
  start("shell-1", "call_1");
  start("shell-2", "call_2");
  start("shell-3", "call_elsewhere");
  Append(*log, ResultOf("call_1"));
  Append(*log, ResultOf("call_2"));
  const auto owed_in = [](Log& copy) {
    std::vector<std::string> texts;
    for (Ordinal at = 0; at < copy.index().entries().size(); ++at) {
      const protocol::Event event = copy.EventAt(at).value();
      if (const auto* owed = std::get_if<protocol::Owed>(&event.payload))
        texts.push_back(owed->text);
    }
    return texts;
  };
  Append(*log, [] {
    protocol::HarnessItem item;
    item.carries.emplace().emplace_back().task_id = "shell-2";
    return Draft{.payload = std::move(item)};
  }());
  auto copy = CloneAt(*log, std::nullopt);
  const std::vector<std::string> texts = owed_in(*copy);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("not its own: shell-1 (sleep 1000)."), std::string::npos) << texts[0];
}

TEST_F(CloneTest, ACloneOfAChildIsARootOfItsOwn) {
  auto log = Create();
  Append(*log, User("one"));
  protocol::Header header = log->header();
  header.session_id = "ses_child";
  header.kind = "agent";
  header.parent_session_id = "ses_p";
  header.root_session_id = "ses_r";
  header.agent_id = "agent-1";
  header.task_id = "agent-1";
  header.parent_tool_call_id = "call_1";
  auto child = Log::Create(Dir("ses_child"), header, WriteOptions());
  ASSERT_TRUE(child);
  auto copy = CloneAt(**child, std::nullopt);
  EXPECT_EQ(copy->header().kind, "chat");
  EXPECT_EQ(copy->header().cloned_from->session_id, "ses_child");
  EXPECT_FALSE(copy->header().parent_session_id || copy->header().root_session_id ||
               copy->header().agent_id || copy->header().task_id ||
               copy->header().parent_tool_call_id);
}

TEST_F(CloneTest, WhatTheSessionIsCalledIsFoldedIntoOneEvent) {
  auto log = Create();
  Append(*log, User("one"));
  Append(*log, {.payload = protocol::SessionInfo{.changes = {.title = "a", .model = "x"}}});
  Append(*log, {.payload = protocol::SessionInfo{.changes = {.title = "b"}}});
  auto copy = CloneAt(*log, std::nullopt);
  EXPECT_EQ(copy->index().state().info.title, "b");
  EXPECT_EQ(copy->index().state().info.model, "x");
  EXPECT_EQ(Types(*copy).count("session_info"), 1u);
}

TEST_F(CloneTest, CallsOpenAtTheTargetAreAnsweredAsNotRun) {
  auto log = Create();
  Append(*log, User("go"));
  const std::string step = Append(*log, Assistant("", {"call_a", "call_b"}));
  Append(*log, ResultOf("call_a"));
  auto copy = CloneAt(*log, step);
  EXPECT_TRUE(copy->open_calls().empty());
  const std::vector<Ordinal> path = PathTo(copy->index(), copy->index().leaf());
  ASSERT_EQ(path.size(), 4u);
  const protocol::Event answer = *copy->EventAt(path.back());
  EXPECT_TRUE(std::get<protocol::ToolResult>(answer.payload).is_error);
  Append(*copy, User("on"));
}

TEST_F(CloneTest, BlobsAreLinkedNotCopied) {
  auto log = Create();
  Append(*log, User("go"));
  Append(*log, Assistant("", {"call_a"}));
  const std::string blob = *log->blobs().Put("large content");
  Draft result = ResultOf("call_a");
  std::get<protocol::ToolResult>(result.payload).blobs = {blob};
  Append(*log, std::move(result));
  auto copy = CloneAt(*log, std::nullopt);
  EXPECT_EQ(*copy->blobs().Get(blob), "large content");
  EXPECT_EQ(StatFile(copy->blobs().PathOf(blob))->links, 2u);
}

TEST_F(CloneTest, AnExistingFolderIsNeverTouched) {
  auto log = Create();
  ASSERT_TRUE(MakeDirs(Dir("ses_copy")));
  ASSERT_TRUE(ReplaceFile(Dir("ses_copy") + "/summary.json", "", Durable::kNo));
  EXPECT_EQ(
      Clone(*log, std::nullopt, {Dir("ses_copy"), "ses_copy", "d"}, WriteOptions()).error().code,
      Code::kConflict);
}

TEST_F(CloneTest, AFolderInWhichNoSessionCameToBeIsUsed) {
  auto log = Create();
  ASSERT_TRUE(MakeDirs(Dir("ses_copy")));
  ASSERT_TRUE(ReplaceFile(Dir("ses_copy") + "/lock", "", Durable::kNo));
  EXPECT_EQ(CloneAt(*log, std::nullopt)->header().session_id, "ses_copy");
}

TEST_F(CloneTest, AnEmptySessionCanBeCloned) {
  auto log = Create();
  auto copy = CloneAt(*log, std::nullopt);
  EXPECT_EQ(copy->leaf_id(), std::nullopt);
}

TEST_F(CloneTest, ABridgedEventHangsOnItsBridgeInTheCopy) {
  std::string first;
  std::string third;
  {
    auto log = Create();
    first = Append(*log, User("one"));
    Append(*log, User("two"));
    third = Append(*log, User("three"));
  }
  std::string bytes = *ReadFile(EventsPath());
  bytes[bytes.find("two")] = 'X';
  ASSERT_TRUE(ReplaceFile(EventsPath(), bytes, Durable::kNo));
  auto log = Open(Mode::kWrite, false);
  auto copy = CloneAt(*log, std::nullopt);
  EXPECT_EQ(PathIds(*copy), (std::vector{first, third}));
  EXPECT_TRUE(Verify(Dir("ses_copy"))->sound());
}

}  // namespace
}  // namespace stet::log
