#include "client/scene/scene.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace stet::client {
namespace {

using What = SceneChange::What;

std::string_view WhatName(What what) {
  switch (what) {
    case What::kAdded: return "added";
    case What::kGrown: return "grown";
    case What::kChanged: return "changed";
    case What::kReplaced: return "replaced";
    case What::kDropped: return "dropped";
    case What::kTurn: return "turn";
    case What::kAsks: return "asks";
    case What::kQueue: return "queue";
    case What::kTasks: return "tasks";
    case What::kSettings: return "settings";
    case What::kUsage: return "usage";
  }
  return "";
}

std::string_view StateName(CallItem::State state) {
  switch (state) {
    case CallItem::State::kWriting: return "writing";
    case CallItem::State::kWaiting: return "waiting";
    case CallItem::State::kRunning: return "running";
    case CallItem::State::kAnswered: return "answered";
    case CallItem::State::kEnded: return "ended";
  }
  return "";
}

std::string Line(const PromptItem& prompt) { return "> " + protocol::PlainText(prompt.blocks); }
std::string Line(const ReplyItem& reply) {
  return (reply.kind == ReplyItem::Kind::kThinking ? "(" + reply.text + ")" : reply.text) +
         (reply.kept ? "" : "_");
}
std::string Line(const CallItem& call) {
  return fmt::format("{} {} {}{}{}", call.tool, call.args.text, StateName(call.state),
                     call.is_error ? " failed" : "",
                     call.duration_ms ? fmt::format(" {} ms", *call.duration_ms) : "");
}
std::string Line(const NoteItem& note) {
  return fmt::format("-- {} {} {}", static_cast<int>(note.kind), note.by, note.text);
}
std::string Line(const MarkerItem& marker) {
  return fmt::format("== {} {}", static_cast<int>(marker.kind), marker.value);
}
std::string Line(const TurnItem& turn) {
  return fmt::format("[{} {} {}{}{}]", turn.turn_id, turn.reason,
                     turn.duration_ms ? fmt::format("{} ms ", *turn.duration_ms) : std::string(),
                     fmt::format("{} in, {} out, {}", turn.tokens_in, turn.tokens_out, turn.price),
                     turn.whole ? "" : ", in part");
}

std::string Shown(const Scene& scene) {
  std::string text;
  for (const SceneItem& item : scene.items())
    text += std::visit([](const auto& one) { return Line(one); }, item.what) + "\n";
  return text;
}

std::string Told(const SceneChanges& changes) {
  std::string text;
  for (const SceneChange& change : changes) {
    if (!text.empty()) text += ", ";
    text += WhatName(change.what);
    if (change.item != 0) text += fmt::format(" {}", change.item);
    if (change.from != 0) text += fmt::format(" from {}", change.from);
  }
  return text;
}

class SceneTest : public testing::Test {
 protected:
  std::string Hear(protocol::TransientPayload payload) {
    protocol::Transient transient;
    transient.transient = std::move(payload);
    return Told(scene_.Take(transient));
  }
  std::string Add(protocol::Payload payload, std::string id = "e1") {
    protocol::Event event;
    event.id = std::move(id);
    event.payload = std::move(payload);
    return Told(scene_.Take(event));
  }
  std::string Start(std::string id = "e1") {
    protocol::MessageStart start;
    start.event_id = std::move(id);
    return Hear(start);
  }
  template <class Delta = protocol::TextDelta>
  std::string Say(std::int64_t block, std::string text) {
    Delta delta;
    delta.event_id = "e1";
    delta.block_index = block;
    delta.delta = std::move(text);
    return Hear(delta);
  }
  std::string WriteCall(std::string id) {
    protocol::ToolCallDelta delta;
    delta.event_id = "e1";
    delta.block_index = 9;
    delta.tool_call_id = std::move(id);
    delta.tool_name = "Bash";
    return Hear(delta);
  }
  std::string StartCall(std::string id) {
    protocol::ToolExecutionStart start;
    start.event_id = "e1";
    start.tool_call_id = std::move(id);
    start.tool_name = "Bash";
    start.args = Raw{R"({"command":"ls"})"};
    return Hear(start);
  }
  std::string EndCall(std::string id) {
    protocol::ToolExecutionEnd end;
    end.tool_call_id = std::move(id);
    end.duration_ms = 7;
    return Hear(end);
  }
  std::string BeginTurn(std::string turn_id, std::int64_t ts = 0) {
    protocol::Transient transient;
    transient.ts = ts;
    transient.transient = protocol::RuntimeStart{.turn_id = std::move(turn_id)};
    return Told(scene_.Take(transient));
  }
  std::string EndTurn(std::string turn_id, std::string reason = "completed", std::int64_t ts = 0) {
    protocol::Transient transient;
    transient.ts = ts;
    transient.transient =
        protocol::RuntimeEnd{.turn_id = std::move(turn_id), .reason = std::move(reason)};
    return Told(scene_.Take(transient));
  }
  /// An event of a turn.
  std::string AddIn(std::string turn_id, protocol::Payload payload, std::int64_t ts) {
    protocol::Event event;
    event.id = "e_" + turn_id;
    event.stamp.turn_id = std::move(turn_id);
    event.stamp.ts = ts;
    event.payload = std::move(payload);
    return Told(scene_.Take(event));
  }
  static protocol::ModelCall Spent(std::int64_t in, std::int64_t out, std::int64_t price) {
    protocol::ModelCall call;
    call.phase = "end";
    call.price = price;
    call.attempts.emplace().emplace_back().usage.emplace();
    call.attempts->back().usage->input = in;
    call.attempts->back().usage->output = out;
    return call;
  }
  static protocol::LiveState Running(std::string turn_id) {
    protocol::LiveState state;
    state.state = "running";
    state.turn_id = std::move(turn_id);
    return state;
  }

  static protocol::UserMessage Prompt(std::string text) {
    protocol::UserMessage message;
    message.message.blocks.emplace_back(protocol::TextBlock{.text = std::move(text)});
    return message;
  }
  static protocol::AssistantMessage Reply(const std::vector<std::string>& texts) {
    protocol::AssistantMessage message;
    for (const std::string& text : texts)
      message.message.blocks.emplace_back(protocol::TextBlock{.text = text});
    return message;
  }
  static protocol::AssistantMessage Calls(const std::vector<std::string>& ids) {
    protocol::AssistantMessage message;
    for (const std::string& id : ids) {
      protocol::ToolCallBlock call;
      call.tool_call_id = id;
      call.tool_name = "Bash";
      call.args = Raw{R"({"command":"ls"})"};
      message.message.blocks.emplace_back(std::move(call));
    }
    return message;
  }
  static protocol::ToolResult ResultOf(std::string id, bool is_error = false) {
    protocol::ToolResult result;
    result.tool_call_id = std::move(id);
    result.is_error = is_error;
    result.content = Raw{R"([{"type":"text","text":"out"}])"};
    return result;
  }

  Scene scene_;
};

TEST_F(SceneTest, AReplyGrowsAndIsKeptWithItsMessage) {
  EXPECT_EQ(Add(Prompt("hello"), "e0"), "added 1");
  EXPECT_EQ(Start(), "turn");
  EXPECT_EQ(Say<protocol::ThinkingDelta>(0, "hm"), "turn, added 2");
  EXPECT_EQ(Say(1, "wor"), "turn, added 3");
  EXPECT_EQ(Say(1, "ds"), "grown 3 from 3");
  EXPECT_EQ(Shown(scene_), "> hello\n(hm)_\nwords_\n");
  protocol::AssistantMessage message = Reply({"words and more"});
  message.message.blocks.insert(message.message.blocks.begin(),
                                protocol::ThinkingBlock{.text = "hm"});
  EXPECT_EQ(Add(message), "changed 2, grown 3 from 5, changed 3");
  EXPECT_EQ(Shown(scene_), "> hello\n(hm)\nwords and more\n");
}

TEST_F(SceneTest, TheMessageIsTheTruthWhereSomethingWasMissed) {
  EXPECT_EQ(Say(0, "the middle of it"), "turn") << "its beginning was not heard";
  EXPECT_EQ(Shown(scene_), "");
  EXPECT_EQ(Add(Reply({"all of it"})), "added 1");
  Start("e2");
  protocol::TextDelta delta;
  delta.event_id = "e2";
  delta.delta = "ac";
  Hear(delta);
  delta.block_index = 1;
  delta.delta = "never said";
  Hear(delta);
  EXPECT_EQ(Add(Reply({"abc"}), "e2"), "replaced 2, changed 2, dropped 3");
  EXPECT_EQ(Shown(scene_), "all of it\nabc\n");
}

TEST_F(SceneTest, ACallGoesFromItsFirstLetterToItsEnd) {
  Start();
  EXPECT_EQ(WriteCall("t1"), "turn, added 1");
  EXPECT_EQ(WriteCall("t1"), "");
  EXPECT_EQ(Shown(scene_), "Bash {} writing\n");
  EXPECT_EQ(Add(Calls({"t1"})), "changed 1");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} waiting\n");
  EXPECT_EQ(StartCall("t1"), "turn, changed 1");
  ASSERT_NE(scene_.FindCall("t1"), nullptr);
  EXPECT_EQ(scene_.FindCall("t1")->state, CallItem::State::kRunning);
  EXPECT_EQ(Add(ResultOf("t1", true), "e2"), "changed 1");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} answered failed\n");
  EXPECT_EQ(EndCall("t1"), "turn, changed 1");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} ended failed 7 ms\n");
  EXPECT_EQ(scene_.FindCall("t1"), nullptr) << "it has ended";
}

TEST_F(SceneTest, ACallThatStartsBeforeItsMessageKeepsRunning) {
  Start();
  WriteCall("t1");
  StartCall("t1");
  Add(Calls({"t1"}));
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} running\n");
  EXPECT_EQ(EndCall("t1"), "turn") << "its result is not in the log yet";
  EXPECT_EQ(Add(ResultOf("t1"), "e2"), "changed 1");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} ended 7 ms\n");
}

TEST_F(SceneTest, ARefusedCallEndsWithItsResult) {
  Add(Calls({"t1"}));
  EXPECT_EQ(Add(ResultOf("t1", true), "e2"), "changed 1");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} ended failed\n");
}

TEST_F(SceneTest, WhatWasCancelledNeverHappened) {
  Start();
  Say(0, "half of");
  WriteCall("t1");
  protocol::MessageCancelled cancelled;
  cancelled.event_id = "e1";
  cancelled.reason = "tried again";
  EXPECT_EQ(Hear(cancelled), "dropped 1, dropped 2, added 3");
  EXPECT_EQ(Shown(scene_), "-- 4  \n");
  Start();
  WriteCall("t2");
  EXPECT_EQ(Add(Reply({"no call after all"})), "added 5, dropped 4");
}

TEST_F(SceneTest, NothingStaysOpenBehindTheEndOfATurn) {
  BeginTurn("t");
  EXPECT_TRUE(scene_.turn().running);
  Add(Calls({"a", "b"}));
  StartCall("a");
  Add(ResultOf("a"), "e2");
  EXPECT_EQ(EndTurn("t", "cancelled"), "changed 1, changed 2, added 3, turn");
  EXPECT_FALSE(scene_.turn().running);
  EXPECT_EQ(Shown(scene_),
            "Bash {\"command\":\"ls\"} ended\nBash {\"command\":\"ls\"} ended failed\n"
            "[t cancelled 0 in, 0 out, 0, in part]\n");
  EXPECT_EQ(EndTurn("t", "cancelled"), "") << "it has ended already";
}

TEST_F(SceneTest, WhatATurnCameToIsFoldedFromItsEvents) {
  AddIn("t1", Prompt("one"), 1000);
  EXPECT_FALSE(scene_.turn().running) << "it is not said to run yet";
  BeginTurn("t1", 1100);
  AddIn("t1", Spent(10, 2, 7), 1500);
  AddIn("t2", Spent(90, 90, 90), 1600);
  EXPECT_EQ(scene_.turn().tokens_in, 10);
  EndTurn("t1", "completed", 2000);
  EXPECT_EQ(Shown(scene_), "> one\n[t1 completed 900 ms 10 in, 2 out, 7]\n");
  EXPECT_EQ(scene_.price(), 97);
}

TEST_F(SceneTest, ATurnThatWasAcceptedRunsUnlessItsEndWasHeard) {
  EXPECT_EQ(Told(scene_.Began("t1")), "turn");
  EXPECT_TRUE(scene_.turn().running);
  EndTurn("t1");
  EXPECT_EQ(Told(scene_.Began("t1")), "");
  EXPECT_FALSE(scene_.turn().running);
  BeginTurn("t1");
  EXPECT_TRUE(scene_.turn().running) << "a turn that waited for an answer goes on";
}

TEST_F(SceneTest, TheEndOfATurnThatIsToldLateEndsNoOther) {
  BeginTurn("t1");
  scene_.Begin(Running("t2"));
  EXPECT_EQ(EndTurn("t1", "interrupted"), "added 1, turn");
  EXPECT_TRUE(scene_.turn().running);
  EXPECT_EQ(scene_.turn().turn_id, "t2");
}

TEST_F(SceneTest, ATurnThatTheHostDoesNotKnowOfDoesNotRun) {
  BeginTurn("t1");
  Add(Calls({"a"}));
  StartCall("a");
  protocol::LiveState state;
  state.state = "idle";
  scene_.Begin(state);
  EXPECT_FALSE(scene_.turn().running);
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} running\n") << "its result may still come";
  EndTurn("t1", "interrupted");
  EXPECT_EQ(Shown(scene_),
            "Bash {\"command\":\"ls\"} ended failed\n"
            "[t1 interrupted 0 in, 0 out, 0, in part]\n");
}

TEST_F(SceneTest, ATurnOfTheHistoryThatGoesOnIsTimedAnew) {
  AddIn("t1", Prompt("one"), 1000);
  BeginTurn("t1", 90'000'000);
  EndTurn("t1", "completed", 90'000'700);
  EXPECT_EQ(Shown(scene_), "> one\n[t1 completed 700 ms 0 in, 0 out, 0]\n");
}

TEST_F(SceneTest, BegunAnewItKeepsTheTurnThatStillRuns) {
  AddIn("t1", Prompt("one"), 1000);
  BeginTurn("t1", 1000);
  AddIn("t1", Spent(10, 2, 7), 1500);
  protocol::LiveState state = Running("t1");
  state.session_id = "s_1";
  state.commands = {"deploy"};
  scene_.Begin(state);
  EXPECT_EQ(scene_.session(), (SceneSession{.session_id = "s_1", .commands = {"deploy"}}));
  EndTurn("t1", "completed", 1800);
  EXPECT_EQ(Shown(scene_), "> one\n[t1 completed 800 ms 10 in, 2 out, 7]\n");
}

TEST_F(SceneTest, WhatIsToldLateOfACallThatHasEndedChangesNothing) {
  Add(Calls({"a"}));
  Add(ResultOf("a"), "e2");
  StartCall("a");
  EndCall("a");
  EXPECT_EQ(Shown(scene_), "Bash {\"command\":\"ls\"} ended\n");
}

TEST_F(SceneTest, OutputIsTheEndOfWhatACommandWrote) {
  Add(Calls({"t1"}));
  StartCall("t1");
  protocol::ToolExecutionUpdate update;
  update.tool_call_id = "t1";
  update.partial = std::string(CallItem::kMaxOutput, 'x') + "\nlast\n";
  Hear(update);
  EXPECT_EQ(scene_.FindCall("t1")->output, "last\n");
}

TEST_F(SceneTest, WhereTheSessionStandsIsKnownFromTheBeginningAndFromEvents) {
  protocol::LiveState state;
  state.state = "waiting";
  state.model = "m";
  state.mode = "default";
  state.asks.emplace_back().request_id = "r1";
  EXPECT_EQ(Told(scene_.Begin(state)), "turn, settings, queue, asks");
  EXPECT_TRUE(scene_.turn().running);
  ASSERT_EQ(scene_.asks().size(), 1U);
  protocol::Permission answered;
  answered.request_id = "r1";
  answered.phase = "answered";
  EXPECT_EQ(Add(answered), "asks");
  EXPECT_TRUE(scene_.asks().empty());
  protocol::SessionInfo info;
  info.changes.mode = "plan";
  info.changes.model = "m";
  info.changes.title = "A name";
  info.changes.effort = "high";
  EXPECT_EQ(Add(info), "added 1, added 2, settings") << "the model is the same";
  EXPECT_EQ(Shown(scene_), "== 4 plan\n== 5 high\n");
  EXPECT_EQ(scene_.settings().title, "A name");
  protocol::QueueUpdate queue;
  queue.queue = "steer";
  queue.items.emplace_back().item_id = "q1";
  EXPECT_EQ(Add(queue), "queue");
  EXPECT_EQ(scene_.steers(), queue.items);
}

TEST_F(SceneTest, ATaskThatEndsIsSaid) {
  protocol::Task task;
  task.task_id = "sh-1";
  task.kind = "shell";
  task.phase = "start";
  task.name = "make";
  EXPECT_EQ(Add(task), "tasks");
  task.phase = "end";
  task.status = "failed";
  task.exit = 2;
  EXPECT_EQ(Add(task), "tasks, added 1");
  EXPECT_EQ(Shown(scene_), "-- 5 sh-1 failed, exit code 2\n");
  protocol::HarnessItem told;
  told.item.content = "the task ended";
  told.carries.emplace().emplace_back().task_id = "sh-1";
  EXPECT_EQ(Add(told), "") << "it was said when it happened";
  told.carries->emplace_back().owed_id = "o1";
  EXPECT_EQ(Add(told), "added 2");
  ASSERT_EQ(scene_.tasks().size(), 1U);
  EXPECT_EQ(scene_.tasks()[0].name, "make");
  EXPECT_EQ(scene_.tasks()[0].state, "failed");
}

TEST_F(SceneTest, MemoryIsThatOfTheNewestItems) {
  for (std::size_t i = 0; i < Scene::kMaxItems + 10; ++i) Add(Prompt("x"), std::to_string(i));
  EXPECT_EQ(scene_.items().size(), Scene::kMaxItems);
  EXPECT_EQ(scene_.items().front().number, 11U);
  Add(Prompt(std::string(Scene::kMaxBytes, 'x')), "large");
  EXPECT_EQ(scene_.items().size(), 1U) << "the newest stays";
  EXPECT_EQ(scene_.Find(5), nullptr);
}

/// A face that applies changes, and nothing else, to what it has shown.
struct Follower {
  std::map<std::uint64_t, std::string> texts;

  void Apply(const Scene& scene, const SceneChanges& changes) {
    for (const SceneChange& change : changes) {
      if (change.what == What::kDropped) {
        texts.erase(change.item);
        continue;
      }
      const SceneItem* item = scene.Find(change.item);
      const auto* reply = item == nullptr ? nullptr : std::get_if<ReplyItem>(&item->what);
      if (reply == nullptr) continue;
      if (change.what == What::kAdded) texts[change.item] = "";
      std::string& text = texts[change.item];
      if (change.what == What::kGrown) {
        ASSERT_EQ(text.size(), change.from);
        text = reply->text;
      } else if (change.what == What::kAdded || change.what == What::kReplaced) {
        text = reply->text;
      }
    }
  }
};

/// News in any order, with gaps: what a follower shows is the scene, and nothing breaks.
// NOLINTNEXTLINE(readability-function-size): every kind of news, in one place.
TEST(SceneModelTest, AFaceThatAppliesTheChangesShowsTheScene) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Scene scene;
    Follower follower;
    for (int step = 0; step < 200; ++step) {
      const std::string id = "e" + std::to_string(random.Below(4));
      const std::string call = "t" + std::to_string(random.Below(4));
      protocol::Transient transient;
      protocol::Event event;
      event.id = id;
      std::optional<SceneChanges> changes;
      switch (random.Below(9)) {
        case 0: transient.transient = protocol::MessageStart{.event_id = id}; break;
        case 1:
        case 2:
          transient.transient =
              protocol::TextDelta{.event_id = id,
                                  .block_index = static_cast<std::int64_t>(random.Below(3)),
                                  .delta = std::string(random.Below(3), 'a')};
          break;
        case 3:
          transient.transient = protocol::ToolCallDelta{
              .event_id = id, .tool_call_id = call, .tool_name = "Bash", .delta = ""};
          break;
        case 4: transient.transient = protocol::ToolExecutionStart{.tool_call_id = call}; break;
        case 5: transient.transient = protocol::ToolExecutionEnd{.tool_call_id = call}; break;
        case 6: transient.transient = protocol::MessageCancelled{.event_id = id}; break;
        case 7: {
          protocol::AssistantMessage message;
          message.message.blocks.emplace_back(
              protocol::TextBlock{.text = std::string(random.Below(5), 'a')});
          if (random.Below(2) == 0)
            message.message.blocks.emplace_back(protocol::ToolCallBlock{.tool_call_id = call});
          event.payload = message;
          changes = scene.Take(event);
          break;
        }
        default: {
          if (random.Below(8) == 0) {
            transient.transient = protocol::RuntimeEnd{.reason = "completed"};
            break;
          }
          protocol::ToolResult result;
          result.tool_call_id = call;
          event.payload = result;
          changes = scene.Take(event);
        }
      }
      follower.Apply(scene, changes ? *changes : scene.Take(transient));
      std::map<std::uint64_t, std::string> shown;
      for (const SceneItem& item : scene.items())
        if (const auto* reply = std::get_if<ReplyItem>(&item.what))
          shown[item.number] = reply->text;
      ASSERT_EQ(follower.texts, shown) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace stet::client
