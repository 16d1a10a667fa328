// A session's toolset over its life: what a model is shown of tools is the same to the byte until a
// named cause replaces it.
#include <fmt/format.h>

#include "base/text.h"
#include "client/await.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

constexpr std::string_view kTalk = R"({"replies":[{"times":0,"blocks":[{"text":"Yes."}]}]})";

class ToolsetTest : public LiveTest {
 protected:
  ToolsetTest() { more_settings_ = "contextWindow=100000\nmaxTokens=1000\n"; }

  /// As the user edits the configuration.
  void Configure(const std::string& more) {
    const std::string before = ReadFile(roots_.settings()).value_or("");
    const std::size_t end = before.find("contextWindow");
    ASSERT_NE(end, std::string::npos);
    ASSERT_TRUE(ReplaceFile(roots_.settings(), before.substr(0, end) + more, Durable::kNo));
  }

  void Install(const std::string& id, const std::vector<std::string>& tools,
               const std::string& description = "checks it") const {
    const std::string folder = roots_.config + "/extensions/" + id;
    ASSERT_TRUE(MakeDirs(folder));
    std::string manifest = "id='" + id + "'\ncommand=['bash','run.sh']\n";
    for (const std::string& tool : tools)
      manifest +=
          fmt::format("[[tools]]\nname='{}'\ndescription='{}'\nschema='{{\"type\":\"object\"}}'\n",
                      tool, description);
    ASSERT_TRUE(ReplaceFile(folder + "/extension.toml", manifest, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(folder + "/run.sh", "cat > /dev/null\n", Durable::kNo));
  }
  void Uninstall(const std::string& id) const {
    ASSERT_TRUE(RemoveTree(roots_.config + "/extensions/" + id));
  }

  [[nodiscard]] protocol::Attach Again(const std::string& session_id) const {
    protocol::Attach attach = Here();
    attach.session_id = session_id;
    return attach;
  }
  /// Closes the session that is open, and opens one as `attach` says.
  void Reopen(const protocol::Attach& attach) {
    ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
    heard_ = std::make_unique<Heard>();
    Open(attach);
  }

  /// The tool array of every request so far, as it was sent.
  [[nodiscard]] std::vector<std::string> Arrays() const {
    std::vector<std::string> arrays;
    for (const std::string& body : Requests()) arrays.emplace_back(JsonView(body)["tools"].text());
    return arrays;
  }
  /// Of the last model call for a turn.
  [[nodiscard]] protocol::Prefix LastPrefix() const {
    protocol::Prefix prefix;
    for (const protocol::ModelCall& call : heard_->All<protocol::ModelCall>()) {
      if (call.purpose == "turn" && call.prefix) prefix = *call.prefix;
    }
    return prefix;
  }
  /// The causes of the toolsets that were appended since the session was opened.
  [[nodiscard]] std::string Causes() const {
    std::string causes;
    for (const protocol::Toolset& toolset : heard_->All<protocol::Toolset>())
      causes += toolset.cause + " ";
    return causes;
  }
  /// As a version of stet would have left it that kept no toolset.
  void MakeOlder(const std::string& session_id) const {
    const std::string dir = store::SessionStore(roots_).Find(session_id).value();
    const std::string log = ReadFile(dir + "/events.jsonl").value_or("");
    std::string older;
    for (const std::string_view line : SplitLines(log)) {
      if (!line.contains(R"("type":"toolset")")) (older += line) += "\n";
    }
    ASSERT_LT(older.size(), log.size());
    ASSERT_TRUE(ReplaceFile(dir + "/events.jsonl", older, Durable::kNo));
  }
  void ExpectReplays(const std::string& session_id, std::int64_t same) const {
    const auto report =
        client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Replay, session_id);
    ASSERT_TRUE(report) << report.error().Text();
    EXPECT_EQ(report->same, same);
    EXPECT_EQ(report->different, 0);
  }
};

class ToolsetDialectTest : public ToolsetTest, public testing::WithParamInterface<const char*> {};

TEST_P(ToolsetDialectTest, TheArrayIsTheSameToTheByteWhateverIsConfiguredLaterInClonesToo) {
  Install("lint", {"Lint", "Zap"});
  Script(kTalk, GetParam());
  Open(Here());
  Run("one");
  const std::string origin = session_id_;
  const protocol::Texts tools = State().tools;

  Uninstall("lint");
  Install("other", {"Aaa", "Lint"}, "is another one");
  Configure("contextWindow=100000\nmaxTokens=1000\n[tools]\ndisabled=['Glob','WebFetch','Zap']\n");
  Reopen(Again(origin));
  EXPECT_EQ(State().tools, tools);
  Run("two");
  EXPECT_EQ(Causes(), "");

  protocol::Attach fork = Again(origin);
  fork.fork = true;
  Reopen(fork);
  const std::string copy = session_id_;
  EXPECT_NE(copy, origin);
  EXPECT_EQ(State().tools, tools);
  Run("three");
  Reopen(Again(origin));
  Run("three");
  protocol::ContextWanted wanted;
  wanted.wire = true;
  const auto context =
      client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Context, copy, wanted);
  ASSERT_TRUE(context) << context.error().Text();

  const std::vector<std::string> arrays = Arrays();
  ASSERT_EQ(arrays.size(), 4U);
  for (const char* name : {"Lint", "Zap", "Glob", "WebFetch", "Read", "Snip"})
    EXPECT_TRUE(arrays[0].contains(fmt::format("\"name\":\"{}\"", name))) << name;
  EXPECT_FALSE(arrays[0].contains("Aaa"));
  for (const std::string& array : arrays) EXPECT_EQ(array, arrays[0]);
  EXPECT_EQ(JsonView(*context->body)["tools"].text(), arrays[0]);
  EXPECT_EQ(Requests()[2], Requests()[3]) << "the clone's next request is the origin's";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  ExpectReplays(origin, 3);
  ExpectReplays(copy, 1);
}

TEST_P(ToolsetDialectTest, AnOlderLogGoesOnWithTheToolsOfItsLastRequestInClonesToo) {
  Install("lint", {"Lint"});
  Script(kTalk, GetParam());
  Open(Here());
  Run("one");
  const std::string origin = session_id_;
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  MakeOlder(origin);
  Uninstall("lint");
  Install("other", {"Aaa"});
  protocol::Attach fork = Again(origin);
  fork.fork = true;
  heard_ = std::make_unique<Heard>();
  Open(fork);
  const std::string copy = session_id_;
  Run("two");
  Reopen(Again(origin));
  Run("two");
  EXPECT_EQ(Causes(), "first ") << "from now on the log says it itself";
  Reopen(Again(origin));
  Run("three");
  EXPECT_EQ(Causes(), "");
  const std::vector<std::string> arrays = Arrays();
  ASSERT_EQ(arrays.size(), 4U);
  EXPECT_TRUE(arrays[0].contains("Lint"));
  for (const std::string& array : arrays) EXPECT_EQ(array, arrays[0]);
  EXPECT_EQ(Requests()[1], Requests()[2]);
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  ExpectReplays(origin, 3);
  ExpectReplays(copy, 1);
}

INSTANTIATE_TEST_SUITE_P(Dialects, ToolsetDialectTest,
                         testing::Values("anthropic-messages", "openai-completions",
                                         "openai-responses", "google-generative-ai"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(ToolsetTest, TheFirstToolsetIsInTheLogBeforeTheFirstRequest) {
  Script(kTalk);
  Open(Here());
  EXPECT_TRUE(heard_->All<protocol::Toolset>().empty()) << "nothing was sent yet";
  Run("one");
  Run("two");
  EXPECT_EQ(Causes(), "first ");
  std::vector<std::string> order;
  std::string toolset;
  for (const protocol::Event& event : heard_->Events()) {
    if (const auto* kept = std::get_if<protocol::Toolset>(&event.payload)) {
      order.emplace_back("toolset");
      toolset = kept->blob;
    }
    const auto* call = std::get_if<protocol::ModelCall>(&event.payload);
    if (call == nullptr || call->phase != "start") continue;
    order.emplace_back("call");
    EXPECT_EQ(call->toolset, toolset);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"toolset", "call", "call"}));
}

TEST_F(ToolsetTest, ACallOfAToolThatIsGoneOrThatCameLaterGetsAClearResult) {
  Install("lint", {"Lint"});
  Script(R"({"replies":[{"when":{"lastUser":"again"},"blocks":[
      {"call":{"name":"Lint","args":{}}},{"call":{"name":"Aaa","args":{}}},
      {"call":{"name":"Read","args":{"file_path":"a.txt"}}}]},
    {"times":0,"blocks":[{"text":"Yes."}]}]})");
  Open(Here());
  Run("one");
  Uninstall("lint");
  Install("other", {"Aaa"});
  Reopen(Again(session_id_));
  EXPECT_EQ(Run("again").reason, "completed");
  const auto results = heard_->All<protocol::ToolResult>();
  ASSERT_EQ(results.size(), 3U);
  const auto text = [&](std::size_t at) { return results[at].content.text; };
  EXPECT_TRUE(results[0].is_error);
  EXPECT_TRUE(text(0).contains("The tool Lint is not available any more")) << text(0);
  EXPECT_TRUE(results[1].is_error);
  EXPECT_TRUE(text(1).contains("There is no tool named Aaa")) << text(1);
  EXPECT_FALSE(results[2].is_error) << text(2);
}

TEST_F(ToolsetTest, WhatCameLaterJoinsBehindACompactionAndWhatIsGoneLeaves) {
  Install("lint", {"Lint"});
  Script(R"({"replies":[{"times":0,"blocks":[{"text":")" + std::string(4000, 'x') + R"("}]}]})");
  Open(Here());
  Run("one");
  Run("two");
  Uninstall("lint");
  Install("other", {"Aaa"});
  Reopen(Again(session_id_));
  Run("three");
  EXPECT_EQ(LastPrefix().cause, std::nullopt);
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  EXPECT_EQ(Causes(), "compaction ");
  Run("four");
  EXPECT_EQ(LastPrefix().cause, "compaction");
  const std::vector<std::string> arrays = Arrays();
  EXPECT_TRUE(arrays[2].contains("Lint") && !arrays[2].contains("Aaa"));
  EXPECT_TRUE(!arrays.back().contains("Lint") && arrays.back().contains("Aaa"));
  Run("five");
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
  EXPECT_EQ(Causes(), "compaction ") << "the second one has nothing to change";
}

TEST_F(ToolsetTest, OptionsReplaceItOnceAndAreTheNamedCause) {
  Script(kTalk);
  Open(Here());
  Run("one");
  protocol::Attach few = Again(session_id_);
  few.tools = protocol::Texts{"Read", "Grep"};
  Reopen(few);
  EXPECT_EQ(State().tools, (protocol::Texts{"Grep", "Read"}));
  Run("two");
  EXPECT_EQ(Causes(), "option ");
  EXPECT_EQ(LastPrefix().cause, "option");
  for (const protocol::Attach& attach : {few, Again(session_id_)}) {
    Reopen(attach);
    Run("more");
    EXPECT_EQ(Causes(), "");
    EXPECT_EQ(LastPrefix().cause, std::nullopt);
    EXPECT_EQ(Arrays().back(), Arrays()[1]);
  }
}

TEST_F(ToolsetTest, TheToolForTheAnswerComesAndGoesWithItsOption) {
  Script(R"({"replies":[{"when":{"lastUser":"answer"},"blocks":[
      {"call":{"name":"StructuredOutput","args":{"n":1}}}]},
    {"times":0,"blocks":[{"text":"Yes."}]}]})");
  Open(Here());
  Run("one");
  protocol::Attach asked = Again(session_id_);
  asked.output_schema =
      Raw{R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})"};
  Reopen(asked);
  const protocol::TurnReport report = Run("answer");
  ASSERT_TRUE(report.output);
  EXPECT_EQ(report.output->text, R"({"n":1})");
  EXPECT_EQ(Causes(), "option ");
  Reopen(Again(session_id_));
  Run("two");
  EXPECT_EQ(Causes(), "option ");
  EXPECT_EQ(LastPrefix().cause, "option");
  const std::vector<std::string> arrays = Arrays();
  EXPECT_TRUE(arrays[1].contains("StructuredOutput"));
  EXPECT_EQ(arrays.back(), arrays.front());
}

TEST_F(ToolsetTest, AWindowThatBecomesSmallReplacesItAndIsTheNamedCause) {
  Script(kTalk);
  Open(Here());
  Run("one");
  Configure("contextWindow=50000\nmaxTokens=1000\n");
  Reopen(Again(session_id_));
  Run("two");
  EXPECT_EQ(Causes(), "") << "it is still a large one";
  Configure("contextWindow=12000\nmaxTokens=1000\n");
  Reopen(Again(session_id_));
  EXPECT_EQ(State().tools, (protocol::Texts{"Bash", "Edit", "Grep", "Read", "Write"}));
  Run("three");
  EXPECT_EQ(Causes(), "window ");
  EXPECT_EQ(LastPrefix().cause, "window");
  Reopen(Again(session_id_));
  Run("four");
  EXPECT_EQ(Causes(), "");
}

TEST_F(ToolsetTest, AModelWithASmallWindowSeesFewToolsAndTheOtherOneItsOwnAgain) {
  Script(kTalk);
  std::string models = "contextWindow=100000\nmaxTokens=1000\n";
  for (const auto& [name, id, window] : {std::tuple("large", "m", 100'000), {"small", "s", 12'000}})
    models += fmt::format(
        "[models.{}]\ntype='custom'\nid='{}'\napi='anthropic-messages'\nbaseUrl='{}'\n"
        "contextWindow={}\nmaxTokens=1000\n",
        name, id, emulator_->base_url(), window);
  Configure(models);
  Open(Here());
  Run("one");
  protocol::Change change;
  change.model = "small";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Change, change));
  EXPECT_EQ(State().tools.size(), 5U);
  Run("two");
  EXPECT_EQ(LastPrefix().cause, "model");
  change.model = "large";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Change, change));
  Run("three");
  EXPECT_EQ(LastPrefix().cause, std::nullopt) << "what it read before stands as it was";
  EXPECT_EQ(Causes(), "first window window ");
  EXPECT_EQ(Arrays()[2], Arrays()[0]);
}

/// A clone has no request whose `model_call` names the blob as well.
TEST_F(ToolsetTest, TheBlobIsNoGarbageGoesAlongInAnExportAndIsVerified) {
  Script(kTalk);
  Open(Here());
  Run("one");
  protocol::Attach fork = Again(session_id_);
  fork.fork = true;
  Reopen(fork);
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  const auto sessions = host::MakeLocalSessions(roots_);
  const auto garbage = client::Await(*sessions, &client::Sessions::FindGarbage, false);
  ASSERT_TRUE(garbage);
  EXPECT_TRUE(garbage->empty());
  const std::string tar = dir_.path() + "/export.tar";
  client::ExportWanted wanted;
  wanted.session_id = session_id_;
  wanted.path = tar;
  ASSERT_TRUE(client::Await(*sessions, &client::Sessions::Export, wanted));
  const auto imported = client::Await(*sessions, &client::Sessions::Import, tar, true);
  ASSERT_TRUE(imported) << imported.error().Text();
  const auto verified = client::Await(*sessions, &client::Sessions::Verify, imported->session_id);
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->sound);
  EXPECT_EQ(verified->blobs, 1U);
  heard_ = std::make_unique<Heard>();
  Open(Again(imported->session_id));
  Run("two");
  EXPECT_EQ(Causes(), "");
  EXPECT_EQ(Arrays()[1], Arrays()[0]);
}

TEST_F(ToolsetTest, WithoutItsBlobItIsMadeAnewAndTheSessionGoesOn) {
  Script(kTalk);
  Open(Here());
  Run("one");
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  const std::string blobs = store::SessionStore(roots_).Find(session_id_).value() + "/blobs";
  const auto files = ListDir(blobs);
  ASSERT_TRUE(files && files->size() == 1U);
  ASSERT_TRUE(Remove(blobs + "/" + files->front().name));
  EXPECT_FALSE(
      client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Verify, session_id_)
          ->sound);
  heard_ = std::make_unique<Heard>();
  Open(Again(session_id_));
  EXPECT_EQ(Run("two").reason, "completed");
  EXPECT_EQ(Causes(), "damage ");
  EXPECT_EQ(Arrays()[1], Arrays()[0]);
}

}  // namespace
}  // namespace stet::test
