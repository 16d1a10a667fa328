// `stet sessions` on real session folders.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/lock.h"
#include "base/source_dir_fixture.h"
#include "json/describe.h"
#include "log/log.h"
#include "protocol/ids.h"
#include "protocol/session.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class SessionsTest : public testing::Test {
 protected:
  /// Writes a session as a host would.
  std::unique_ptr<log::Log> NewSession(const std::string& id, const std::string& title = "") {
    protocol::Header header;
    header.session_id = id;
    header.kind = "chat";
    header.meta.cwd = "/project";
    if (!title.empty()) header.meta.title = title;
    auto log = log::Log::Create(program_.SessionDir(id), header, {.device_id = "dev_test"});
    EXPECT_TRUE(log) << log.error().Text();
    return *std::move(log);
  }

  std::string Say(log::Log& log, std::string text) {
    protocol::UserMessage user;
    user.source = "user";
    user.message.blocks.push_back(protocol::TextBlock{.text = std::move(text)});
    return Add(log, user);
  }

  std::string Answer(log::Log& log, std::string text, std::vector<std::string> calls = {}) {
    protocol::AssistantMessage assistant;
    assistant.message.blocks.push_back(protocol::TextBlock{.text = std::move(text)});
    for (std::string& call : calls) {
      assistant.message.blocks.push_back(
          protocol::ToolCallBlock{.tool_call_id = std::move(call),
                                  .tool_name = "Bash",
                                  .args = Raw{R"({"command":"ls"})"}});
    }
    return Add(log, assistant);
  }

  std::string Add(log::Log& log, protocol::Payload payload) {
    std::vector<log::Draft> batch;
    batch.push_back({.payload = std::move(payload)});
    const Result<log::Appended> appended = log.Append(std::move(batch));
    EXPECT_TRUE(appended) << appended.error().Text();
    return appended ? appended->ids.front() : "";
  }

  std::vector<protocol::SessionSummary> List() {
    const Ran ran = program_.Run({"sessions", "ls", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Decode<std::vector<protocol::SessionSummary>>(ran.out).value_or(
        std::vector<protocol::SessionSummary>());
  }

  void Flip(const std::string& id, std::string_view text) {
    const std::string path = program_.SessionDir(id) + "/events.jsonl";
    std::string bytes = *ReadFile(path);
    const std::size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(path, bytes, Durable::kNo));
  }

  Program program_;
};

TEST_F(SessionsTest, AFreshHomeHasNoSessionsAndListingMakesNothing) {
  const Ran ran = program_.Run({"sessions", "ls"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("no sessions yet"), std::string::npos);
  EXPECT_EQ(program_.Run({"sessions", "ls", "--json"}).out, "[]\n");
  EXPECT_FALSE(Exists(program_.home()));
}

TEST_F(SessionsTest, SessionsAreListedNewestFirstWithTheirTitles) {
  {
    auto log = NewSession("ses_old");
    Add(*log, protocol::UserMessage{.source = "user"});
  }
  {
    auto log = NewSession("ses_new", "a title");
    Say(*log, "x");
  }
  {
    auto log = NewSession("ses_cjk");
    Say(*log, "为什么构建很慢？\nsecond line");
  }
  const std::vector<protocol::SessionSummary> rows = List();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].title, "为什么构建很慢？");
  EXPECT_EQ(rows[1].title, "a title");
  EXPECT_GE(rows[0].updated_at, rows[2].updated_at);
  EXPECT_NE(program_.Run({"sessions", "ls"}).out.find("ses_cjk"), std::string::npos);
}

TEST_F(SessionsTest, AStaleOrMissingSummaryIsMadeFromTheLog) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "hello");
  }
  ASSERT_TRUE(ReplaceFile(program_.SessionDir("ses_a") + "/summary.json", "{\"title\":\"stale\"}",
                          Durable::kNo));
  EXPECT_EQ(List().front().title, "hello");
  ASSERT_TRUE(Remove(program_.SessionDir("ses_a") + "/summary.json"));
  EXPECT_EQ(List().front().title, "hello");
}

TEST_F(SessionsTest, ATranscriptShowsWhoSaidWhatAndTamesEscapeSequences) {
  std::string id;
  {
    auto log = NewSession("ses_a");
    Say(*log, "list the files\x1b[2J");
    Answer(*log, "I will look.", {"call_1"});
    protocol::ToolResult result;
    result.tool_call_id = "call_1";
    result.content = Raw{R"("a.cc\nb.cc")"};
    Add(*log, result);
    id = Answer(*log, "Two files.");
  }
  const Ran ran = program_.Run({"sessions", "show", "ses_a"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  for (const std::string_view part :
       {"list the files", "I will look.", "-> Bash", "a.cc\nb.cc", "Two files."}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
  const Ran json =
      program_.Run({"sessions", "show", "a", "--json"});  // A beginning of the id will do.
  EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 5);
  EXPECT_TRUE(protocol::DecodeEvent(json.out.substr(0, json.out.find('\n'))));
}

TEST_F(SessionsTest, RewindAndBranchMoveTheLeafAndTheTreeShowsBoth) {
  std::string first;
  std::string second;
  {
    auto log = NewSession("ses_a");
    first = Say(*log, "one");
    second = Answer(*log, "two");
  }
  EXPECT_EQ(program_.Run({"sessions", "rewind", "ses_a", first, "--expect", "e_other"}).exit_code,
            1);
  EXPECT_EQ(program_.Run({"sessions", "rewind", "ses_a", first}).exit_code, 0);
  std::string other;
  {
    auto log = log::Log::Open(program_.SessionDir("ses_a"), {.mode = log::Mode::kWrite});
    other = Answer(**log, "another answer");
  }
  const Result<protocol::SessionTree> tree =
      Decode<protocol::SessionTree>(program_.Run({"sessions", "tree", "ses_a", "--json"}).out);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->leaf_id, other);
  EXPECT_EQ(tree->nodes.size(), 3u);
  const Ran drawn = program_.Run({"sessions", "tree", "ses_a"});
  EXPECT_NE(drawn.out.find("├─ · " + second), std::string::npos) << drawn.out;
  EXPECT_NE(drawn.out.find("└─ ● " + other), std::string::npos) << drawn.out;
  EXPECT_EQ(program_.Run({"sessions", "branch", "ses_a", second}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "branch", "ses_a", first}).exit_code, 1) << "not a leaf";
  EXPECT_EQ(program_.Run({"sessions", "rewind", "ses_a", "--to-start"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "show", "ses_a"}).out, "");
}

TEST_F(SessionsTest, TheRawViewHasAllThatAppliesWhereverItStands) {
  std::string first;
  {
    auto log = NewSession("ses_a", "\u202Egnp.exe");
    first = Say(*log, "one");
    Answer(*log, "two");
    protocol::Permission permission;
    permission.request_id = "req_1";
    permission.tool_call_id = "call_1";
    permission.phase = "asked";
    Add(*log, permission);
    Add(*log, protocol::Custom{.kind = "along the way"});
  }
  const auto types = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sessions", "show", "ses_a", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = program_.Run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::string found;
    for (std::size_t at = ran.out.find("\"type\":\""); at != std::string::npos;
         at = ran.out.find("\n{", at), at = ran.out.find("\"type\":\"", at)) {
      const std::size_t begin = at + 8;
      found += ran.out.substr(begin, ran.out.find('"', begin) - begin) + " ";
      if (ran.out.find("\n{", at) == std::string::npos) break;
    }
    return found;
  };
  EXPECT_EQ(types({}), "opened message message permission custom ");
  EXPECT_EQ(types({"--at", first}), "opened message permission ");
  EXPECT_EQ(program_.Run({"sessions", "ls"}).out.find("\u202E"), std::string::npos);
}

TEST_F(SessionsTest, ACloneIsASessionOfItsOwn) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "one");
  }
  const Ran ran = program_.Run({"sessions", "clone", "ses_a"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::string copy = ran.out.substr(0, ran.out.size() - 1);
  EXPECT_TRUE(protocol::IsSessionId(copy));
  EXPECT_EQ(List().size(), 2u);
  EXPECT_EQ(program_.Run({"sessions", "verify", copy}).exit_code, 0);
}

TEST_F(SessionsTest, AnExportedSessionComesBackWhole) {
  std::string blob;
  {
    auto log = NewSession("ses_a");
    Say(*log, "one");
    Answer(*log, "", {"call_1"});
    blob = *log->blobs().Put("bytes \xff that are not UTF-8");
    protocol::ToolResult result;
    result.tool_call_id = "call_1";
    result.blobs = {blob};
    Add(*log, result);
  }
  const std::string before = *ReadFile(program_.SessionDir("ses_a") + "/events.jsonl");
  const std::string tar = program_.work() + "/a b.tar";
  ASSERT_EQ(program_.Run({"sessions", "export", "ses_a", "-o", tar}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "export", "ses_a", "-o", tar}).exit_code, 1)
      << "an existing file is not overwritten";
  EXPECT_EQ(program_.Run({"sessions", "import", tar}).exit_code, 1) << "the id is taken";
  ASSERT_EQ(program_.Run({"sessions", "rm", "ses_a", "--yes"}).exit_code, 0);
  const Ran imported = program_.Run({"sessions", "import", tar});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.out, "ses_a\n");
  EXPECT_EQ(*ReadFile(program_.SessionDir("ses_a") + "/events.jsonl"), before);
  EXPECT_EQ(*ReadFile(program_.SessionDir("ses_a") + "/blobs/" + blob),
            "bytes \xff that are not UTF-8");
  EXPECT_EQ(program_.Run({"sessions", "verify", "ses_a"}).exit_code, 0);
  EXPECT_TRUE(ListDir(program_.home() + "/sessions")->size() == 1) << "nothing temporary stays";
}

TEST_F(SessionsTest, TheLogAloneCanBeExportedAndImportedUnderANewId) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "one");
  }
  const Ran exported = program_.Run({"sessions", "export", "ses_a", "--jsonl", "-o", "-"});
  ASSERT_EQ(exported.exit_code, 0);
  EXPECT_EQ(exported.out, *ReadFile(program_.SessionDir("ses_a") + "/events.jsonl"));
  const Ran imported = program_.Run({"sessions", "import", "-", "--new-id"}, exported.out);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string id = imported.out.substr(0, imported.out.size() - 1);
  EXPECT_EQ(program_.Run({"sessions", "verify", id}).exit_code, 0);
  auto log = log::Log::Open(program_.SessionDir(id), {});
  EXPECT_EQ((*log)->header().session_id, id);
  EXPECT_EQ((*log)->header().cloned_from->session_id, "ses_a");
}

TEST_F(SessionsTest, WhatIsNoSessionIsNotImported) {
  const std::string path = program_.work() + "/x";
  for (const std::string& content :
       {std::string("{\"hello\":1}\n"), std::string("not a tar at all"), std::string()}) {
    ASSERT_TRUE(ReplaceFile(path, content, Durable::kNo));
    const Ran ran = program_.Run({"sessions", "import", path});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err, "");
  }
  EXPECT_EQ(program_.Run({"sessions", "import", program_.work()}).exit_code, 1);
  EXPECT_EQ(program_.Run({"sessions", "import", "/nowhere"}).exit_code, 1);
  EXPECT_EQ(List().size(), 0u);
}

TEST_F(SessionsTest, DamageIsNamedWithItsLineAndRepaired) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "first");
    Say(*log, "second");
    Say(*log, "third");
  }
  Flip("ses_a", "second");
  const Ran verified = program_.Run({"sessions", "verify", "ses_a"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_NE(verified.out.find("line 4"), std::string::npos) << verified.out;
  EXPECT_NE(program_.Run({"sessions", "show", "ses_a"}).out.find("third"), std::string::npos)
      << "the rest stays readable";
  EXPECT_EQ(program_.Run({"sessions", "repair", "ses_a"}).exit_code, 1)
      << "no user was there to agree";
  EXPECT_EQ(program_.Run({"sessions", "repair", "ses_a", "--yes"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "verify", "ses_a"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "verify", "--all"}).exit_code, 0);
}

TEST_F(SessionsTest, ARemovedSessionComesBackFromTheTrash) {
  {
    auto log = NewSession("ses_a", "precious");
    Say(*log, "one");
  }
  EXPECT_EQ(program_.Run({"sessions", "rm", "ses_a"}).exit_code, 1) << "no user was there to agree";
  EXPECT_EQ(List().size(), 1u);
  const Ran removed = program_.Run({"sessions", "rm", "ses_a", "--yes"});
  EXPECT_EQ(removed.exit_code, 0);
  EXPECT_NE(removed.err.find("stet sessions restore ses_a"), std::string::npos)
      << "says how to undo it";
  EXPECT_EQ(List().size(), 0u);
  EXPECT_NE(program_.Run({"sessions", "restore"}).out.find("precious"), std::string::npos);
  EXPECT_EQ(program_.Run({"sessions", "restore", "ses_a"}).exit_code, 0);
  EXPECT_EQ(List().size(), 1u);
  EXPECT_EQ(program_.Run({"sessions", "restore", "ses_a"}).exit_code, 1);
}

TEST_F(SessionsTest, ASessionThatIsBeingWrittenIsNotTakenAway) {
  auto log = NewSession("ses_a");
  Say(*log, "one");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sessions", "rm", "ses_a", "--yes"},
        std::vector<std::string>{"sessions", "rewind", "ses_a", "--to-start"}}) {
    const Ran ran = program_.Run(command);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find(std::to_string(::getpid())), std::string::npos) << ran.err;
  }
  EXPECT_EQ(program_.Run({"sessions", "show", "ses_a"}).exit_code, 0) << "reading needs no lock";
}

TEST_F(SessionsTest, GarbageIsShownAndDeletedOnlyWhenToldTo) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "one");
    ASSERT_TRUE(log->blobs().Put("nobody names this"));
  }
  const Ran shown = program_.Run({"sessions", "gc"});
  EXPECT_NE(shown.out.find("blob"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.exit_code, 1) << "nothing was deleted";
  EXPECT_NE(shown.err.find("Add --yes"), std::string::npos) << shown.err;
  EXPECT_EQ(program_.Run({"sessions", "gc", "--json"}).exit_code, 0) << "it only looks";
  EXPECT_EQ(ListDir(program_.SessionDir("ses_a") + "/blobs")->size(), 1u);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--yes"}).exit_code, 0);
  EXPECT_EQ(ListDir(program_.SessionDir("ses_a") + "/blobs")->size(), 0u);
  ASSERT_EQ(program_.Run({"sessions", "rm", "ses_a", "--yes"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--yes"}).exit_code, 0);
  EXPECT_EQ(ListDir(program_.home() + "/trash")->size(), 1u) << "the trash stays unless asked for";
  EXPECT_EQ(program_.Run({"sessions", "gc", "--trash"}).exit_code, 1);
  EXPECT_EQ(ListDir(program_.home() + "/trash")->size(), 1u);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--trash", "--yes"}).exit_code, 0);
  EXPECT_EQ(ListDir(program_.home() + "/trash")->size(), 0u);
}

TEST_F(SessionsTest, DiskUseAddsUp) {
  {
    auto log = NewSession("ses_a");
    Say(*log, "one");
  }
  const Result<protocol::DiskUseReport> report =
      Decode<protocol::DiskUseReport>(program_.Run({"sessions", "du", "--json"}).out);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->sessions.size(), 1u);
  EXPECT_EQ(report->total_bytes, report->sessions.front().total_bytes + report->trash_bytes);
  EXPECT_NE(program_.Run({"sessions", "du"}).out.find("total"), std::string::npos);
}

TEST_F(SessionsTest, WrongNamesAndWrongUsageSayWhatToDo) {
  {
    auto log = NewSession("ses_aa");
  }
  {
    auto log = NewSession("ses_ab");
  }
  const Ran unknown = program_.Run({"sessions", "show", "zzz"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("stet sessions ls"), std::string::npos) << unknown.err;
  const Ran ambiguous = program_.Run({"sessions", "show", "ses_a"});
  EXPECT_EQ(ambiguous.exit_code, 1);
  EXPECT_NE(ambiguous.err.find("ses_aa, ses_ab"), std::string::npos) << ambiguous.err;
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"sessions"}, std::vector<std::string>{"sessions", "dance"},
        std::vector<std::string>{"sessions", "show"}, std::vector<std::string>{"--what"},
        std::vector<std::string>{"sessions", "rewind", "ses_aa"},
        std::vector<std::string>{"sessions", "show", "ses_aa", "extra"},
        std::vector<std::string>{"sessions", "verify"}}) {
    const Ran ran = program_.Run(wrong);
    EXPECT_EQ(ran.exit_code, 2) << wrong.back();
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err, "");
  }
  EXPECT_EQ(program_.Run({"sessions", "show", "../ses_aa"}).exit_code, 1);
}

TEST_F(SessionsTest, HelpAndVersionAnswerOnStdout) {
  EXPECT_NE(program_.Run({"--help"}).out.find("sessions"), std::string::npos);
  EXPECT_NE(program_.Run({"sessions", "export", "--help"}).out.find("--jsonl"), std::string::npos);
  EXPECT_TRUE(program_.Run({"--version"}).out.starts_with("stet "));
}

TEST_F(SessionsTest, TheExampleOfTheReadmeWorks) {
  const Ran imported =
      program_.Run({"sessions", "import", SourceDir() + "/doc/example/slow-build.jsonl"});
  EXPECT_EQ(imported.out, "ses_5low8ui1dexamp1e\n") << imported.err;
  EXPECT_EQ(program_.Run({"sessions", "branch", "ses_5", "e_bhw1g5zn9nhywqgx"}).exit_code, 0);
  const Ran verified = program_.Run({"sessions", "verify", "ses_5"});
  EXPECT_NE(verified.out.find("sound: 13 events"), std::string::npos) << verified.out;
}

TEST_F(SessionsTest, AFolderThatIsNoSessionIsToldNotHidden) {
  ASSERT_TRUE(MakeDirs(program_.SessionDir("ses_odd") + "/events.jsonl"));
  ASSERT_TRUE(MakeDirs(program_.SessionDir("ses_void")));
  EXPECT_EQ(List().size(), 1u);
  EXPECT_NE(program_.Run({"sessions", "verify", "ses_odd"}).err.find("directory"),
            std::string::npos);
  EXPECT_EQ(program_.Run({"sessions", "verify", "ses_void"}).exit_code, 1);
  EXPECT_EQ(program_.Run({"sessions", "show", "ses_void"}).exit_code, 1);
}

}  // namespace
}  // namespace stet::scenario
