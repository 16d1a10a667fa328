#include "lane/task_view.h"

#include <gtest/gtest.h>

namespace stet::lane {
namespace {

protocol::TaskRange From(std::int64_t offset, protocol::OptionalInt limit = {}) {
  protocol::TaskRange range;
  range.offset = offset;
  range.limit = limit;
  return range;
}

TEST(TaskViewTest, WithoutAnOffsetTheEndIsGiven) {
  const std::string bytes(kMaxTaskOutput + 7, 'x');
  const protocol::TaskOutput output = TaskOutputOf(bytes, false);
  EXPECT_EQ(output.text.size(), kMaxTaskOutput);
  EXPECT_EQ(output.left_out, 7);
  EXPECT_EQ(output.end, output.bytes);
  EXPECT_EQ(output.bytes, static_cast<std::int64_t>(bytes.size()));
}

TEST(TaskViewTest, PartsFollowOneAnotherAndCutNoCharacter) {
  const std::string bytes =
      "a\u00e4b\xff"
      "c";
  std::string all;
  std::int64_t offset = 0;
  int parts = 0;
  for (; offset < static_cast<std::int64_t>(bytes.size()) && parts < 10; ++parts) {
    const protocol::TaskOutput part = TaskOutputOf(bytes, true, From(offset, 2));
    EXPECT_EQ(part.left_out, offset);
    all += part.text;
    offset = part.end;
  }
  EXPECT_EQ(all, "a\u00e4b\uFFFDc");
  EXPECT_EQ(TaskOutputOf("\u00e4", true, From(0, 1)).end, 1) << "a limit below a character cuts it";
}

TEST(TaskViewTest, AnOffsetBehindTheEndGivesNothing) {
  const protocol::TaskOutput output = TaskOutputOf("abc", false, From(10));
  EXPECT_EQ(output.text, "");
  EXPECT_EQ(output.end, 3);
  EXPECT_EQ(TaskOutputOf("abc", false, From(-5)).text, "abc");
}

}  // namespace
}  // namespace stet::lane
