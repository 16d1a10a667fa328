#include "log/tree.h"

#include <algorithm>

namespace stet::log {
namespace {

constexpr std::uint8_t kToolResult = protocol::kTypeNumber<protocol::ToolResult>;

bool IsResult(const Index& index, Ordinal event) {
  return index.entries()[event].type == kToolResult;
}

std::vector<Ordinal> ChainTo(const Index& index, Ordinal leaf) {
  std::vector<Ordinal> chain;
  for (Ordinal at = leaf; at != kNone; at = index.entries()[at].parent) chain.push_back(at);
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace

std::vector<Ordinal> PathTo(const Index& index, Ordinal leaf) {
  std::vector<Ordinal> path = ChainTo(index, leaf);
  for (auto run = path.begin(); run != path.end();) {
    run = std::find_if(run, path.end(), [&](Ordinal event) { return IsResult(index, event); });
    const auto end =
        std::find_if_not(run, path.end(), [&](Ordinal event) { return IsResult(index, event); });
    std::stable_sort(run, end, [&](Ordinal a, Ordinal b) {
      return index.entries()[a].call_index < index.entries()[b].call_index;
    });
    run = end;
  }
  return path;
}

bool IsRestPoint(const Index& index, Ordinal event) {
  return event == kNone || (index.entries()[event].in_tree() && index.entries()[event].open == 0);
}

Result<Ordinal> RestPointOf(const Index& index, Ordinal event) {
  if (IsRestPoint(index, event)) return event;
  const std::vector<Entry>& entries = index.entries();
  if (!entries[event].in_tree())
    return Fail(Code::kInvalid, "the event is not in the tree: name a message");
  Ordinal last = event;
  for (Ordinal i = event + 1; i < entries.size() && entries[last].open > 0; ++i) {
    if (entries[i].parent == last && IsResult(index, i) && entries[i].in_tree()) last = i;
  }
  if (entries[last].open > 0) {
    return Fail(
        Code::kConflict,
        "the step that the event stands in has calls without a result: name an earlier event");
  }
  return last;
}

std::vector<Ordinal> ControlsOn(const Index& index, Ordinal leaf) {
  const std::vector<Entry>& entries = index.entries();
  const std::vector<Ordinal> chain = ChainTo(index, leaf);
  // What follows each event of the path; slot 0 is before the first event. 0 marks events that are
  // not on the path.
  std::vector<Ordinal> follower(entries.size() + 1, 0);
  Ordinal above = kNone;
  for (const Ordinal event : chain) {
    follower[above == kNone ? 0 : std::size_t{above} + 1] = event;
    above = event;
  }
  follower[above == kNone ? 0 : std::size_t{above} + 1] = kNone;
  std::vector<bool> on_path(entries.size(), false);
  for (const Ordinal event : chain) on_path[event] = true;

  std::vector<Ordinal> applying;
  for (Ordinal i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.place() != protocol::Place::kControl || (entry.flags & Entry::kDuplicate) != 0)
      continue;
    if (entry.parent != kNone && !on_path[entry.parent]) continue;
    const Ordinal next = follower[entry.parent == kNone ? 0 : std::size_t{entry.parent} + 1];
    if (next == kNone || next > i) applying.push_back(i);
  }
  return applying;
}

std::vector<Ordinal> AllOn(const Index& index, Ordinal leaf) {
  std::vector<Ordinal> all = PathTo(index, leaf);
  const std::vector<Ordinal> controls = ControlsOn(index, leaf);
  all.insert(all.end(), controls.begin(), controls.end());
  for (Ordinal i = 0; i < index.entries().size(); ++i) {
    if (index.entries()[i].place() == protocol::Place::kSession) all.push_back(i);
  }
  std::ranges::sort(all);
  return all;
}

Tree::Tree(const Index& index) : index_(index) {
  const std::vector<Entry>& entries = index.entries();
  first_.assign(entries.size() + 2, 0);
  const auto each = [&](auto visit) {
    for (Ordinal i = 0; i < entries.size(); ++i) {
      if (entries[i].in_tree()) visit(i, Slot(entries[i].parent));
    }
  };
  each([&](Ordinal, std::size_t slot) { ++first_[slot + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  children_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  each([&](Ordinal i, std::size_t slot) { children_[next[slot]++] = i; });
}

std::span<const Ordinal> Tree::Children(Ordinal event) const {
  const std::size_t slot = Slot(event);
  return std::span(children_).subspan(first_[slot], first_[slot + 1] - first_[slot]);
}

std::vector<Ordinal> Tree::Leaves() const {
  std::vector<Ordinal> leaves;
  for (Ordinal i = 0; i < index_.entries().size(); ++i) {
    if (index_.entries()[i].in_tree() && Children(i).empty()) leaves.push_back(i);
  }
  return leaves;
}

std::vector<Ordinal> Tree::BranchPoints() const {
  std::vector<Ordinal> points;
  if (Children(kNone).size() > 1) points.push_back(kNone);
  for (Ordinal i = 0; i < index_.entries().size(); ++i) {
    if (Children(i).size() > 1) points.push_back(i);
  }
  return points;
}

}  // namespace stet::log
