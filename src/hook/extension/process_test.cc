#include "hook/extension/process.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "base/environment.h"
#include "base/guard/guard_fixture.h"
#include "base/temp_dir.h"
#include "hook/process.h"
#include "json/view.h"

namespace stet::hook {
namespace {

using std::chrono::milliseconds;

/// Answers everything with what it was asked.
constexpr const char* kEcho = R"(while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"echo\":$line}}"
done)";

class ExtensionProcessTest : public testing::Test {
 protected:
  void Make(const std::string& script) {
    process_ = std::make_unique<ExtensionProcess>(
        loop_,
        ExtensionStart{
            .command = {"bash", "-c", script},
            .folder = dir_.path(),
            .environment = WithProject(Environment::OfProcess().variables(), dir_.path()),
            .timeout = milliseconds(10'000)},
        ExtensionProcess::Listener{
            .asked = [this](std::string_view method, const Raw& params) -> Result<Raw> {
              asked_.push_back(std::string(method) + " " + params.text);
              if (method == "refused") return Fail(Code::kInvalid, "no");
              return Raw{"7"};
            },
            .told = [this](const std::string& text) { told_.push_back(text); },
            .activation = [] { return Raw{R"({"protocol":1})"}; }});
  }

  Result<Raw> Ask(milliseconds timeout = milliseconds(10'000)) {
    return loop_.RunUntilDone(process_->Ask("question", Raw{R"({"a":1})"}, timeout, {}));
  }
  std::string ErrorOf(const Result<Raw>& result) {
    return result ? result->text : result.error().message;
  }

  TempDir dir_;
  Loop loop_;
  std::unique_ptr<ExtensionProcess> process_;
  std::vector<std::string> asked_;
  std::vector<std::string> told_;
};

TEST_F(ExtensionProcessTest, ARequestHasItsResult) {
  Make(kEcho);
  const Result<Raw> reply = Ask();
  ASSERT_TRUE(reply) << reply.error().Text();
  const JsonView echo = JsonView(reply->text)["echo"];
  EXPECT_EQ(echo["method"].StringOr(""), "question");
  EXPECT_EQ(echo["params"].text(), R"({"a":1})");
  EXPECT_TRUE(Ask());
  EXPECT_TRUE(told_.empty());
}

TEST_F(ExtensionProcessTest, ItMayAskBeforeItAnswers) {
  Make(R"(read -r a; read -r q
echo '{"jsonrpc":"2.0","id":"x","method":"append","params":{"kind":"k"}}'
read -r answer
echo '{"jsonrpc":"2.0","id":"y","method":"refused"}'
read -r refusal
echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":[$answer,$refusal]}")");
  EXPECT_EQ(ErrorOf(Ask()),
            R"([{"jsonrpc":"2.0","id":"x","result":7},)"
            R"({"jsonrpc":"2.0","id":"y","error":{"code":-32000,"message":"no"}}])");
  EXPECT_EQ(asked_, (std::vector<std::string>{R"(append {"kind":"k"})", "refused {}"}));
}

TEST_F(ExtensionProcessTest, ItsErrorsAreErrors) {
  Make(R"(read -r a; read -r q; echo '{"id":2,"error":{"code":1,"message":"not now"}}'; cat)");
  EXPECT_EQ(ErrorOf(Ask()), "not now");
}

/// Every way to misbehave ends the request, and is told; those that only hang at their timeout.
TEST_F(ExtensionProcessTest, WhateverItDoesARequestEnds) {
  constexpr milliseconds kShort{300};
  constexpr milliseconds kLong{60'000};
  struct Kind {
    const char* script;
    milliseconds timeout;
    const char* why;
  };
  const Kind kinds[] = {
      {"exit 3", kLong, "it ended by itself"},
      {"read -r a; read -r q; exit 0", kLong, "it ended by itself"},
      {"trap '' TERM; read -r a; sleep 1000", kShort, "it did not answer in time"},
      {"exec <&-; sleep 1000", kShort, "it did not answer in time"},
      {"read -r a; echo garbage; sleep 1000", kLong, "it wrote what is no message"},
      {"read -r a; echo '[1]'; sleep 1000", kLong, "it wrote what is no message"},
      {"read -r a; yes '{\"id\":99}'", kLong, "it floods its output"},
      {"read -r a; head -c 100000000 /dev/zero | tr '\\0' x; sleep 1000", kLong,
       "it wrote a line that is too long"},
      {"yes '{\"method\":\"append\",\"id\":1,\"params\":{\"kind\":\"k\"}}'; sleep 1000", kLong,
       "it does not read its input"},
  };
  for (const Kind& kind : kinds) {
    Make(kind.script);
    told_.clear();
    const Result<Raw> reply = Ask(kind.timeout);
    EXPECT_FALSE(reply) << kind.script;
    EXPECT_EQ(told_, std::vector<std::string>{kind.why}) << kind.script;
  }
}

TEST_F(ExtensionProcessTest, OneThatFailedIsNotStartedAgainAtOnce) {
  Make("exit 1");
  EXPECT_EQ(ErrorOf(Ask()), "it ended by itself");
  EXPECT_EQ(ErrorOf(Ask()), "it failed lately and is not started again yet");
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(ExtensionProcessTest, AProgramThatIsNotThereIsTold) {
  Make("");
  process_ = std::make_unique<ExtensionProcess>(
      loop_,
      ExtensionStart{.command = {"no-such-program"}, .folder = dir_.path(), .environment = {}},
      ExtensionProcess::Listener{
          .asked = [](std::string_view, const Raw&) -> Result<Raw> { return Raw{"null"}; },
          .told = [this](const std::string& text) { told_.push_back(text); },
          .activation = [] { return Raw{"{}"}; }});
  EXPECT_FALSE(Ask());
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("no-such-program"), std::string::npos);
}

TEST_F(ExtensionProcessTest, CancellingEndsTheRequestAndNotTheProcess) {
  Make(R"(read -r a; read -r first; read -r second; echo '{"id":3,"result":"later"}'; cat)");
  CancelSource source;
  source.Cancel();
  const Result<Raw> cancelled = loop_.RunUntilDone(
      process_->Ask("question", Raw{"{}"}, milliseconds(10'000), source.token()));
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
  EXPECT_EQ(ErrorOf(Ask()), "\"later\"");
}

TEST_F(ExtensionProcessTest, WhatItStartsEndsWithIt) {
  const std::string mark = "STET_TEST_MARK=" + dir_.path();
  Make("(" + mark + " setsid sleep 1000 &)\n" + kEcho);
  ASSERT_TRUE(Ask());
  const Deadline started = Deadline::After(std::chrono::seconds(30));
  // Looked at once more, it may be just between two programs, and have no environment.
  bool runs = false;
  while (!(runs = !ProcessesWith(mark).empty()) && !started.Passed()) ::poll(nullptr, 0, 1);
  EXPECT_TRUE(runs);
  loop_.RunUntilDone(process_->Close());
  EXPECT_EQ(AwaitNone(mark, Deadline::After(std::chrono::seconds(30))), std::vector<pid_t>());
}

TEST_F(ExtensionProcessTest, ClosingAsksItToEnd) {
  Make(std::string(kEcho) + "; echo > ended");
  ASSERT_TRUE(Ask());
  loop_.RunUntilDone(process_->Close());
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(ErrorOf(Ask()), "it has ended");
}

}  // namespace
}  // namespace stet::hook
