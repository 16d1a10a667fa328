#include "cli/tree_view.h"

#include <gtest/gtest.h>

#include "cli/display_view.h"

namespace stet::cli {
namespace {

// A log may have been written by another program: its ids are as little ours as its texts.
TEST(TreeViewTest, AnIdOfALogCannotDriveATerminal) {
  protocol::SessionTree tree;
  protocol::TreeNode& node = tree.nodes.emplace_back();
  node.id = "evt\x1b[2J";
  node.type = "user_message\x1b]0;x\x07";
  EXPECT_EQ(TreeText(tree, true, face::Console()).find('\x1b'), std::string::npos);
  protocol::DisplayRow row;
  row.id = "evt\x1b[2J";
  EXPECT_EQ(DisplayText(row, face::Console()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace stet::cli
