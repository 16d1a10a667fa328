#include "tui/live_view/live_view.h"

#include <gtest/gtest.h>

#include "tui/live_view/change.h"
#include "tui/vt_fixture.h"

namespace stet::tui {
namespace {

class LiveViewTest : public testing::Test {
 protected:
  template <class T>
  void Take(T payload) {
    protocol::Transient transient;
    transient.ts = clock_.Now();
    transient.transient = std::move(payload);
    view_.Apply(scene_.Take(transient));
  }
  void Append(protocol::Payload payload, std::string id = "e_9",
              std::optional<std::string> turn_id = {}) {
    protocol::Event event;
    event.id = std::move(id);
    event.stamp.ts = clock_.Now();
    event.stamp.turn_id = std::move(turn_id);
    event.payload = std::move(payload);
    view_.Apply(scene_.Take(event));
  }
  void Change(protocol::InfoChanges changes) {
    protocol::SessionInfo info;
    info.changes = std::move(changes);
    Append(info);
  }
  void Begin(std::string turn_id) {
    protocol::RuntimeStart start;
    start.turn_id = std::move(turn_id);
    Take(start);
  }
  void End(std::string turn_id, std::string reason = "completed") {
    protocol::RuntimeEnd end;
    end.turn_id = std::move(turn_id);
    end.reason = std::move(reason);
    Take(end);
  }
  /// A model call of the turn that has ended.
  void Spend(std::string turn_id, std::int64_t in, std::int64_t out) {
    protocol::ModelCall call;
    call.phase = "end";
    call.attempts.emplace().emplace_back().usage.emplace();
    call.attempts->back().usage->input = in - 500;
    call.attempts->back().usage->cache_read = 500;
    call.attempts->back().usage->output = out;
    Append(call, "", std::move(turn_id));
  }
  void Start() {
    protocol::MessageStart start;
    start.event_id = "e_1";
    Take(start);
  }
  void Text(std::string_view delta, std::int64_t block = 0) {
    protocol::TextDelta text;
    text.event_id = "e_1";
    text.block_index = block;
    text.delta = delta;
    Take(text);
  }
  std::string Shown() {
    vt_.Feed(screen_.Take());
    return vt_.Text();
  }

  face::Console console_;
  FakeClock clock_;
  Screen screen_{120, 40};
  client::Scene scene_;
  LiveView view_{screen_, console_, clock_, scene_};
  VtScreen vt_{120, 40};
};

TEST_F(LiveViewTest, TextIsShownAsItComesAndOnce) {
  Start();
  Text("# Head");
  Text("ing\nwords ");
  EXPECT_EQ(Shown(), "# Heading\nwords");
  protocol::AssistantMessage message;
  protocol::TextBlock block;
  block.text = "# Heading\nwords and more";
  message.message.blocks.emplace_back(block);
  Text("and more");
  Append(message, "e_1");
  EXPECT_EQ(Shown(), "# Heading\nwords and more");
  Append(message, "e_2");
  EXPECT_EQ(Shown(), "# Heading\nwords and more\n# Heading\nwords and more")
      << "what did not stream is shown from its event";
}

TEST_F(LiveViewTest, ThinkingIsCutShort) {
  Start();
  protocol::ThinkingDelta thinking;
  thinking.event_id = "e_1";
  for (int i = 0; i < 100; ++i) {
    thinking.delta = "so many words\n";
    Take(thinking);
  }
  const std::string shown = Shown();
  EXPECT_LT(TextWidth(shown), 310u);
  EXPECT_TRUE(shown.ends_with("…")) << shown;
}

TEST_F(LiveViewTest, AToolHasOneLineWithItsTimeAndErrorsSayWhy) {
  protocol::ToolExecutionStart start;
  start.tool_call_id = "c";
  start.tool_name = "Bash";
  start.args = Raw{R"({"command":"make\n  -j2"})"};
  Take(start);
  protocol::ToolResult result;
  result.tool_call_id = "c";
  result.is_error = true;
  result.content = Raw{R"([{"type":"text","text":"\nexit code 2\nmore"}])"};
  Append(result);
  EXPECT_EQ(Shown(), "");
  protocol::ToolExecutionEnd end;
  end.tool_call_id = "c";
  end.duration_ms = 1500;
  end.is_error = true;
  Take(end);
  EXPECT_EQ(Shown(), "✗ Bash make -j2  1 s\n    exit code 2");
}

TEST_F(LiveViewTest, TheStatusSaysWhatGoesOnSinceWhen) {
  EXPECT_EQ(view_.StatusRow(), "");
  Begin("t");
  clock_.Advance(std::chrono::seconds(12));
  EXPECT_EQ(view_.StatusRow(), "- waiting for the model  12 s  0 in, 0 out  Ctrl-C stops");
  protocol::Wait wait;
  wait.who = "model";
  wait.what = "overloaded";
  wait.until = clock_.Now() + 3000;
  Take(wait);
  EXPECT_TRUE(view_.StatusRow().contains("waiting for the model: overloaded; again in 3 s"));
  Spend("t", 1500, 20);
  EXPECT_TRUE(view_.StatusRow().contains("1.5k in, 20 out"));
  protocol::RuntimeEnd done;
  done.turn_id = "t";
  done.reason = "error";
  done.error = "it broke";
  Take(done);
  EXPECT_EQ(view_.StatusRow(), "");
  EXPECT_TRUE(Shown().ends_with("it broke\n12 s  1.5k in, 20 out")) << Shown();
}

TEST_F(LiveViewTest, WhatATurnCameToStandsBehindItBeforeTheNextOne) {
  Begin("t1");
  clock_.Advance(std::chrono::seconds(2));
  Spend("t1", 700, 3);
  End("t1");
  protocol::UserMessage next;
  next.message.blocks.emplace_back(protocol::TextBlock{.text = "and then"});
  Append(next, "e_2", "t2");
  Begin("t2");
  clock_.Advance(std::chrono::seconds(3));
  Spend("t2", 800, 4);
  End("t2", "cancelled");
  EXPECT_EQ(Shown(), "2 s  700 in, 3 out\n\n> and then\n\n(cancelled)\n3 s  800 in, 4 out");
}

TEST_F(LiveViewTest, OfATurnThatWasJoinedTheSumsAreOfWhatWasHeard) {
  protocol::LiveState state;
  state.state = "running";
  state.turn_id = "t1";
  view_.Apply(scene_.Begin(state));
  clock_.Advance(std::chrono::seconds(4));
  EXPECT_EQ(view_.StatusRow(), "- waiting for the model  4 s  0 in, 0 out  Ctrl-C stops");
  protocol::UserMessage message;
  message.message.blocks.emplace_back(protocol::TextBlock{.text = "go"});
  Append(message, "e_1", "t1");
  clock_.Advance(std::chrono::seconds(1));
  Spend("t1", 700, 3);
  End("t1");
  EXPECT_EQ(Shown(), "> go\n\n1 s  700 in, 3 out  (of what was heard here)");
}

TEST_F(LiveViewTest, WhereTheSessionGoesAnotherWayThereIsALine) {
  protocol::LiveState state;
  state.state = "idle";
  state.model = "m";
  state.mode = "default";
  view_.Apply(scene_.Begin(state));
  Change({.model = "other", .effort = "high", .mode = "plan"});
  protocol::Compaction compact;
  compact.tokens_before = 12'300;
  compact.tokens_after = 900;
  Append(compact);
  protocol::Rewind rewind;
  Append(rewind);
  rewind.target_event_id = "e_3";
  Append(rewind);
  protocol::Branch branch;
  branch.leaf_event_id = "e_7";
  Append(branch);
  EXPECT_EQ(Shown(),
            "model: other\nmode: plan\neffort: high\n"
            "compacted: about 12.3k tokens became 900\n"
            "back before the first message; the conversation stays: /branch leads back\n"
            "back at e_3; the conversation stays: /branch leads back\n"
            "now at e_7");
}

TEST_F(LiveViewTest, WhatTookNoTimeIsNotSaidToHave) {
  protocol::ToolExecutionStart start;
  start.tool_call_id = "c";
  start.tool_name = "Read";
  start.args = Raw{R"({"file_path":"a.txt"})"};
  Take(start);
  protocol::ToolResult result;
  result.tool_call_id = "c";
  Append(result);
  protocol::ToolExecutionEnd end;
  end.tool_call_id = "c";
  Take(end);
  EXPECT_EQ(Shown(), "✓ Read a.txt");
}

TEST_F(LiveViewTest, CharactersInPiecesAreWholeAndControlsHarmless) {
  const std::string text =
      "世\xC2\x9B"
      "1m\x1b[2J\r\n```\ncode\n```\nend";
  Start();
  for (const char c : text) Text(std::string_view(&c, 1));
  protocol::RuntimeEnd done;
  done.reason = "completed";
  Take(done);
  EXPECT_EQ(Shown(), "世\uFFFD1m␛[2J\n```\ncode\n```\nend");
}

TEST(ChangeText, ShowsWhatIsRemovedAndAdded) {
  const face::Console console;
  EXPECT_EQ(
      ChangeText("Edit", Raw{R"({"old_string":"a\nb\nc","new_string":"a\nB\nc"})"}, console, 9),
      "     a\n    -b\n    +B\n     c\n");
  EXPECT_EQ(ChangeText("Write", Raw{R"({"content":"1\n2\n3\n"})"}, console, 2),
            "    +1\n    +2\n    ... 1 more lines\n");
  EXPECT_EQ(ChangeText("Bash", Raw{R"({"command":"x"})"}, console, 9), "");
  EXPECT_EQ(CallSummary("X", Raw{R"({"odd":1})"}), R"({"odd":1})");
}

}  // namespace
}  // namespace stet::tui
