#include "agent/session_tools.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"
#include "tool/named_tool.h"

namespace stet::agent {
namespace {

constexpr std::int64_t kLarge = 200'000;
constexpr std::int64_t kSmall = 8'000;

class SessionToolsTest : public log::LogTest {
 protected:
  SessionToolsTest() : log_(Create()) {}

  /// Those of a lane that opens the session now, with these tools.
  SessionTools Opened(const std::vector<std::string>& names, std::int64_t window = kLarge,
                      tool::Selection selection = {}) {
    SessionTools tools(std::move(selection));
    const auto last = log::FindLastToolset(*log_);
    EXPECT_TRUE(last);
    tools.Remember(*last);
    tool::ToolSource source{.name = "stet", .trimmed = true};
    for (const std::string& name : names)
      source.tools.push_back(std::make_unique<tool::NamedTool>(name));
    EXPECT_TRUE(tools.box().Add(std::move(source)));
    tools.Open(*log_, *last, window);
    return tools;
  }

  /// Gives the cause of what had to be appended; empty when the log has it already.
  std::string Keep(SessionTools& tools) {
    const Result<std::optional<protocol::Toolset>> event = tools.Unkept(*log_);
    EXPECT_TRUE(event);
    if (!*event) return "";
    Append(*log_, {.payload = **event});
    tools.SetKept();
    EXPECT_EQ(log_->blobs().Get(tools.blob()).value_or(""),
              tool::EncodeToolSpecs(tools.toolset().specs()));
    return (*event)->cause;
  }

  static std::string Names(const SessionTools& tools) {
    std::string names;
    for (const std::string_view name : tools.toolset().names()) (names += name) += ' ';
    return names;
  }

  std::unique_ptr<log::Log> log_;
};

TEST_F(SessionToolsTest, TheFirstToolsetIsAppendedOnceAndTakenUpAtEveryOpening) {
  SessionTools first = Opened({"Read", "Bash"});
  EXPECT_EQ(Keep(first), "first");
  EXPECT_EQ(Keep(first), "");
  SessionTools later = Opened({"Zip", "Read", "Add"});
  EXPECT_EQ(Names(later), "Bash Read ") << "whatever there is now";
  EXPECT_EQ(later.blob(), first.blob());
  EXPECT_EQ(Keep(later), "");
  EXPECT_EQ(later.Check("Bash", Raw{"{}"}).error().code, Code::kUnavailable);
  EXPECT_EQ(later.Check("Zip", Raw{"{}"}).error().code, Code::kNotFound);
  EXPECT_TRUE(later.Check("Read", Raw{"{}"}));
}

TEST_F(SessionToolsTest, BehindACompactionThePoolJoinsAndWhatIsGoneLeaves) {
  SessionTools first = Opened({"Read", "Bash"});
  Keep(first);
  first.Renew();
  EXPECT_EQ(Keep(first), "") << "nothing came and nothing went";
  SessionTools later = Opened({"Read", "Zip"});
  later.Renew();
  EXPECT_EQ(Names(later), "Read Zip ");
  EXPECT_EQ(Keep(later), "compaction");
}

TEST_F(SessionToolsTest, AnOptionThatAsksForOthersReplacesIt) {
  SessionTools first = Opened({"Read", "Bash"});
  Keep(first);
  SessionTools later = Opened({"Read", "Bash"}, kLarge, {.only = {{"Read"}}});
  EXPECT_EQ(Names(later), "Read ");
  EXPECT_EQ(Keep(later), "option");
  SessionTools without = Opened({"Read", "Bash"});
  EXPECT_EQ(Names(without), "Read ") << "the option was the session's last word";
  EXPECT_EQ(Keep(without), "");
}

TEST_F(SessionToolsTest, WhateverReplacesItTheSessionKeepsToTheOption) {
  SessionTools first =
      Opened({"Read", "Bash", "WebFetch"}, kLarge, {.only = {{"Read", "WebFetch"}}});
  EXPECT_EQ(Keep(first), "first");
  SessionTools later = Opened({"Read", "Bash", "WebFetch", "Zip"});
  later.Renew();
  EXPECT_EQ(Names(later), "Read WebFetch ") << "behind a compaction";
  EXPECT_EQ(Keep(later), "");
  later.UseWindow(kSmall);
  EXPECT_EQ(Keep(later), "window");
  SessionTools large = Opened({"Read", "Bash", "WebFetch"});
  EXPECT_EQ(Names(large), "Read WebFetch ") << "in another window";
  EXPECT_EQ(Keep(large), "window");
  Append(*log_,
         {.payload = protocol::Toolset{
              .blob = std::string(64, '0'), .cause = "window", .only = {{"Read", "WebFetch"}}}});
  SessionTools damaged = Opened({"Read", "Bash", "WebFetch"});
  EXPECT_EQ(Names(damaged), "Read WebFetch ") << "though the blob is gone";
  EXPECT_EQ(Keep(damaged), "damage");
}

TEST_F(SessionToolsTest, TheOptionMayAskForAllAgain) {
  SessionTools first = Opened({"Read", "Bash"}, kLarge, {.only = {{"Read"}}});
  Keep(first);
  SessionTools all = Opened({"Read", "Bash"}, kLarge, {.only = {{"default"}}});
  EXPECT_EQ(Names(all), "Bash Read ");
  EXPECT_EQ(Keep(all), "option");
  SessionTools later = Opened({"Read", "Bash", "Zip"});
  later.Renew();
  EXPECT_EQ(Names(later), "Bash Read Zip ");
}

TEST_F(SessionToolsTest, AnOptionThatNamesWhatTheSessionHasIsKeptAllTheSame) {
  SessionTools first = Opened({"Read", "Bash"});
  Keep(first);
  SessionTools same = Opened({"Read", "Bash"}, kLarge, {.only = {{"Read", "Bash"}}});
  EXPECT_EQ(Keep(same), "option");
  SessionTools later = Opened({"Read", "Bash", "Zip"});
  later.Renew();
  EXPECT_EQ(Names(later), "Bash Read ");
}

TEST_F(SessionToolsTest, AWindowOfTheOtherKindReplacesItAtAnOpeningOrInBetween) {
  SessionTools tools = Opened({"Read", "WebFetch"});
  Keep(tools);
  tools.UseWindow(100'000);
  EXPECT_EQ(Keep(tools), "") << "it is as large as ever";
  tools.UseWindow(kSmall);
  EXPECT_EQ(Names(tools), "Read ");
  tools.UseWindow(kLarge);
  EXPECT_EQ(Keep(tools), "") << "no model was asked in between";
  tools.UseWindow(kSmall);
  EXPECT_EQ(Keep(tools), "window");
  SessionTools same = Opened({"Read", "WebFetch"}, kSmall);
  EXPECT_EQ(Keep(same), "");
  SessionTools large = Opened({"Read", "WebFetch"}, kLarge);
  EXPECT_EQ(Names(large), "Read WebFetch ");
  EXPECT_EQ(Keep(large), "window");
}

TEST_F(SessionToolsTest, AnOlderLogGoesOnWithTheToolsOfItsLastRequestAndSaysSo) {
  const std::string blob =
      *log_->blobs().Put(R"([{"name":"Old","description":"o","schema":{"type":"object"}}])");
  Append(*log_, {.payload = protocol::ModelCall{
                     .call_id = "m", .phase = "start", .purpose = "turn", .toolset = blob}});
  SessionTools tools = Opened({"Read"});
  EXPECT_EQ(Names(tools), "Old ");
  EXPECT_EQ(Keep(tools), "first");
  EXPECT_EQ(tools.blob(), blob);
}

TEST_F(SessionToolsTest, AnOlderLogMayBeGivenAnOptionAtOnce) {
  const std::string blob = *log_->blobs().Put("[]");
  Append(*log_, {.payload = protocol::ModelCall{
                     .call_id = "m", .phase = "start", .purpose = "turn", .toolset = blob}});
  SessionTools tools = Opened({"Read", "Bash"}, kLarge, {.only = {{"Read"}}});
  EXPECT_EQ(Keep(tools), "option");
}

TEST_F(SessionToolsTest, AToolsetThatCannotBeReadIsMadeAnewAndNamedSo) {
  Append(*log_, {.payload = protocol::Toolset{.blob = std::string(64, '0'), .cause = "first"}});
  SessionTools tools = Opened({"Read"});
  EXPECT_EQ(Names(tools), "Read ");
  EXPECT_EQ(Keep(tools), "damage");
}

}  // namespace
}  // namespace stet::agent
