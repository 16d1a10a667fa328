#include "acp/updates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::acp {
namespace {

using List = Updates::List;

class UpdatesTest : public testing::Test {
 protected:
  List Hear(protocol::TransientPayload payload, std::int64_t ts = 0) {
    protocol::Transient transient;
    transient.ts = ts;
    transient.transient = std::move(payload);
    return updates_.Take(transient);
  }
  List Add(protocol::Payload payload) {
    protocol::Event event;
    event.id = "e1";
    event.payload = std::move(payload);
    return updates_.Take(event);
  }
  void Start() {
    protocol::MessageStart start;
    start.event_id = "e1";
    Hear(start);
  }
  List Text(std::int64_t block, std::string text) {
    protocol::TextDelta delta;
    delta.event_id = "e1";
    delta.block_index = block;
    delta.delta = std::move(text);
    return Hear(delta);
  }

  static protocol::AssistantMessage Said(const std::vector<std::string>& texts) {
    protocol::AssistantMessage message;
    for (const std::string& text : texts) {
      protocol::TextBlock block;
      block.text = text;
      message.message.blocks.emplace_back(std::move(block));
    }
    return message;
  }
  static protocol::AssistantMessage Called(std::string tool, std::string args) {
    protocol::AssistantMessage message;
    protocol::ToolCallBlock call;
    call.tool_call_id = "t1";
    call.tool_name = std::move(tool);
    call.args = Raw{std::move(args)};
    message.message.blocks.emplace_back(std::move(call));
    return message;
  }
  static protocol::ToolResult Result(bool is_error, const std::string& text) {
    protocol::ToolResult result;
    result.tool_call_id = "t1";
    result.is_error = is_error;
    result.content = Raw{R"([{"type":"text","text":")" + text + "\"}]"};
    return result;
  }

  std::map<std::string, std::string> blobs_;
  std::map<std::string, std::string> files_;
  Updates updates_{{.cwd = "/p",
                    .compactions = true,
                    .blob = [this](const std::string& name) { return Look(blobs_, name); },
                    .file_text = [this](const std::string& path) { return Look(files_, path); }}};

 private:
  static std::optional<std::string> Look(const std::map<std::string, std::string>& from,
                                         const std::string& name) {
    const auto found = from.find(name);
    return found == from.end() ? std::nullopt : std::optional(found->second);
  }
};

std::string ChunkOf(std::string_view kind, std::string_view text) {
  std::string chunk = R"({"sessionUpdate":")";
  chunk += kind;
  chunk += R"(","content":{"type":"text","text":)";
  AppendJsonString(chunk, text);
  return chunk + R"(},"messageId":"e1"})";
}

TEST_F(UpdatesTest, WhatWasStreamedIsToldOnceAndTheRestWithTheMessage) {
  Start();
  EXPECT_EQ(Text(0, "a"), List{ChunkOf("agent_message_chunk", "a")});
  EXPECT_EQ(Text(0, "b"), List{ChunkOf("agent_message_chunk", "b")});
  EXPECT_EQ(Text(2, "c"), List{ChunkOf("agent_message_chunk", "\n\nc")});
  EXPECT_EQ(Add(Said({"ab", "cd"})), List{ChunkOf("agent_message_chunk", "d")});
}

TEST_F(UpdatesTest, WhoeverComesInTheMiddleHearsTheWholeAtTheEnd) {
  EXPECT_EQ(Text(0, "end of it"), List());
  EXPECT_EQ(Add(Said({"all of it"})), List{ChunkOf("agent_message_chunk", "all of it")});
  Start();
  Text(0, "ac");
  EXPECT_EQ(Add(Said({"abc"})), List{ChunkOf("agent_message_chunk", "\n\nabc")})
      << "something was missed between";
}

TEST_F(UpdatesTest, ThoughtsAreToldApart) {
  Start();
  protocol::ThinkingDelta delta;
  delta.event_id = "e1";
  delta.delta = "hm";
  EXPECT_EQ(Hear(delta), List{ChunkOf("agent_thought_chunk", "hm")});
  protocol::UserMessage user;
  user.message.blocks.emplace_back(protocol::TextBlock{.text = "hello"});
  EXPECT_EQ(Add(user), List{ChunkOf("user_message_chunk", "hello")});
}

TEST_F(UpdatesTest, ACallIsKnownWhileItIsWrittenAndEndsWithItsResult) {
  Start();
  protocol::ToolCallDelta delta;
  delta.event_id = "e1";
  delta.tool_call_id = "t1";
  delta.tool_name = "Bash";
  EXPECT_EQ(
      Hear(delta),
      List{
          R"({"sessionUpdate":"tool_call","toolCallId":"t1","title":"Bash","name":"Bash","kind":"execute","status":"pending"})"});
  EXPECT_EQ(Hear(delta), List());
  EXPECT_EQ(
      Add(Called("Bash", R"({"command":"ls\n-l"})")),
      List{
          R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","title":"ls -l","name":"Bash","kind":"execute","status":"pending","rawInput":{"command":"ls\n-l"}})"});
  protocol::ToolExecutionStart start;
  start.tool_call_id = "t1";
  EXPECT_EQ(
      Hear(start),
      List{R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"in_progress"})"});
  EXPECT_EQ(
      Add(Result(true, "no")),
      List{
          R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"no"}}]})"});
}

TEST_F(UpdatesTest, ACallThatNeverCameToItsEndHasFailed) {
  const List failed = {
      R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"failed"})"};
  protocol::ToolCallDelta delta;
  delta.event_id = "e1";
  delta.tool_call_id = "t1";
  delta.tool_name = "Write";
  Start();
  Hear(delta);
  EXPECT_EQ(Add(Said({})), failed);
  Start();
  Hear(delta);
  protocol::MessageCancelled cancelled;
  cancelled.event_id = "e1";
  EXPECT_EQ(Hear(cancelled), failed);
}

TEST_F(UpdatesTest, ProgressIsTheEndOfTheOutputAndNotToldTooOften) {
  Add(Called("Bash", "{}"));
  protocol::ToolExecutionUpdate update;
  update.tool_call_id = "t1";
  update.partial = std::string(5000, 'x') + "\nlast\n";
  EXPECT_EQ(
      Hear(update, 1000),
      List{
          R"({"sessionUpdate":"tool_call_update","toolCallId":"t1","content":[{"type":"content","content":{"type":"text","text":"last\n"}}]})"});
  update.partial = "more\n";
  EXPECT_EQ(Hear(update, 1100), List());
  EXPECT_NE(Hear(update, 1600)[0].find(R"("last\nmore\nmore\n")"), std::string::npos);
}

TEST_F(UpdatesTest, ATerminalIsShownAtOnceAndKeptWithTheWordsOfAFailure) {
  constexpr std::string_view kTerminal = R"({"type":"terminal","terminalId":"term"})";
  for (const bool failed : {false, true}) {
    Add(Called("Bash", "{}"));
    protocol::ToolExecutionUpdate update;
    update.tool_call_id = "t1";
    update.terminal_id = "term";
    const List shown = Hear(update, 1000);
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(JsonView(shown[0])["content"].text(), fmt::format("[{}]", kTerminal));
    const List ended = Add(Result(failed, "said"));
    const std::string content(JsonView(ended.at(0))["content"].text());
    EXPECT_TRUE(content.starts_with(fmt::format("[{}", kTerminal))) << content;
    EXPECT_EQ(content.contains("said"), failed);
  }
}

TEST_F(UpdatesTest, AWriteShowsWhatTheFileWasByTheFactOfIt) {
  files_["/p/a"] = "seen";
  blobs_["b1"] = "old";
  const List call = Add(Called("Write", R"({"file_path":"a","content":"new"})"));
  EXPECT_EQ(JsonView(call[0])["content"].text(),
            R"([{"type":"diff","path":"/p/a","oldText":"seen","newText":"new"}])");
  protocol::FileFact fact;
  fact.op = "write";
  fact.path = "/real/a";
  fact.tool_call_id = "t1";
  fact.before_blob = "b1";
  EXPECT_EQ(Add(fact), List());
  const List result = Add(Result(false, "done"));
  EXPECT_EQ(JsonView(result[0])["content"].text(),
            R"([{"type":"diff","path":"/real/a","oldText":"old","newText":"new"}])");
  EXPECT_EQ(JsonView(result[0])["locations"].text(), R"([{"path":"/real/a"}])");
}

TEST_F(UpdatesTest, HistoryDoesNotLookAtFilesAsTheyAreNow) {
  files_["/p/a"] = "of today";
  protocol::Event event;
  event.payload = Called("Write", R"({"file_path":"/p/a","content":"new"})");
  EXPECT_EQ(JsonView(updates_.Replay(event)[0])["content"].text(),
            R"([{"type":"diff","path":"/p/a","oldText":null,"newText":"new"}])");
}

TEST_F(UpdatesTest, AListOfTasksIsThePlan) {
  Add(Called(
      "TodoWrite",
      R"({"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c"}]})"));
  const List result = Add(Result(false, "ok"));
  ASSERT_EQ(result.size(), 2U);
  EXPECT_EQ(
      result[1],
      R"({"sessionUpdate":"plan","entries":[{"content":"a","priority":"medium","status":"completed"},)"
      R"({"content":"b","priority":"medium","status":"in_progress"},{"content":"c","priority":"medium","status":"pending"}]})");
}

TEST_F(UpdatesTest, APermissionShowsTheChangeAndTheReason) {
  files_["/p/a"] = "old";
  Add(Called("Write", R"({"file_path":"a","content":"new"})"));
  protocol::PermissionAsk ask;
  ask.tool_call_id = "t1";
  ask.tool = "Write";
  ask.args = Raw{R"({"file_path":"a","content":"new"})"};
  ask.summary = "Write a";
  ask.reason = "it is asked first";
  EXPECT_EQ(
      updates_.CallOf(ask),
      R"({"toolCallId":"t1","title":"Write a","name":"Write","kind":"edit","status":"pending","content":[)"
      R"({"type":"diff","path":"/p/a","oldText":"old","newText":"new"},)"
      R"({"type":"content","content":{"type":"text","text":"it is asked first"}}],)"
      R"("locations":[{"path":"/p/a"}],"rawInput":{"file_path":"a","content":"new"}})");
}

TEST_F(UpdatesTest, TitlesAndCompactionsAreTold) {
  protocol::SessionInfo info;
  info.changes.title = "A name";
  EXPECT_EQ(Add(info), List{R"({"sessionUpdate":"session_info_update","title":"A name"})"});
  protocol::Compaction compact;
  compact.summary = "So far.";
  EXPECT_EQ(
      Add(compact),
      List{
          R"({"sessionUpdate":"compaction_update","compactionId":"e1","status":"completed","summary":[{"type":"text","text":"So far."}]})"});
}

}  // namespace
}  // namespace stet::acp
