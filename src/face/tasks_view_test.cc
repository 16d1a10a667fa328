#include "face/tasks_view.h"

#include <gtest/gtest.h>

namespace stet::face {
namespace {

TEST(TasksViewTest, AnIdOfALogCannotDriveATerminal) {
  protocol::TaskRow row;
  row.task_id = "task\x1b[2J";
  row.state = "done\x1b[1m";
  row.name = "make\x1b]0;x\x07";
  EXPECT_EQ(TaskText(row, 0).find('\x1b'), std::string::npos) << TaskText(row, 0);
  EXPECT_EQ(TasksText({row}, 80, 0).find('\x1b'), std::string::npos);
}

TEST(TasksViewTest, ATaskIsShownWithHowLongItRanAndHowItEnded) {
  protocol::TaskRow row;
  row.task_id = "task_1";
  row.state = "exited";
  row.started_at = 1'000;
  row.ended_at = 66'000;
  row.exit = 3;
  EXPECT_EQ(TaskText(row, 100'000), "task_1  exited\n  ran for  1m05s\n  end      exit 3\n");
}

}  // namespace
}  // namespace stet::face
