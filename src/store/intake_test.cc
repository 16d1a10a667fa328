#include "store/intake.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/temp_dir.h"

namespace stet::store {
namespace {

constexpr std::size_t kTarBlock = 512;

/// A member as tar programs write it; `claimed` is what it says of its size.
std::string Member(const std::string& name, std::string_view content, char type = '0',
                   std::optional<std::uint64_t> claimed = std::nullopt) {
  std::string block(kTarBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    std::memcpy(block.data() + at, text.data(), text.size());
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, fmt::format("{:011o}", claimed.value_or(content.size())));
  put(148, "        ");
  block[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  std::string padded(content);
  padded.resize((content.size() + kTarBlock - 1) / kTarBlock * kTarBlock, '\0');
  return block + padded;
}

class IntakeTest : public testing::Test {
 protected:
  Result<LeftOut> Take(const std::string& members, const IntakeLimits& limits = {}) {
    EXPECT_TRUE(ReplaceFile(tar_, members + std::string(2 * kTarBlock, '\0'), Durable::kNo));
    (void)RemoveTree(into_);
    EXPECT_TRUE(MakeDirs(into_));
    return TakeTar(tar_, into_, limits);
  }
  [[nodiscard]] std::string Got(const std::string& name) const {
    return ReadFile(into_ + "/" + name).value_or("none");
  }

  TempDir dir_;
  std::string tar_ = dir_.Sub("t.tar");
  std::string into_ = dir_.Sub("into");
};

TEST_F(IntakeTest, TheFilesOfASessionAreTakenWhereverTheTarHasThem) {
  const std::string blob = "blobs/" + Sha256Hex("b");
  const auto left =
      Take(Member("./ses_a/events.jsonl", "{}\n") + Member("ses_a/" + blob, "b") +
           Member("ses_a/agents/ses_b/events.jsonl", "{1}\n") + Member("ses_a/blobs", "", '5'));
  ASSERT_TRUE(left) << left.error().Text();
  EXPECT_EQ(left->count, 0U);
  EXPECT_EQ(Got("ses_a/events.jsonl"), "{}\n");
  EXPECT_EQ(Got("ses_a/" + blob), "b");
  EXPECT_EQ(Got("ses_a/agents/ses_b/events.jsonl"), "{1}\n");
  ASSERT_TRUE(Take(Member("events.jsonl", "top\n")));
  EXPECT_EQ(Got("events.jsonl"), "top\n");
}

TEST_F(IntakeTest, WhatLeadsElsewhereOrIsNoPlainFileIsLeftOutAndTold) {
  const auto left =
      Take(Member("../events.jsonl", "x") + Member("/events.jsonl", "x") +
           Member("ses_a/../../events.jsonl", "x") + Member("ses_a/agents/../events.jsonl", "x") +
           Member("ses_a/own.json", "x") + Member("ses_a/blobs/short", "x") +
           Member("ses_a/events.jsonl", "", '2') + Member("ses_b/events.jsonl", "", '1') +
           Member("ses_c/events.jsonl", "", '3') + Member("a/b/events.jsonl", "x"));
  ASSERT_TRUE(left) << left.error().Text();
  EXPECT_EQ(left->count, 10U);
  EXPECT_EQ(left->names.size(), LeftOut::kNamed);
  EXPECT_TRUE(ListDir(into_)->empty());
  EXPECT_EQ(ListDir(dir_.path())->size(), 2U) << "the tar and the folder";
}

TEST_F(IntakeTest, LongNamesAreRead) {
  const std::string folder(120, 'f');
  const std::string name = folder + "/events.jsonl";
  ASSERT_TRUE(Take(Member("././@LongLink", name + '\0', 'L') + Member(name.substr(0, 100), "gnu")));
  EXPECT_EQ(Got(name), "gnu");
  const std::string record = fmt::format("{} path={}\n", name.size() + 10, name);
  ASSERT_EQ(record.size(), name.size() + 10);
  ASSERT_TRUE(Take(Member("pax", record, 'x') + Member("short", "pax")));
  EXPECT_EQ(Got(name), "pax");
}

TEST_F(IntakeTest, WhatIsTooMuchIsRefused) {
  const IntakeLimits few{.all_bytes = 3000,
                         .files = 2,
                         .log_bytes = 2000,
                         .log_lines = 3,
                         .line_bytes = 100,
                         .summary_bytes = 10};
  const auto code = [&](const std::string& members) {
    const auto taken = Take(members, few);
    return taken ? std::string("taken") : taken.error().message;
  };
  const std::string lines = std::string(90, 'x') + "\n";
  EXPECT_EQ(code(Member("events.jsonl", lines + lines)), "taken");
  EXPECT_NE(code(Member("events.jsonl", lines + lines + lines + lines)).find("3 lines"),
            std::string::npos);
  EXPECT_NE(code(Member("events.jsonl", std::string(101, '\0'))).find("100 bytes"),
            std::string::npos);
  IntakeLimits values;
  values.line_values = 10;
  values.log_values = 15;
  const std::string eight = "[1,2,3,\"a,{[\\\",,,,,,\",5,6,7,8]\n";
  EXPECT_TRUE(Take(Member("events.jsonl", eight), values)) << "what is text is no value";
  EXPECT_FALSE(Take(Member("events.jsonl", eight + eight), values));
  EXPECT_FALSE(Take(Member("events.jsonl", "[1,2,3,4,5,6,7,8,9,10,11]"), values));
  EXPECT_NE(code(Member("summary.json", std::string(11, 'x'))).find("10 bytes"), std::string::npos);
  EXPECT_NE(code(Member("blobs/" + Sha256Hex("b"), std::string(3001, 'x'))).find("3000 bytes"),
            std::string::npos);
  const std::string three =
      Member("a/events.jsonl", "") + Member("b/events.jsonl", "") + Member("c/events.jsonl", "");
  EXPECT_NE(code(three).find("2 files"), std::string::npos);
  EXPECT_NE(code(Member("events.jsonl", "") + Member("events.jsonl", "")).find("twice"),
            std::string::npos);
}

TEST_F(IntakeTest, WhatIsNoTarOrIsCutOrLiesIsRefused) {
  EXPECT_FALSE(Take(std::string(kTarBlock, 'x')));
  EXPECT_FALSE(Take(std::string(kTarBlock, '\0')));
  EXPECT_FALSE(Take(Member("events.jsonl", "x", '0', 1 << 20))) << "it has not that much";
  EXPECT_FALSE(Take(Member("events.jsonl", "x", '0', std::uint64_t{7} << 30)));
  EXPECT_FALSE(Take(Member("x", std::string(2 << 20, 'x'), 'x') + Member("events.jsonl", "")));
  EXPECT_FALSE(Take(Member("x", "9 path\n\n", 'x') + Member("events.jsonl", "")));
  EXPECT_FALSE(Take(Member("x", "25 GNU.sparse.major=1...\n", 'x') + Member("events.jsonl", "")));
  EXPECT_FALSE(Take("\x1f\x8b" + std::string(1000, 'z')));
  std::string flipped = Member("events.jsonl", "x");
  flipped[3] = 'X';
  EXPECT_FALSE(Take(flipped));
}

}  // namespace
}  // namespace stet::store
