#include "tool/notebook.h"

#include <fmt/format.h>

#include "json/view.h"

namespace stet::tool {

namespace {

/// A text, or a list of the lines of one.
std::string Joined(JsonView lines) {
  if (lines.is_string()) return lines.StringOr("");
  std::string text;
  lines.ForEach([&](JsonView line) { text += line.StringOr(""); });
  return text;
}

std::string RenderOutput(JsonView output) {
  const std::string kind = output["output_type"].StringOr("");
  if (kind == "stream") return Joined(output["text"]);
  if (kind == "error")
    return fmt::format("{}: {}", output["ename"].StringOr("error"), output["evalue"].StringOr(""));
  if (const JsonView plain = output["data"]["text/plain"]) return Joined(plain);
  std::string kinds;
  output["data"].ForEachMember(
      [&](std::string_view name, JsonView) { (kinds += kinds.empty() ? "" : ", ") += name; });
  return fmt::format("({})", kinds.empty() ? "nothing to show" : kinds);
}

std::string RenderCell(JsonView cell, int number) {
  std::string text = fmt::format("<cell {} {}>\n{}\n", number,
                                 cell["cell_type"].StringOr("unknown"), Joined(cell["source"]));
  cell["outputs"].ForEach([&](JsonView output) {
    text += fmt::format("<output>\n{}\n</output>\n", RenderOutput(output));
  });
  return text + "</cell>\n";
}

}  // namespace

Result<std::string> RenderNotebook(std::string_view json, std::size_t max_bytes) {
  RETURN_IF_ERROR(CheckJson(json));
  const JsonView cells = JsonView(json)["cells"];
  if (!cells.is_array()) return Fail(Code::kInvalid, "it has no cells");
  std::string text;
  int number = 0;
  int left_out = 0;
  cells.ForEach([&](JsonView cell) {
    ++number;
    if (left_out > 0) {
      ++left_out;
      return;
    }
    const std::string rendered = RenderCell(cell, number);
    if (text.size() + rendered.size() > max_bytes)
      ++left_out;
    else
      text += rendered;
  });
  if (left_out > 0) text += fmt::format("({} more cells are not shown)\n", left_out);
  if (number == 0) text = "The notebook has no cells.\n";
  return text;
}

}  // namespace stet::tool
