// `stet attach`: what was seen the last time is there at once, and what the host says takes over.
#include <csignal>

#include "json/view.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

class AttachTest : public InteractiveTest {
 protected:
  /// A host in the background, and a session in which one question was answered.
  void SetUp() override {
    ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
    const std::string status = program_.Run({"host", "status", "--json"}).out;
    host_ = static_cast<pid_t>(JsonView(status)["status"]["pid"].IntOr(0));
    ASSERT_GT(host_, 0);
    ASSERT_EQ(program_.Run({"-p", "--host", "list *.md"}).exit_code, 0);
    const std::string list = program_.Run({"sessions", "ls", "--json"}).out;
    JsonView(list).ForEach([&](const JsonView& row) { id_ = row["sessionId"].StringOr(""); });
    ASSERT_FALSE(id_.empty()) << list;
  }
  void TearDown() override {
    ::kill(host_, SIGCONT);
    program_.Run({"host", "stop"});
  }

  void Visit() {
    const auto pty = Ready({"attach"});
    EXPECT_TRUE(pty->Shows("✓ Glob *.md"));
    Quit(*pty);
  }
  [[nodiscard]] std::string KeptFile() const {
    const std::string folder = program_.home() + "/transcripts";
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    return entries && entries->size() == 1 ? folder + "/" + entries->at(0).name : "";
  }
  static std::size_t Count(const std::string& text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++count;
    return count;
  }

  pid_t host_ = 0;
  std::string id_;
};

TEST_F(AttachTest, ShowsTheTranscriptWhileTheHostIsHeldUpAndThenGoesOn) {
  Visit();
  ASSERT_EQ(program_.Run({"-p", "-r", id_, "list *.txt"}).exit_code, 0);
  ASSERT_EQ(::kill(host_, SIGSTOP), 0);
  const auto pty = Start({"attach"});
  EXPECT_TRUE(pty->Shows("✓ Glob *.md"));
  EXPECT_TRUE(pty->Shows("waiting for the host"));
  EXPECT_EQ(Count(pty->screen().Text(), "Glob *.txt"), 0u);
  pty->Type("list *.rs\r");
  ASSERT_EQ(::kill(host_, SIGCONT), 0);
  EXPECT_TRUE(pty->Shows("✓ Glob *.txt"));
  EXPECT_TRUE(pty->Shows("Glob *.rs")) << "what was typed meanwhile is not lost";
  EXPECT_EQ(Count(pty->screen().Text(), "Glob *.md"), 1u) << pty->screen().Text();
  EXPECT_EQ(Count(pty->screen().Text(), "Glob *.txt"), 1u) << pty->screen().Text();
  Quit(*pty);
}

TEST_F(AttachTest, AUserWhoDoesNotWantToWaitLeaves) {
  Visit();
  ASSERT_EQ(::kill(host_, SIGSTOP), 0);
  const auto pty = Start({"attach", id_});
  EXPECT_TRUE(pty->Shows("waiting for the host"));
  pty->Type("\x03");
  EXPECT_EQ(pty->Exit(), 130) << pty->screen().Text();
}

TEST_F(AttachTest, ARewindMeanwhileIsSaid) {
  Visit();
  ASSERT_EQ(program_.Run({"sessions", "rewind", id_, "--to-start"}).exit_code, 0);
  ASSERT_EQ(program_.Run({"-p", "-r", id_, "list *.txt"}).exit_code, 0);
  const auto pty = Ready({"attach"});
  EXPECT_TRUE(pty->Shows("was moved to another place since"));
  EXPECT_TRUE(pty->Shows("✓ Glob *.txt"));
  Quit(*pty);
  const auto again = Ready({"attach"});
  EXPECT_TRUE(again->Shows("✓ Glob *.txt"));
  EXPECT_EQ(Count(again->screen().Text(), "moved to another place"), 0u)
      << "it is kept as it is now";
  EXPECT_EQ(Count(again->screen().Text(), "Glob *.md"), 0u);
  Quit(*again);
}

TEST_F(AttachTest, WhatOneTerminalChangesTheOtherSays) {
  const auto one = Ready({"attach", id_});
  const auto other = Ready({"attach", id_});
  other->Type("/mode acceptEdits\r");
  EXPECT_TRUE(one->Shows("mode: acceptEdits"));
  EXPECT_TRUE(other->Shows("mode: acceptEdits"));
  other->Type("/mode\r");
  EXPECT_TRUE(other->Shows("mode: acceptEdits; one of"));
  EXPECT_EQ(Count(other->screen().Text(), "mode: acceptEdits"), 2u) << other->screen().Text();
  one->Type("/mode\r");
  EXPECT_TRUE(one->Shows("mode: acceptEdits; one of")) << "it knows without asking";
  Quit(*other);
  Quit(*one);
}

TEST_F(AttachTest, WhatWasAskedBeforeIsPutAndAnsweredOnce) {
  const auto one = Ready({"attach", id_});
  one->Type("write a.txt: one\r");
  EXPECT_TRUE(one->Shows("? Write"));
  const auto other = Start({"attach", id_});
  EXPECT_TRUE(other->Shows("? Write"));
  EXPECT_TRUE(other->Shows("y once"));
  other->Type("y");
  EXPECT_TRUE(other->Shows("✓ Write a.txt"));
  EXPECT_TRUE(one->Shows("answered by"));
  EXPECT_TRUE(one->Shows("✓ Write a.txt"));
  EXPECT_TRUE(one->Rests(1));
  EXPECT_TRUE(one->CursorRowIs(">", 2));
  EXPECT_EQ(Count(one->screen().Text(), "y once"), 0u) << one->screen().Text();
  EXPECT_EQ(Count(other->screen().Text(), "answered by"), 0u) << other->screen().Text();
  Quit(*other);
  Quit(*one);
}

TEST_F(AttachTest, APrintThatIsInterruptedBehindAnothersTurnLeavesThatAlone) {
  const auto one = Ready({"attach", id_});
  one->Type("write a.txt: one\r");
  EXPECT_TRUE(one->Shows("y once"));
  SpawnOptions options = program_.Options({"-p", "--host", "-r", id_, "from p"});
  options.cwd = program_.work();
  Subprocess print = Subprocess::Start(std::move(options)).value();
  // It is queued once the log has it.
  const Deadline deadline = Deadline::After(std::chrono::seconds(30));
  const std::string log = program_.SessionDir(id_) + "/events.jsonl";
  while (!ReadFile(log).value_or("").contains("from p") && !deadline.Passed()) {
  }
  print.Kill(SIGINT);
  while (!print.Reap() && !deadline.Passed()) {
  }
  EXPECT_EQ(print.TakeFinished().exit_code, 130);
  EXPECT_TRUE(one->Shows("y once")) << "the question is still there";
  one->Type("y");
  EXPECT_TRUE(one->Shows("✓ Write a.txt"));
  EXPECT_TRUE(one->Rests(1));
  EXPECT_FALSE(one->screen().Text().contains("> from p")) << one->screen().Text();
  Quit(*one);
}

TEST_F(AttachTest, ADamagedFileIsAsNone) {
  Visit();
  ASSERT_FALSE(KeptFile().empty());
  ASSERT_TRUE(ReplaceFile(KeptFile(), "\xff{]", Durable::kNo));
  Visit();
  EXPECT_NE(ReadFile(KeptFile()).value_or("").find("list *.md"), std::string::npos)
      << "and is written anew";
}

TEST_F(AttachTest, NothingIsKeptOfASessionThatWasRemoved) {
  Visit();
  ASSERT_FALSE(KeptFile().empty());
  EXPECT_EQ(StatFile(KeptFile())->mode, 0600U);
  ASSERT_EQ(program_.Run({"sessions", "rm", id_, "--yes"}).exit_code, 0);
  EXPECT_EQ(KeptFile(), "");
}

TEST_F(AttachTest, WhatTheHostDidForASessionHasALogOfItsOwn) {
  Visit();
  const Ran logs = program_.Run({"host", "logs", "--session", id_});
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  for (const char* line : {"opened epoch=", "turn ended turn=", "reason=completed",
                           "subscribed client=", "request method=session.send"})
    EXPECT_NE(logs.out.find(line), std::string::npos) << line << "\n" << logs.out;
  EXPECT_EQ(logs.out.find("list *.md"), std::string::npos) << "not what was said";
  const Ran none = program_.Run({"host", "logs", "--session", "nosuch"});
  EXPECT_EQ(none.exit_code, 1) << none.out;
}

}  // namespace
}  // namespace stet::scenario
