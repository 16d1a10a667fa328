#include "rpc/json/lines.h"

#include <gtest/gtest.h>

namespace stet::rpc {
namespace {

using std::chrono::milliseconds;

class JsonLinesTest : public testing::Test {
 protected:
  /// The last answer as text.
  JsonLines::Done Hear() {
    return [this](const Result<Raw>& said) {
      heard_.push_back(said ? said->text
                            : std::string(CodeName(said.error().code)) + ": " +
                                  said.error().message);
    };
  }
  JsonLines::Handlers Handlers() {
    return {.asked =
                [this](const Request& request) {
                  heard_.push_back("asked " + request.method);
                  line_.Reply(request.id, R"({"done":true})");
                },
            .told = [this](const Notification& one) { heard_.push_back("told " + one.method); },
            .fault =
                [this](const Fault& fault, bool too_long) {
                  heard_.push_back(too_long ? "too long" : fault.message.substr(0, 11));
                }};
  }

  Loop loop_;
  std::vector<std::string> heard_;
  std::vector<std::string> written_;
  JsonLines line_{{.max_line = 64, .max_waiting = 2}, Handlers(), [this](std::string line) {
                    written_.push_back(std::move(line));
                  }};
};

using Texts = std::vector<std::string>;

TEST_F(JsonLinesTest, BothSidesAskAndAnswerInAnyOrderAndInAnyPieces) {
  EXPECT_EQ(line_.Ask("first", Raw{"{}"}, Hear()), 1);
  EXPECT_EQ(line_.Ask("second", Raw{"[7]"}, Hear()), 2);
  EXPECT_EQ(written_, (Texts{R"({"jsonrpc":"2.0","id":1,"method":"first","params":{}})",
                             R"({"jsonrpc":"2.0","id":2,"method":"second","params":[7]})"}));
  written_.clear();
  line_.Feed(R"({"jsonrpc":"2.0","id":2,"res)");
  EXPECT_TRUE(heard_.empty());
  line_.Feed("ult\":\"b\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\"}\n \n");
  line_.Feed(R"({"jsonrpc":"2.0","method":"n"})");
  line_.Finish();
  EXPECT_EQ(heard_, (Texts{"\"b\"", "asked m", "told n"}));
  EXPECT_EQ(written_, Texts{R"({"jsonrpc":"2.0","id":"x","result":{"done":true}})"});
}

TEST_F(JsonLinesTest, WithAPrefixIdsAreStringsOfItsOwn) {
  JsonLines line({.id_prefix = "us-"}, Handlers(),
                 [this](std::string text) { written_.push_back(std::move(text)); });
  line.Ask("m", Raw{"{}"}, Hear());
  EXPECT_EQ(written_, Texts{R"({"jsonrpc":"2.0","id":"us-1","method":"m","params":{}})"});
  line.Feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n");
  EXPECT_TRUE(heard_.empty());
  line.Feed("{\"jsonrpc\":\"2.0\",\"id\":\"us-1\",\"result\":7}\n");
  EXPECT_EQ(heard_, Texts{"7"});
}

TEST_F(JsonLinesTest, AnErrorIsTheOtherSidesWordsAndASecondAnswerMeansNothing) {
  line_.Ask("m", Raw{"{}"}, Hear());
  for (int i = 0; i < 2; ++i)
    line_.Feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"not now\"}}\n");
  line_.Feed("{\"jsonrpc\":\"2.0\",\"id\":\"none\",\"result\":{}}\n");
  EXPECT_EQ(heard_, Texts{"invalid: not now"});
}

TEST_F(JsonLinesTest, ALineThatIsTooLongIsToldOnceBeforeItsEnd) {
  line_.Feed(std::string(100, 'x'));
  EXPECT_EQ(heard_, Texts{"too long"});
  line_.Feed(std::string(100, 'x'));
  line_.Feed("x\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\ngarbage\n");
  EXPECT_EQ(heard_, (Texts{"too long", "told n", "parse error"}));
  line_.Feed(std::string(100, 'x') + "\n");
  EXPECT_EQ(heard_.back(), "too long");
}

TEST_F(JsonLinesTest, ARequestThatIsTooLongIsToldByItsId) {
  std::vector<std::string> ids;
  JsonLines line({.max_line = 99},
                 {.asked = [](const Request&) {},
                  .told = [](const Notification&) {},
                  .fault = [&](const Fault& fault, bool) { ids.push_back(fault.id.text); }},
                 [](const std::string&) {});
  line.Feed(R"({"jsonrpc":"2.0","id":"p7","method":"m","params":")" + std::string(200, 'x'));
  EXPECT_EQ(ids, Texts{R"("p7")"});
  line.Feed("\"}\n" + std::string(200, 'x') + "\n");
  EXPECT_EQ(ids, (Texts{R"("p7")", "null"}));
}

TEST_F(JsonLinesTest, MoreThanMayWaitIsRefusedAndWhatIsDroppedIsNotHeard) {
  const std::int64_t first = line_.Ask("a", Raw{"{}"}, Hear());
  line_.Ask("b", Raw{"{}"}, Hear());
  EXPECT_EQ(line_.Ask("c", Raw{"{}"}, Hear()), 0);
  EXPECT_EQ(heard_.size(), 1U);
  EXPECT_EQ(written_.size(), 2U);
  EXPECT_TRUE(line_.Drop(first));
  EXPECT_FALSE(line_.Drop(first));
  line_.Feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  EXPECT_EQ(heard_.size(), 1U);
}

TEST_F(JsonLinesTest, AtItsEndWhoeverWaitsIsToldAndNothingMoreIsHeard) {
  line_.Ask("a", Raw{"{}"}, Hear());
  line_.End({Code::kUnavailable, "gone"});
  line_.Ask("b", Raw{"{}"}, Hear());
  line_.Feed("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n");
  EXPECT_EQ(heard_, (Texts{"unavailable: gone", "unavailable: gone"}));
}

TEST_F(JsonLinesTest, AWaitEndsAtItsTimeOrWhenItIsCancelled) {
  const CancelToken never;
  const Result<Raw> late =
      loop_.RunUntilDone(line_.Await(loop_, "m", Raw{"{}"}, milliseconds(1), never));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kTimeout);
  CancelSource source;
  source.Cancel();
  const Result<Raw> cancelled =
      loop_.RunUntilDone(line_.Await(loop_, "m", Raw{"{}"}, milliseconds(60'000), source.token()));
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
  EXPECT_FALSE(line_.Drop(1)) << "the answer is not waited for any longer";
}

}  // namespace
}  // namespace stet::rpc
