#include "cli/tree_view.h"

#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::cli {
namespace {

using protocol::TreeNode;

class Drawing {
 public:
  Drawing(const protocol::SessionTree& tree, bool all, const face::Console& console)
      : tree_(tree), all_(all), console_(console) {
    for (const TreeNode& node : tree.nodes) children_[node.parent_id.value_or("")].push_back(&node);
  }

  std::string Draw() {
    // A stack of branches, not recursion: a session may fork at every event.
    std::vector<Branch> branches;
    PushChildren("", "", branches);
    while (!branches.empty()) {
      const Branch branch = branches.back();
      branches.pop_back();
      DrawRun(branch, branches);
    }
    return std::move(out_);
  }

 private:
  struct Branch {
    const TreeNode* first;
    std::string indent;     // Before this branch's lines.
    std::string connector;  // Before its first line; spaces or a bar before the others.
    bool last;
  };

  const std::vector<const TreeNode*>& ChildrenOf(const std::string& id) { return children_[id]; }

  void PushChildren(const std::string& id, const std::string& indent,
                    std::vector<Branch>& branches) {
    const std::vector<const TreeNode*>& children = ChildrenOf(id);
    const bool forks = children.size() > 1;
    for (std::size_t i = children.size(); i-- > 0;) {
      const bool last = i + 1 == children.size();
      branches.push_back({children[i], indent, forks ? (last ? "└─ " : "├─ ") : "", last});
    }
  }

  /// One column: from the branch's first event to its end or its next fork.
  void DrawRun(const Branch& branch, std::vector<Branch>& branches) {
    const std::string below =
        branch.connector.empty() ? branch.indent : branch.indent + (branch.last ? "   " : "│  ");
    bool first = true;
    std::size_t skipped = 0;
    for (const TreeNode* node = branch.first;; first = false) {
      const std::vector<const TreeNode*>& children = ChildrenOf(node->id);
      if (all_ || first || children.size() != 1 || Matters(*node)) {
        DrawNode(*node, first ? branch.indent + branch.connector : below, skipped);
        skipped = 0;
      } else {
        ++skipped;
      }
      if (children.size() != 1) {
        PushChildren(node->id, below, branches);
        return;
      }
      node = children.front();
    }
  }

  [[nodiscard]] bool Matters(const TreeNode& node) const {
    return node.role == "user" || node.type == "compact" || node.id == tree_.leaf_id;
  }

  void DrawNode(const TreeNode& node, const std::string& margin, std::size_t skipped) {
    if (skipped > 0)
      out_ += fmt::format("{}{}\n", margin,
                          console_.Styled(face::Style::kDim, fmt::format("  ({} more)", skipped)));
    const bool leaf = node.id == tree_.leaf_id;
    const std::string mark = leaf ? "● " : (node.on_path ? "○ " : "· ");
    const std::string name = node.role.value_or(node.type);
    const std::string start =
        fmt::format("{}{}{}  {}  ", margin, mark, PrintableText(node.id), PrintableText(name));
    const std::size_t used = TextWidth(start) + (leaf ? 8 : 0);
    const std::size_t room = console_.columns() > used ? console_.columns() - used : 0;
    const std::string text = FitText(PrintableText(node.text), room);
    out_ += fmt::format(
        "{}{}{}\n", console_.Styled(node.on_path ? face::Style::kBold : face::Style::kPlain, start),
        text, leaf ? console_.Styled(face::Style::kGreen, "  <- leaf") : "");
  }

  const protocol::SessionTree& tree_;
  bool all_;
  const face::Console& console_;
  std::unordered_map<std::string, std::vector<const TreeNode*>> children_;
  std::string out_;
};

}  // namespace

std::string TreeText(const protocol::SessionTree& tree, bool all, const face::Console& console) {
  if (tree.nodes.empty()) return "(no messages yet)\n";
  std::string text = Drawing(tree, all, console).Draw();
  if (!tree.leaf_id)
    text += console.Styled(face::Style::kGreen, "<- the leaf is before the first event") + "\n";
  return text;
}

}  // namespace stet::cli
