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
    transient.transient = std::move(payload);
    view_.Take(transient);
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
  LiveView view_{screen_, console_, clock_};
  VtScreen vt_{120, 40};
};

TEST_F(LiveViewTest, TextIsShownAsItComesAndOnce) {
  Start();
  Text("# Head");
  Text("ing\nwords ");
  EXPECT_EQ(Shown(), "# Heading\nwords");
  protocol::Event event;
  event.id = "e_1";
  protocol::AssistantMessage message;
  protocol::TextBlock block;
  block.text = "# Heading\nwords and more";
  message.message.blocks.emplace_back(block);
  event.payload = message;
  Text("and more");
  view_.Take(event);
  EXPECT_EQ(Shown(), "# Heading\nwords and more");
  event.id = "e_2";
  view_.Take(event);
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
  protocol::Event event;
  protocol::ToolResult result;
  result.tool_call_id = "c";
  result.is_error = true;
  result.content = Raw{R"([{"type":"text","text":"\nexit code 2\nmore"}])"};
  event.payload = result;
  view_.Take(event);
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
  view_.Begin();
  clock_.Advance(std::chrono::seconds(12));
  EXPECT_EQ(view_.StatusRow(), "- waiting for the model  12 s  0 in, 0 out  Ctrl-C stops");
  protocol::Wait wait;
  wait.who = "model";
  wait.what = "overloaded";
  wait.until = clock_.Now() + 3000;
  Take(wait);
  EXPECT_TRUE(view_.StatusRow().contains("waiting for the model: overloaded (again in 3 s)"));
  protocol::TurnEnd end;
  end.usage.emplace();
  end.usage->input = 1000;
  end.usage->cache_read = 500;
  end.usage->output = 20;
  Take(end);
  EXPECT_TRUE(view_.StatusRow().contains("1.5k in, 20 out"));
  protocol::RuntimeEnd done;
  done.reason = "error";
  done.error = "it broke";
  Take(done);
  EXPECT_EQ(view_.StatusRow(), "");
  EXPECT_TRUE(Shown().ends_with("it broke"));
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
