#include "run/capsule/capsule.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "json/tree.h"
#include "run/run_fixture.h"

namespace stet::run {
namespace {

TEST(CapsuleTest, ACapsuleOfEverythingIsReadAsItWasWritten) {
  const Capsule capsule = FullStory().MakeCapsule();
  const std::string text = Encode(capsule);
  const CapsuleCheck check = CheckCapsule(text);
  EXPECT_TRUE(check.errors.empty());
  EXPECT_TRUE(check.warnings.empty());
  const Result<Capsule> again = ReadCapsule(text);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(*again, capsule);
}

TEST(CapsuleTest, EveryMemberThatMustBeThereIsMissed) {
  const JsonTree whole = *ParseTree(Encode(FullStory().MakeCapsule()));
  for (std::size_t i = 0; i < whole.members.size(); ++i) {
    JsonTree less = whole;
    const std::string name = less.members[i].name;
    less.members.erase(less.members.begin() + static_cast<std::ptrdiff_t>(i));
    std::string text;
    AppendJson(text, less);
    const CapsuleCheck check = CheckCapsule(text);
    // Without an optional one the digest tells.
    EXPECT_FALSE(check.valid()) << name;
  }
}

TEST(CapsuleTest, UnknownMembersAreKeptAndANewerVersionIsRefused) {
  Capsule capsule = FullStory().MakeCapsule();
  capsule.extra = R"("weight":1e400)";
  capsule.digest = CapsuleDigest(capsule);
  const CapsuleCheck check = CheckCapsule(Encode(capsule));
  EXPECT_TRUE(check.valid());
  EXPECT_EQ(check.warnings, (std::vector<CapsuleFault>{{"weight", "unknown_member"}}));
  EXPECT_EQ(Encode(*ReadCapsule(Encode(capsule))), Encode(capsule));
  capsule.version = 2;
  capsule.digest = CapsuleDigest(capsule);
  EXPECT_EQ(ReadCapsule(Encode(capsule)).error().code, Code::kTooNew);
}

TEST(CapsuleTest, TheExampleInTheDocumentIsGood) {
  const std::string document = *ReadFile(SourceDir() + "/doc/format/capsule.md");
  const std::size_t begin = document.find("```json\n") + 8;
  const std::string example = document.substr(begin, document.find("\n```", begin) - begin);
  const CapsuleCheck check = CheckCapsule(example);
  EXPECT_TRUE(check.valid()) << check.errors.front().path << " " << check.errors.front().code
                             << "; a good one is\n"
                             << Encode(FullStory().MakeCapsule());
  EXPECT_TRUE(check.warnings.empty());
}

TEST(CapsuleTest, TheFourRulesStandInThePrompt) {
  const std::string shown = RenderCapsule(FullStory().MakeCapsule());
  for (const char* rule : {"\n1. A hard denial", "\n2. While a blocking question",
                           "\n3. Before a write", "\n4. Facts and evidence"})
    EXPECT_NE(shown.find(rule), std::string::npos) << rule;
  EXPECT_NE(shown.find("\"tabs or blanks?\""), std::string::npos);
}

TEST(CapsuleTest, PinsAreCarriedByteForByte) {
  const std::string odd = "never\ntouch \"main\" <b> \u2028 `x`\t";
  Story story;
  story.Pin("pin1", odd);
  const Capsule capsule = *ReadCapsule(Encode(story.MakeCapsule()));
  EXPECT_EQ(capsule.pins[0].text, odd);
  EXPECT_NE(RenderPins(capsule.pins).find(odd), std::string::npos);
  EXPECT_EQ(RenderPins({}), "");
}

TEST(CapsuleTest, AnUnreadableCapsuleIsAFailureAndTheLogGoesOn) {
  Story story;
  story.Raise("h", severity::kHardDeny);
  story.files["/p/a"] = "aa";
  story.Read("/p/a", "aa");
  protocol::Compaction compact;
  compact.capsule = Raw{"null"};
  const std::string id = story.Add(compact);
  const Restored restored = story.Restore(ReadCapsule("null"));
  EXPECT_EQ(restored.failures[0].code, "capsule_invalid");
  EXPECT_EQ(restored.anchors[0].verdict, "fresh");
  story.NoteRestored(id, restored);
  EXPECT_FALSE(story.state.restore_pending());
  EXPECT_EQ(story.state.next().code, "denied");
}

TEST(CapsuleTest, WritesThatACrashLeftOpenAreToldByTheFile) {
  Story story;
  story.files = {{"/p/done", "new"}, {"/p/undone", "old"}, {"/p/odd", "else"}};
  story.Write("c1", "/p/done", "old", "new");
  story.Write("c2", "/p/undone", "old", "new");
  story.Write("c3", "/p/odd", "old", "new");
  story.Write("c4", "/p/never", "", "new");
  const Capsule capsule = story.MakeCapsule();
  const std::string compact = story.Compact(capsule);
  const Restored restored = story.Restore(capsule);
  std::vector<std::string> statuses;
  for (const protocol::Transaction& said : restored.reconciled) statuses.push_back(said.status);
  EXPECT_EQ(statuses, (std::vector<std::string>{"written", "reverted", "unknown", "reverted"}));
  story.NoteRestored(compact, restored);
  EXPECT_EQ(story.state.next().subject, "c3:/p/odd");
  EXPECT_TRUE(story.Restore(capsule).reconciled.empty()) << "nothing is told twice";
}

TEST(CapsuleTest, VerdictsDifferOnlyWhenSomethingChanged) {
  Story story = FullStory();
  const Capsule capsule = story.MakeCapsule();
  const std::string compact = story.Compact(capsule);
  EXPECT_TRUE(VerdictsDiffer(story.Restore(capsule), story.state)) << "there are none yet";
  story.NoteRestored(compact, story.Restore(capsule));
  EXPECT_FALSE(VerdictsDiffer(story.Restore(capsule), story.state));
  story.files["/p/b"] = "bbb";
  EXPECT_TRUE(VerdictsDiffer(story.Restore(capsule), story.state));
  EXPECT_NE(RenderRestored(story.Restore(capsule)).find("file \"/p/b\": \"stale\""),
            std::string::npos);
  story.files["/p/b"] = "BB";
  EXPECT_EQ(RenderRestored(story.Restore(capsule)), "");
}

TEST(CapsuleTest, WhatIsOpenedOrClosedAroundACompactionIsNoFailure) {
  Story story;
  story.Raise("closes", severity::kHardDeny);
  story.Ask("q1", "closes");
  const Capsule capsule = story.MakeCapsule();
  story.Clear("closes");
  story.Close("q1");
  story.Raise("comes", severity::kHardDeny);
  story.Ask("q2", "comes");
  story.Compact(capsule);
  story.Raise("later", severity::kHardDeny);
  EXPECT_TRUE(story.Restore(capsule).failures.empty());
}

TEST(CapsuleTest, FiftyCompactionsLeaveWhatMustBeKept) {
  Story story = FullStory();
  const std::string before = story.state.KeptHash();
  for (int i = 0; i < 50; ++i) {
    const Result<Capsule> capsule = ReadCapsule(Encode(story.MakeCapsule()));
    ASSERT_TRUE(capsule);
    EXPECT_EQ(capsule->generation, i + 1);
    const std::string compact = story.Compact(*capsule);
    EXPECT_EQ(story.state.KeptHash(), before);
    const Restored restored = story.Restore(capsule);
    EXPECT_TRUE(restored.failures.empty());
    story.NoteRestored(compact, restored);
    ASSERT_EQ(story.state.KeptHash(), before) << "after compaction " << i + 1;
  }
  story.Pin("pin2", "more");
  EXPECT_NE(story.state.KeptHash(), before) << "the hash sees what changes";
}

}  // namespace
}  // namespace stet::run
