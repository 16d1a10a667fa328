#include "tool/diff.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/writer.h"

namespace stet::tool {

namespace {

constexpr std::size_t kContext = 3;
constexpr int kMaxEdits = 1000;
constexpr std::size_t kMaxDetailBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxExcerptLine = 400;

using LineList = std::vector<std::string_view>;
using LineSpan = std::span<const std::string_view>;

/// Myers' shortest edit script: for each number of edits, how far each diagonal reaches. `trace`
/// keeps the reach before each round, to walk back.
class ShortestEdit {
 public:
  ShortestEdit(LineSpan before, LineSpan after) : before_(before), after_(after) {}

  /// The single lines that were removed (true, place in before) or added (false, place in after),
  /// the last one first; false when there are too many.
  bool Find(std::vector<std::pair<bool, std::size_t>>& edits) {
    reach_.assign(2 * kMaxEdits + 3, 0);
    for (int count = 0; count <= kMaxEdits; ++count) {
      trace_.emplace_back(reach_.begin() + kMaxEdits - count,
                          reach_.begin() + kMaxEdits + count + 3);
      for (int diagonal = -count; diagonal <= count; diagonal += 2) {
        const int x = Advance(diagonal, count);
        if (x >= Size(before_) && x - diagonal >= Size(after_)) {
          WalkBack(count, edits);
          return true;
        }
      }
    }
    return false;
  }

 private:
  static int Size(LineSpan lines) { return static_cast<int>(lines.size()); }
  static std::size_t Index(std::int64_t diagonal, std::int64_t middle) {
    return static_cast<std::size_t>(diagonal + middle + 1);
  }
  int& Reach(int diagonal) { return reach_[Index(diagonal, kMaxEdits)]; }

  int Advance(int diagonal, int count) {
    const bool down =
        diagonal == -count || (diagonal != count && Reach(diagonal - 1) < Reach(diagonal + 1));
    int x = down ? Reach(diagonal + 1) : Reach(diagonal - 1) + 1;
    int y = x - diagonal;
    while (x < Size(before_) && y < Size(after_) && y >= 0 &&
           before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)]) {
      ++x;
      ++y;
    }
    return Reach(diagonal) = x;
  }

  void WalkBack(int count, std::vector<std::pair<bool, std::size_t>>& edits) {
    int x = Size(before_);
    int y = Size(after_);
    for (; count > 0; --count) {
      const std::vector<int>& reach = trace_[static_cast<std::size_t>(count)];
      const auto at = [&](int diagonal) { return reach[Index(diagonal, count)]; };
      const int diagonal = x - y;
      const bool down =
          diagonal == -count || (diagonal != count && at(diagonal - 1) < at(diagonal + 1));
      const int from = down ? diagonal + 1 : diagonal - 1;
      x = at(from);
      y = x - from;
      edits.emplace_back(!down, static_cast<std::size_t>(down ? y : x));
    }
  }

  LineSpan before_;
  LineSpan after_;
  std::vector<int> reach_;
  std::vector<std::vector<int>> trace_;
};

/// Joins single edits, given last first, into changes.
std::vector<LineChange> Group(const std::vector<std::pair<bool, std::size_t>>& edits) {
  std::vector<LineChange> changes;
  std::size_t removed = 0;
  std::size_t added = 0;
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    const auto [is_removal, place] = *edit;
    // The other side's place follows from how many lines were removed and added before.
    const std::size_t before = is_removal ? place : place - added + removed;
    const std::size_t after = is_removal ? place - removed + added : place;
    if (changes.empty() || changes.back().before_end != before || changes.back().after_end != after)
      changes.push_back({before, before, after, after});
    ++(is_removal ? changes.back().before_end : changes.back().after_end);
    ++(is_removal ? removed : added);
  }
  return changes;
}

/// With their ends, so that a missing one at the end of the file is a difference.
LineList LinesWithEnds(std::string_view text) {
  LineList lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

/// Adds nothing once `out` is longer than `max_bytes`.
void AppendDiffLine(std::string& out, char sign, std::string_view line, std::size_t max_bytes) {
  if (out.size() > max_bytes) return;
  (out += sign) += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::vector<LineChange> DiffLines(const LineList& before, const LineList& after) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  const LineSpan old_middle(before.data() + head, before.size() - head - tail);
  const LineSpan new_middle(after.data() + head, after.size() - head - tail);
  if (old_middle.empty() && new_middle.empty()) return {};

  std::vector<std::pair<bool, std::size_t>> edits;
  std::vector<LineChange> changes;
  if (ShortestEdit(old_middle, new_middle).Find(edits))
    changes = Group(edits);
  else
    changes.push_back({0, old_middle.size(), 0, new_middle.size()});
  for (LineChange& change : changes) {
    change.before += head;
    change.before_end += head;
    change.after += head;
    change.after_end += head;
  }
  return changes;
}

FileDiff::FileDiff(std::string_view before, std::string_view after)
    : before_(LinesWithEnds(before)),
      after_(LinesWithEnds(after)),
      changes_(DiffLines(before_, after_)) {}

std::int64_t FileDiff::added() const {
  std::size_t sum = 0;
  for (const LineChange& change : changes_) sum += change.after_end - change.after;
  return static_cast<std::int64_t>(sum);
}

std::int64_t FileDiff::removed() const {
  std::size_t sum = 0;
  for (const LineChange& change : changes_) sum += change.before_end - change.before;
  return static_cast<std::int64_t>(sum);
}

std::string FileDiff::Unified(std::size_t max_bytes) const {
  std::string out;
  for (std::size_t first = 0; first < changes_.size();) {
    std::size_t last = first;
    while (last + 1 < changes_.size() &&
           changes_[last + 1].before - changes_[last].before_end <= 2 * kContext)
      ++last;
    const std::size_t lead = std::min(kContext, changes_[first].before);
    const std::size_t start = changes_[first].before - lead;
    const std::size_t new_start = changes_[first].after - lead;
    const std::size_t end = std::min(changes_[last].before_end + kContext, before_.size());
    const std::size_t new_end = changes_[last].after_end + (end - changes_[last].before_end);
    out += fmt::format("@@ -{},{} +{},{} @@\n", start + 1, end - start, new_start + 1,
                       new_end - new_start);
    std::size_t at = start;
    for (; first <= last; ++first) {
      const LineChange& change = changes_[first];
      for (; at < change.before; ++at) AppendDiffLine(out, ' ', before_[at], max_bytes);
      for (; at < change.before_end; ++at) AppendDiffLine(out, '-', before_[at], max_bytes);
      for (std::size_t i = change.after; i < change.after_end; ++i)
        AppendDiffLine(out, '+', after_[i], max_bytes);
    }
    for (; at < end; ++at) AppendDiffLine(out, ' ', before_[at], max_bytes);
  }
  if (out.size() > max_bytes) {
    out.resize(Utf8PrefixLength(out, max_bytes));
    out += "\n(the rest is not shown)\n";
  }
  return out;
}

std::string FileDiff::Excerpt(std::size_t max_lines) const {
  std::string out;
  std::size_t shown = 0;
  std::size_t next = 0;  // The first line that was not shown.
  for (const LineChange& change : changes_) {
    const std::size_t start = std::max(next, change.after - std::min(change.after, kContext));
    const std::size_t end = std::min(change.after_end + kContext, after_.size());
    if (start > next && next > 0) out += "   ...\n";
    for (std::size_t i = start; i < end; ++i) {
      if (shown++ == max_lines) return out + "   ...\n";
      const std::size_t length = Utf8PrefixLength(after_[i], kMaxExcerptLine);
      out += fmt::format("{:>6}\t{}", i + 1, after_[i].substr(0, length));
      if (length < after_[i].size()) out += "...";
      if (!out.ends_with('\n')) out += '\n';
    }
    next = std::max(next, end);
  }
  return out;
}

Raw FileDiff::Details() const {
  Raw raw{""};
  JsonWriter(raw.text)
      .BeginObject()
      .Member("added", added())
      .Member("removed", removed())
      .Member("diff", Unified(kMaxDetailBytes))
      .EndObject();
  return raw;
}

}  // namespace stet::tool
