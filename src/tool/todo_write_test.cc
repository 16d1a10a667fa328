#include <gtest/gtest.h>

#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

class TodoWriteTest : public ToolTest {};

TEST_F(TodoWriteTest, TheListIsRendered) {
  EXPECT_EQ(
      TextOf(Run("TodoWrite", R"({"todos":[{"content":"a","status":"completed"},)"
                              R"({"content":"b","status":"in_progress","activeForm":"doing b"},)"
                              R"({"content":"c","status":"pending"}]})")),
      "The list now (1 of 3 completed):\n[x] a\n[>] b\n[ ] c\n");
  EXPECT_EQ(TextOf(Run("TodoWrite", R"({"todos":[]})")), "The list is empty now.");
}

TEST_F(TodoWriteTest, OnlyOneTaskIsInProgress) {
  EXPECT_TRUE(Run("TodoWrite", R"({"todos":[{"content":"a","status":"in_progress"},)"
                               R"({"content":"b","status":"in_progress"}]})")
                  .is_error);
}

TEST_F(TodoWriteTest, UnknownStatesAndEmptyTasksAreRefused) {
  EXPECT_TRUE(Run("TodoWrite", R"({"todos":[{"content":"a","status":"done"}]})").is_error);
  EXPECT_TRUE(Run("TodoWrite", R"({"todos":[{"content":"","status":"pending"}]})").is_error);
  EXPECT_TRUE(Run("TodoWrite", R"({})").is_error);
}

}  // namespace
}  // namespace stet::tool
