// Compaction over the emulator: by hand, before the window is full, after a server said that it is,
// and with summarisers that do all kinds of things.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "client/await.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

/// Replies for the summariser, which is told by what it is asked, and for the work.
std::string ScriptOf(std::string_view summary, std::string_view work) {
  return fmt::format(R"({{"replies":[{{"when":{{"contains":"{}"}},"times":0,{}}},{}]}})",
                     kAsksSummary, summary, work);
}

class CompactionTest : public LiveTest {
 protected:
  CompactionTest() { more_settings_ = "contextWindow=20000\nmaxTokens=1000\n"; }

  /// So many replies with a text, each of about `bytes`.
  static std::string Texts(int count, std::size_t bytes) {
    std::string replies;
    for (int i = 0; i < count; ++i)
      replies += fmt::format(R"({}{{"blocks":[{{"text":"answer {} {}"}}]}})", i > 0 ? "," : "", i,
                             std::string(bytes, 'x'));
    return replies;
  }

  int Compactions() const {
    return static_cast<int>(std::ranges::count_if(
        Requests(), [](const std::string& body) { return body.contains(kAsksSummary); }));
  }
  std::string LastRequest() const { return Requests().back(); }
};

TEST_F(CompactionTest, ByHandTheConversationBecomesItsSummary) {
  Script(ScriptOf(R"("blocks":[{"text":"They count words."}])", Texts(4, 3000)));
  Open(Here());
  Run("first question");
  Run("second question");
  const protocol::TurnReport done = EndOf(*Send("the names", "compact").turn_id);
  EXPECT_EQ(done.reason, "completed") << done.error.value_or("");
  EXPECT_TRUE(done.text.starts_with("Compacted: about ")) << done.text;
  const auto asked = Requests();
  EXPECT_TRUE(asked.back().contains("keep this above all: the names"));
  EXPECT_TRUE(asked.back().contains("answer 0")) << "it is asked with the conversation itself";
  const auto compact = heard_->Await<protocol::Compaction>();
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->trigger, "manual");
  EXPECT_LT(compact->tokens_after, compact->tokens_before);
  Run("third question");
  EXPECT_TRUE(LastRequest().contains("They count words."));
  EXPECT_TRUE(LastRequest().contains("- first question")) << "the facts are there too";
  EXPECT_FALSE(LastRequest().contains(std::string(3000, 'x')));
  EXPECT_TRUE(LastRequest().contains("third question"));
}

TEST_F(CompactionTest, ARewindToBeforeItTakesItBack) {
  Script(ScriptOf(R"("blocks":[{"text":"Wrong."}])", Texts(4, 3000)));
  Open(Here());
  Run("first question");
  Run("second question");
  const std::string before = State().leaf_id.value();
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, before));
  Run("third question");
  EXPECT_TRUE(LastRequest().contains("answer 0"));
  EXPECT_FALSE(LastRequest().contains("Wrong."));
}

TEST_F(CompactionTest, WhatIsChangedOrSentDuringItCountsBehindIt) {
  Script(ScriptOf(R"("firstByteMs":1000,"blocks":[{"text":"They talk."}])", Texts(4, 3000)));
  Open(Here());
  Run("first question");
  Run("second question");
  const auto compaction = Send("", "compact");
  ASSERT_TRUE(heard_->Await<protocol::ModelCall>(
      [](const protocol::ModelCall& call) { return call.purpose == "compaction"; }));
  EXPECT_EQ(Send("third question").what, "queued");
  protocol::Change change;
  change.effort = "high";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Change, change));
  EXPECT_EQ(EndOf(*compaction.turn_id).reason, "completed");
  ASSERT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>(
      [n = 0](const auto&) mutable { return ++n == 4; }));
  EXPECT_TRUE(LastRequest().contains("third question")) << "no client had to send it again";
  EXPECT_TRUE(State().follow_ups.empty());
  std::vector<std::string> order;
  for (const protocol::Event& event : heard_->Events()) {
    const auto* info = std::get_if<protocol::SessionInfo>(&event.payload);
    if (info != nullptr && info->changes.effort) order.push_back(*info->changes.effort);
    const auto* said = std::get_if<protocol::UserMessage>(&event.payload);
    if (said != nullptr) order.push_back(protocol::PlainText(said->message.blocks));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"first question", "second question", "high",
                                             "third question"}));
}

TEST_F(CompactionTest, ThereMustBeSomethingToCompact) {
  Script(R"({"replies":[{"blocks":[{"text":"hi"}]}]})");
  Open(Here());
  Run("hello");
  const protocol::TurnReport done = EndOf(*Send("", "compact").turn_id);
  EXPECT_EQ(done.reason, "error");
  EXPECT_EQ(done.error, "there is too little to compact yet");
  EXPECT_FALSE(State().interrupted) << "the conversation stands where it stood";
}

TEST_F(CompactionTest, BeforeTheWindowIsFullItIsCompacted) {
  Script(ScriptOf(R"("blocks":[{"text":"So far so good."}])", Texts(12, 12'000)));
  Open(Here());
  for (int i = 0; i < 12; ++i) EXPECT_EQ(Run(fmt::format("question {}", i)).reason, "completed");
  const auto compacts = heard_->All<protocol::Compaction>();
  ASSERT_FALSE(compacts.empty());
  for (const protocol::Compaction& compact : compacts)
    EXPECT_TRUE(compact.trigger == "auto" || compact.trigger == "predictive") << compact.trigger;
  EXPECT_EQ(Compactions(), static_cast<int>(compacts.size()));
  for (const std::string& body : Requests()) EXPECT_LT(body.size(), 80'000U);
}

TEST_F(CompactionTest, AnOverflowIsRecoveredFrom) {
  Script(ScriptOf(R"("blocks":[{"text":"Much was said."}])",
                  Texts(2, 3000) + R"(,{"fault":{"kind":"status","status":400,"message":
                  "prompt is too long: 210000 tokens > 200000 maximum"}},)" +
                      Texts(1, 10)));
  Open(Here());
  Run("first question");
  Run("second question");
  const protocol::TurnReport end = Run("third question");
  EXPECT_EQ(end.reason, "completed") << end.error.value_or("");
  EXPECT_EQ(end.steps, 1);
  const auto compact = heard_->Await<protocol::Compaction>();
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->trigger, "reactive");
  EXPECT_TRUE(LastRequest().contains("Much was said."));
  EXPECT_TRUE(LastRequest().contains("third question")) << "what it works on is quoted or kept";
}

TEST_F(CompactionTest, AWindowThatIsNeverLargeEnoughEndsTheTurnWithWordsAndNoLoop) {
  Script(ScriptOf(R"("blocks":[{"text":"Much was said."}])",
                  Texts(1, 3000) +
                      R"(,{"times":0,"fault":{"kind":"status","status":400,"message":
                      "prompt is too long"}})"));
  Open(Here());
  Run("first question");
  const std::size_t before = Requests().size();
  const protocol::TurnReport end = Run("second question");
  EXPECT_EQ(end.reason, "overflow");
  EXPECT_TRUE(end.error.value_or("").contains("larger window")) << end.error.value_or("");
  EXPECT_LE(Requests().size() - before, 5U);
  EXPECT_LE(Compactions(), 2);
}

TEST_F(CompactionTest, AServerWithAMuchSmallerWindowThanItIsSaidToHaveIsNoDeadEnd) {
  more_settings_ = "contextWindow=800000\nmaxTokens=1000\n";
  Script(R"({"window":16000,"replies":[{"when":{"contains":"Sum it up for yourself"},"times":0,
    "blocks":[]},{"times":0,"blocks":[{"text":"I see."}]}]})");
  Open(Here());
  std::string paste = "the beginning of it\n";
  for (int i = 0; i < 10'000; ++i) paste += fmt::format("[{}];\n", i);
  const protocol::TurnReport end = Run(paste);
  EXPECT_EQ(end.reason, "completed") << end.error.value_or("");
  EXPECT_LE(Compactions(), 2);
  EXPECT_TRUE(LastRequest().contains("the beginning of it"));
  EXPECT_TRUE(LastRequest().contains("which Read shows"));
}

TEST_F(CompactionTest, WhateverTheSummariserDoesTheTurnGoesOn) {
  const std::string long_text = [] {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += fmt::format("Fact number {} about the work. ", i);
    return text;
  }();
  std::string again;
  for (int i = 0; i < 50; ++i) again += "I will now summarise the work.\\n";
  const std::vector<std::string> kinds = {
      R"("fault":{"kind":"status","status":400,"message":"no"})",
      R"("blocks":[])",
      R"("blocks":[{"text":"  \n "}])",
      R"("blocks":[{"text":"I cannot help with that."}],"stop":"refused")",
      fmt::format(R"("blocks":[{{"text":"{}"}}])", long_text),
      fmt::format(R"("blocks":[{{"text":"{}"}}])", again),
      R"("blocks":[{"text":"Everything is done. All tests pass. Nothing is left to do."}])",
      R"("blocks":[{"call":{"name":"Bash","args":{"command":"touch never"}}}])",
      R"("fault":{"kind":"status","status":400,"message":"prompt is too long"})",
  };
  for (const std::string& kind : kinds) {
    SCOPED_TRACE(kind.substr(0, 100));
    heard_ = std::make_unique<Heard>();
    Script(ScriptOf(kind, Texts(2, 3000) +
                              R"(,{"blocks":[{"call":{"name":"TodoWrite","args":{"todos":[
                              {"content":"mend it","status":"pending"}]}}}]})" +
                              R"(,{"blocks":[{"text":"noted"}]})" +
                              R"(,{"fault":{"kind":"status","status":400,"message":
                              "prompt is too long"}},)" +
                              Texts(2, 10)));
    Open(Here());
    Run("first question");
    Run("second question");
    Run("plan it");
    const protocol::TurnReport end = Run("the last question");
    EXPECT_EQ(end.reason, "completed") << end.error.value_or("");
    EXPECT_LE(Compactions(), 2);
    EXPECT_TRUE(LastRequest().contains("the last question"));
    EXPECT_TRUE(LastRequest().contains("mend it")) << "what is left to do is never lost";
    EXPECT_LT(LastRequest().size(), 60'000U);
    EXPECT_FALSE(Exists(project_ + "/never"));
    const auto report =
        client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Replay, session_id_);
    EXPECT_TRUE(report && report->different == 0);
  }
}

TEST_F(CompactionTest, ASummariserThatFailsThreeTimesIsNotAskedAgain) {
  std::string work;
  for (int i = 0; i < 5; ++i)
    work += Texts(1, 3000) +
            R"(,{"fault":{"kind":"status","status":400,"message":"prompt is too long"}},)" +
            Texts(1, 3000) + (i < 4 ? "," : "");
  Script(ScriptOf(R"("blocks":[])", work));
  Open(Here());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Run(fmt::format("question {}", i)).reason, "completed");
  EXPECT_EQ(Compactions(), 3);
  EXPECT_EQ(heard_->All<protocol::Compaction>().size(), 5U);
}

TEST_F(CompactionTest, ResultsOfAStepShareABudgetAndCanBeReadBack) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"seq 1 4000"}}},
               {"call":{"name":"Bash","args":{"command":"echo small"}}}]},
    {"blocks":[{"text":"seen"}]}]})");
  Open(Here());
  Run("count");
  const auto replaced = heard_->All<protocol::ContentReplacement>();
  ASSERT_EQ(replaced.size(), 1U);
  EXPECT_EQ(replaced[0].by, "result_budget");
  const std::string sent = LastRequest();
  EXPECT_TRUE(sent.contains("small"));
  EXPECT_TRUE(sent.contains("blob:" + *replaced[0].blob));
  EXPECT_LT(sent.size(), 40'000U);
  emulator_
      ->SetScript(fmt::format(
          R"({{"replies":[{{"blocks":[{{"call":{{"name":"Read","args":{{"file_path":"blob:{}",
      "offset":2000,"limit":3}}}}}}]}},{{"blocks":[{{"text":"read"}}]}}]}})",
          *replaced[0].blob))
      .value();
  Run("read it");
  EXPECT_TRUE(LastRequest().contains("  2000\\t")) << LastRequest();
}

TEST_F(CompactionTest, OldResultsGiveWayOnceAndForMuch) {
  more_settings_ = "contextWindow=60000\nmaxTokens=1000\n";
  std::string steps;
  for (int i = 0; i < 30; ++i)
    steps += fmt::format(
        R"({{"blocks":[{{"call":{{"name":"Bash","args":{{"command":"echo step {}; seq 1 1200"}}}}}}]}},)",
        i);
  Script(R"({"replies":[)" + steps + R"({"blocks":[{"text":"done"}]}]})");
  Open(Here());
  EXPECT_EQ(Run("count").reason, "completed");
  const auto replaced = heard_->All<protocol::ContentReplacement>();
  ASSERT_GT(replaced.size(), 4U);
  std::set<std::string> events;
  for (const protocol::ContentReplacement& one : replaced) {
    EXPECT_EQ(one.by, "micro_compaction");
    ASSERT_EQ(one.event_ids.size(), 1U);
    EXPECT_TRUE(events.insert(one.event_ids[0]).second) << "decided once";
  }
  EXPECT_TRUE(LastRequest().contains("step 29"));
}

TEST_F(CompactionTest, AMessageLargerThanTheWindowIsCutAndCanBeRead) {
  Script(ScriptOf(R"("blocks":[{"text":"A paste."}])", Texts(2, 10)));
  Open(Here());
  std::string paste = "the beginning of it\n";
  for (int i = 0; i < 30'000; ++i) paste += fmt::format("line {}\n", i);
  EXPECT_EQ(Run(paste).reason, "completed");
  EXPECT_TRUE(LastRequest().contains("the beginning of it"));
  EXPECT_TRUE(LastRequest().contains("line 29999"));
  EXPECT_TRUE(LastRequest().contains("which Read shows"));
  EXPECT_LT(LastRequest().size(), 60'000U);
}

TEST_F(CompactionTest, WhatTheAuxiliaryModelRemembersNeedsNoOtherCall) {
  more_settings_ +=
      "[models.small]\ntype='custom'\nid='small'\napi='anthropic-messages'\nbaseUrl='URL'\n"
      "contextWindow=50000\n[model.roles]\nauxiliary='small'\n";
  auto started = emulator::Emulator::Start(
      R"({"replies":[{"when":{"contains":"Sum it up"},"times":0,
      "blocks":[{"text":"Remembered: the words were counted."}]},
      {"when":{"model":"small"},"times":0,"blocks":[{"text":"A title"}]},)" +
      Texts(6, 4000) + "]}");
  ASSERT_TRUE(started) << started.error().Text();
  emulator_ = *std::move(started);
  const std::string url = emulator_->base_url();
  more_settings_.replace(more_settings_.find("URL"), 3, url);
  ASSERT_TRUE(ReplaceFile(roots_.settings(),
                          "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
                              url + "'\n" + more_settings_,
                          Durable::kNo));
  Open(Here());
  Run("first question");
  Run("second question");
  ASSERT_TRUE(heard_->Await<protocol::Custom>(
      [](const protocol::Custom& custom) { return custom.kind == "session_memory"; }));
  const int asked = Compactions();
  const protocol::TurnReport done = EndOf(*Send("", "compact").turn_id);
  EXPECT_EQ(done.reason, "completed") << done.error.value_or("");
  EXPECT_EQ(Compactions(), asked);
  const auto compact = heard_->Await<protocol::Compaction>();
  ASSERT_TRUE(compact);
  EXPECT_FALSE(compact->model);
  EXPECT_TRUE(compact->summary.contains("Remembered: the words were counted."));
}

TEST_F(CompactionTest, WhatIsWorkedOnIsAttachedAgain) {
  Script(ScriptOf(R"("blocks":[{"text":"Much was said."}])",
                  R"({"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}}]},
    {"blocks":[{"call":{"name":"Edit","args":{"file_path":"a.txt","old_string":"one",
      "new_string":"two"}}}]},
    {"blocks":[{"call":{"name":"TodoWrite","args":{"todos":[
      {"content":"three is next","status":"pending"}]}}}]},)" +
                      Texts(3, 4000)));
  Open(Here());
  Run("change it");
  Run("talk");
  ASSERT_TRUE(ReplaceFile(project_ + "/a.txt", "changed outside\n", Durable::kNo));
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  std::string attached;
  for (const protocol::HarnessItem& item : heard_->All<protocol::HarnessItem>()) {
    if (item.item.kind == "attachment") attached += item.item.content + "\n";
  }
  EXPECT_TRUE(attached.contains("three is next")) << attached;
  EXPECT_TRUE(attached.contains("changed outside")) << "as it is now: " << attached;
  const auto restored = heard_->Await<protocol::CapsuleRestored>();
  ASSERT_TRUE(restored);
  EXPECT_TRUE(restored->verdicts.text.contains("stale")) << restored->verdicts.text;
}

TEST_F(CompactionTest, ASmallWindowHasFewTools) {
  more_settings_ = "contextWindow=12000\nmaxTokens=500\n";
  Script(R"({"replies":[{"blocks":[{"text":"hi"}]}]})");
  Open(Here());
  Run("hello");
  const protocol::LiveState state = State();
  EXPECT_EQ(state.tools, (protocol::Texts{"Bash", "Edit", "Grep", "Read", "Write"}));
  ASSERT_EQ(state.notes.size(), 1U);
  EXPECT_TRUE(state.notes[0].contains("only 12000 tokens")) << state.notes[0];
}

TEST_F(CompactionTest, AGateHoldsTheEndUpUntilThereIsEvidence) {
  Script(R"({"replies":[{"blocks":[{"text":"Done, I say."}]},
    {"when":{"contains":"You are not done yet"},"blocks":[
      {"call":{"name":"Bash","args":{"command":"./test"}}}]},
    {"blocks":[{"text":"Now it is tested."}]},
    {"times":0,"blocks":[{"text":"I do no more."}]}]})");
  ASSERT_TRUE(ReplaceFile(project_ + "/test", "#!/bin/sh\necho fine\n", Durable::kNo, 0755));
  Open(Here());
  protocol::Mark gate;
  gate.what = "gate";
  gate.text = "finish test";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Mark, gate));
  const protocol::TurnReport end = Run("do it");
  EXPECT_EQ(end.reason, "completed") << end.error.value_or("");
  EXPECT_EQ(end.text, "Now it is tested.");
  ASSERT_TRUE(ReplaceFile(project_ + "/a.txt", "two\n", Durable::kNo));
  gate.text = "finish build";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Mark, gate));
  const protocol::TurnReport held = Run("and this");
  EXPECT_EQ(held.reason, "blocked");
  EXPECT_EQ(held.steps, 4);
  EXPECT_TRUE(held.error.value_or("").starts_with("a gate holds the work up")) << *held.error;
}

}  // namespace
}  // namespace stet::test
