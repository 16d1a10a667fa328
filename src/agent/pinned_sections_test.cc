#include "agent/pinned_sections.h"

#include <gtest/gtest.h>

#include "agent/pins.h"

namespace stet::agent {
namespace {

using Sections = std::vector<std::string_view>;

TEST(PinnedSectionsTest, ASectionGoesToTheNextHeadingOfItsLevelOrAHigherOne) {
  EXPECT_EQ(PinnedSections("# A\nx\n## Rules [pinned]\none\n### More\ntwo\n## B\nthree\n"),
            Sections({"## Rules [pinned]\none\n### More\ntwo\n"}));
  EXPECT_EQ(PinnedSections("## Rules [pinned] ##\none\n# B\n"),
            Sections({"## Rules [pinned] ##\none\n"}));
}

TEST(PinnedSectionsTest, TheLastOneGoesToTheEndByteForByte) {
  EXPECT_EQ(PinnedSections("# R [pinned]\r\n one \t\n\n"),
            Sections({"# R [pinned]\r\n one \t\n\n"}));
  EXPECT_EQ(PinnedSections("# R [pinned]"), Sections({"# R [pinned]"}));
}

TEST(PinnedSectionsTest, OneInsideAnotherIsPartOfIt) {
  EXPECT_EQ(PinnedSections("# A [pinned]\n## B [pinned]\nx\n# C [pinned]\ny\n"),
            Sections({"# A [pinned]\n## B [pinned]\nx\n", "# C [pinned]\ny\n"}));
}

TEST(PinnedSectionsTest, CodeHasNoHeadings) {
  EXPECT_EQ(PinnedSections("```sh\n# not [pinned]\n```\n"), Sections());
  EXPECT_EQ(PinnedSections("# A [pinned]\n```\n# no heading\n~~~\n# nor this\n```\n# B\n"),
            Sections({"# A [pinned]\n```\n# no heading\n~~~\n# nor this\n```\n"}));
  EXPECT_EQ(PinnedSections("    # code [pinned]\n"), Sections());
}

TEST(PinnedSectionsTest, NothingElseIsMarked) {
  EXPECT_EQ(PinnedSections(""), Sections());
  EXPECT_EQ(PinnedSections("text [pinned]\n#nospace [pinned]\n# [pinned] first\n"), Sections());
}

protocol::InstructionSnapshot SnapshotOf(const std::string& content) {
  protocol::InstructionSnapshot event;
  protocol::Section& section = event.snapshot.sections.emplace_back();
  section.kind = "agents";
  section.sources = Raw{R"([{"path":"/p/AGENTS.md","content":)" + Encode(content) + "}]"};
  return event;
}

TEST(PinnedSectionsTest, EachBecomesAPinThatNamesItsFile) {
  const auto pins = PinsIn(SnapshotOf("# R [pinned]\n\"a\"\n"), ProcessRandom());
  ASSERT_EQ(pins.size(), 1U);
  EXPECT_EQ(pins[0].text, "# R [pinned]\n\"a\"\n");
  EXPECT_EQ(pins[0].source, "agents_md:/p/AGENTS.md");
  EXPECT_FALSE(pins[0].pin_id.empty());
}

TEST(PinnedSectionsTest, WhatIsTooLargeIsNotPinned) {
  const std::string large = "# R [pinned]\n" + std::string(kMaxPinBytes, 'x') + "\n";
  EXPECT_TRUE(PinsIn(SnapshotOf(large), ProcessRandom()).empty());
  std::string many;
  for (int i = 0; i < 10; ++i) many += "# R [pinned]\n" + std::string(kMaxPinBytes / 2, 'x') + "\n";
  std::size_t bytes = 0;
  for (const protocol::Pin& pin : PinsIn(SnapshotOf(many), ProcessRandom()))
    bytes += pin.text->size();
  EXPECT_GT(bytes, kMaxPinsBytes / 2);
  EXPECT_LE(bytes, kMaxPinsBytes);
}

}  // namespace
}  // namespace stet::agent
