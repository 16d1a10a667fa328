// What is made of a log can be thrown away: it is made again, and is the same.
#include "client/await.h"
#include "tests/model/live_fixture.h"
#include "tests/model/projection_fixture.h"

namespace stet::test {
namespace {

class ProjectionTest : public LiveTest {
 protected:
  [[nodiscard]] log::Paths PathsOf() const {
    return {store::SessionStore(roots_).Find(session_id_).value()};
  }
  /// As a reader that opens the session now sees it.
  std::string Seen() {
    const Result<std::unique_ptr<log::Log>> log = log::Log::Open(PathsOf().dir, {});
    EXPECT_TRUE(log) << log.error().Text();
    return log ? Projections().Of(**log) : "";
  }
  std::string Listed() {
    const auto listed =
        client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::List, false);
    EXPECT_TRUE(listed && listed->size() == 1);
    return listed ? Encode(*listed) : "";
  }
  void Again() {
    protocol::Attach again = Here();
    again.session_id = session_id_;
    Open(again);
  }
  /// A session with something of everything, and closed.
  void Fill() {
    Script(R"({"replies":[
      {"when":{"contains":"Sum it up for yourself"},"times":0,"blocks":[{"text":"They talk."}]},
      {"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}}]},
      {"blocks":[{"call":{"name":"Edit","args":{"file_path":"a.txt","old_string":"one",
        "new_string":"two"}}},{"call":{"name":"Bash","args":{"command":"seq 1 900"}}}]},
      {"times":0,"blocks":[{"text":"Yes."}]}]})");
    Open(Here());
    Run("the first question");
    protocol::Mark pin;
    pin.what = "pin";
    pin.text = "one rule";
    EXPECT_TRUE(client::Await(*session_, &client::LiveSession::Mark, pin));
    EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "completed");
    Run("the second question");
    const std::string before = State().leaf_id.value();
    Run("a question to be taken back");
    ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Rewind, before));
    Run("the third question");
    session_.reset();
  }
};

TEST_F(ProjectionTest, WithoutIndexAndSummaryASessionIsWhatItWas) {
  Fill();
  const std::string seen = Seen();
  const std::string listed = Listed();
  EXPECT_TRUE(seen.contains("the third question"));
  EXPECT_TRUE(seen.contains("They talk."));
  EXPECT_TRUE(seen.contains("one rule"));
  ASSERT_TRUE(Remove(PathsOf().index()));
  ASSERT_TRUE(Remove(PathsOf().summary()));
  EXPECT_EQ(Seen(), seen);
  EXPECT_EQ(Listed(), listed);
  EXPECT_FALSE(Exists(PathsOf().index())) << "who reads leaves nothing";
  Again();
  const std::string report = Encode(*client::Await(*session_, &client::LiveSession::Run));
  EXPECT_TRUE(seen.contains(report)) << report;
  EXPECT_EQ(Run("the fourth question").reason, "completed");
  session_.reset();
  EXPECT_TRUE(Exists(PathsOf().index()));
  EXPECT_TRUE(Exists(PathsOf().summary()));
  EXPECT_TRUE(Seen().contains("the fourth question"));
}

TEST_F(ProjectionTest, AnIndexThatLiesAboutTheLogIsNotBelieved) {
  Fill();
  const std::string seen = Seen();
  const std::string listed = Listed();
  ASSERT_TRUE(ReplaceFile(PathsOf().index(), std::string(4000, 'x'), Durable::kNo));
  ASSERT_TRUE(ReplaceFile(PathsOf().summary(), "{}", Durable::kNo));
  EXPECT_EQ(Seen(), seen);
  EXPECT_EQ(Listed(), listed);
}

}  // namespace
}  // namespace stet::test
