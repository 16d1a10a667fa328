#include "tui/live_view/change.h"

#include <vector>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/text.h"
#include "json/view.h"

namespace stet::tui {
namespace {

/// Draws lines until there is no room.
class ChangeDrawing {
 public:
  ChangeDrawing(const face::Console& console, std::size_t max_lines)
      : console_(console), max_lines_(max_lines) {}

  /// The lines that both have at their beginning and end are context: one of each is shown.
  void Replace(const std::string& before, const std::string& after) {
    const std::vector<std::string_view> old_lines = SplitLines(before);
    const std::vector<std::string_view> new_lines = SplitLines(after);
    std::size_t head = 0;
    while (head < old_lines.size() && head < new_lines.size() && old_lines[head] == new_lines[head])
      ++head;
    std::size_t tail = 0;
    while (tail < old_lines.size() - head && tail < new_lines.size() - head &&
           old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
      ++tail;
    if (head > 0) Draw(' ', face::Style::kDim, old_lines[head - 1]);
    for (std::size_t i = head; i + tail < old_lines.size(); ++i)
      Draw('-', face::Style::kRed, old_lines[i]);
    for (std::size_t i = head; i + tail < new_lines.size(); ++i)
      Draw('+', face::Style::kGreen, new_lines[i]);
    if (tail > 0) Draw(' ', face::Style::kDim, old_lines[old_lines.size() - tail]);
  }

  std::string Take() {
    if (left_out_ > 0)
      out_ += console_.Styled(face::Style::kDim, fmt::format("    ... {} more lines", left_out_)) +
              "\n";
    return std::move(out_);
  }

 private:
  void Draw(char sign, face::Style style, std::string_view line) {
    if (drawn_ == max_lines_) {
      ++left_out_;
      return;
    }
    ++drawn_;
    constexpr std::size_t kMargin = 6;
    const std::size_t room =
        console_.columns() > 2 * kMargin ? console_.columns() - kMargin : kMargin;
    out_ += "    " + console_.Styled(style, sign + FitText(PrintableText(line), room)) + "\n";
  }

  const face::Console& console_;
  std::size_t max_lines_;
  std::size_t drawn_ = 0;
  std::size_t left_out_ = 0;
  std::string out_;
};

}  // namespace

std::string CallSummary(const std::string& tool, const Raw& args) {
  const JsonView view(args.text);
  for (const char* key : {"command", "file_path", "notebook_path", "pattern", "url", "query",
                          "question", "path", "description"}) {
    if (const std::optional<std::string> value = view[key].String(); value && !value->empty())
      return OneLineText(*value);
  }
  std::size_t todos = 0;
  view["todos"].ForEach([&](const JsonView&) { ++todos; });
  if (todos > 0) return fmt::format("{} tasks", todos);
  return tool.empty() || args.text == "{}" ? "" : OneLineText(args.text);
}

std::string ChangeText(const std::string& tool, const Raw& args, const face::Console& console,
                       std::size_t max_lines) {
  const JsonView view(args.text);
  ChangeDrawing drawing(console, max_lines);
  if (tool == "Write") {
    drawing.Replace("", view["content"].StringOr(""));
  } else if (tool == "Edit") {
    if (view["old_string"])
      drawing.Replace(view["old_string"].StringOr(""), view["new_string"].StringOr(""));
    view["edits"].ForEach([&](const JsonView& edit) {
      drawing.Replace(edit["old_string"].StringOr(""), edit["new_string"].StringOr(""));
    });
  }
  return drawing.Take();
}

}  // namespace stet::tui
