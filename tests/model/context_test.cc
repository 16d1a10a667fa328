// What is said about the next request, over the emulator.
#include "client/await.h"
#include "json/view.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

class ContextTest : public LiveTest {
 protected:
  ContextTest() { more_settings_ = "contextWindow=100000\nmaxTokens=1000\n"; }

  void Talk() {
    Script(R"({"cache":{},"replies":[{"times":0,"blocks":[{"text":"Yes."}]}]})");
    Open(Here());
    Run("the first question " + std::string(4000, 'x'));
    Run("the second question " + std::string(4000, 'y'));
    Run("the third question " + std::string(4000, 'z'));
  }
  protocol::ContextReport Report(const protocol::ContextWanted& wanted = {}) {
    const auto report = client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Context,
                                      session_id_, wanted);
    EXPECT_TRUE(report) << report.error().Text();
    return report.value_or(protocol::ContextReport());
  }
};

TEST_F(ContextTest, ItIsEstimatedByWhatWasReportedAndBeginsWithTheLastRequest) {
  Talk();
  const protocol::ContextReport report = Report();
  EXPECT_EQ(report.context_window, 100'000);
  EXPECT_EQ(report.threshold, 80'000);
  ASSERT_TRUE(report.last_tokens);
  EXPECT_GT(report.tokens, *report.last_tokens) << "an answer came since";
  ASSERT_TRUE(report.error_permille);
  EXPECT_LT(*report.error_permille, 200);
  EXPECT_EQ(report.same_bytes, report.last_bytes);
  EXPECT_EQ(report.cause, std::nullopt);
  ASSERT_TRUE(report.cached);
  EXPECT_GT(*report.cached, 0);
  std::int64_t users = 0;
  for (const protocol::ContextPart& part : report.parts) {
    EXPECT_GT(part.tokens, 0) << part.name;
    if (part.name == "user") users = part.count;
  }
  EXPECT_EQ(users, 3);
}

TEST_F(ContextTest, ABreakHasItsPlaceAndItsCause) {
  Talk();
  protocol::Mark mark;
  mark.what = "snip";
  mark.id = "2";
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Mark, mark));
  const protocol::ContextReport report = Report();
  EXPECT_EQ(report.cause, "snip");
  EXPECT_LT(report.same_bytes, report.last_bytes);
  EXPECT_LT(report.tokens, *report.last_tokens);
}

TEST_F(ContextTest, TheServerCountsWhenItIsAsked) {
  Talk();
  protocol::ContextWanted wanted;
  wanted.count = true;
  const std::size_t before = Requests().size();
  const protocol::ContextReport report = Report(wanted);
  ASSERT_TRUE(report.counted);
  EXPECT_NEAR(static_cast<double>(report.tokens), static_cast<double>(*report.counted),
              static_cast<double>(*report.counted) * 0.1);
  EXPECT_EQ(Requests().size(), before) << "a count is no model request";
}

TEST_F(ContextTest, TheRequestItselfIsGivenAsItWouldBeSent) {
  Talk();
  protocol::ContextWanted wanted;
  wanted.wire = true;
  const protocol::ContextReport report = Report(wanted);
  ASSERT_TRUE(report.body);
  EXPECT_EQ(static_cast<std::int64_t>(report.body->size()), report.bytes);
  EXPECT_TRUE(report.body->contains("the third question"));
  std::size_t messages = 0;
  JsonView(*report.body)["messages"].ForEach([&](JsonView) { ++messages; });
  EXPECT_EQ(messages, 6U);
  EXPECT_FALSE(Report().body);
}

}  // namespace
}  // namespace stet::test
