#include "acp/tool_view.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::acp {
namespace {

constexpr std::size_t kTitleColumns = 200;

struct ToolRow {
  std::string_view tool;
  std::string_view kind;
  std::string_view says;  // The argument that says most.
};

constexpr std::array kTools = {
    ToolRow{"Read", "read", "file_path"},     ToolRow{"Write", "edit", "file_path"},
    ToolRow{"Edit", "edit", "file_path"},     ToolRow{"Bash", "execute", "command"},
    ToolRow{"BashTask", "execute", "action"}, ToolRow{"Grep", "search", "pattern"},
    ToolRow{"Glob", "search", "pattern"},     ToolRow{"WebFetch", "fetch", "url"},
    ToolRow{"TodoWrite", "think", ""},        ToolRow{"ExitPlan", "switch_mode", ""},
    ToolRow{"AskUser", "other", "question"},  ToolRow{"Snip", "other", ""},
};

const ToolRow* RowOf(std::string_view tool) {
  const auto* row = std::ranges::find(kTools, tool, &ToolRow::tool);
  return row == kTools.end() ? nullptr : row;
}

std::string Absolute(const std::string& path, std::string_view cwd) {
  if (path.empty() || path.starts_with('/')) return path;
  return std::filesystem::path(fmt::format("{}/{}", cwd, path)).lexically_normal();
}

FileDiff EditDiff(const std::string& path, const JsonView& edit) {
  return {.path = path,
          .old_text = edit["old_string"].StringOr(""),
          .new_text = edit["new_string"].StringOr("")};
}

}  // namespace

std::string_view KindOf(std::string_view tool) {
  const ToolRow* row = RowOf(tool);
  return row == nullptr ? "other" : row->kind;
}

std::string TitleOf(const std::string& tool, const Raw& args) {
  if (tool == "TodoWrite") return "Update the plan";
  if (tool == "ExitPlan") return "Show the plan";
  const ToolRow* row = RowOf(tool);
  std::string says;
  if (row != nullptr && !row->says.empty()) says = JsonView(args.text)[row->says].StringOr("");
  if (says.empty()) return tool;
  const std::string title = OneLineText(tool == "Bash" ? says : fmt::format("{} {}", tool, says));
  return FitText(title, kTitleColumns);
}

Locations LocationsOf(const std::string& tool, const Raw& args, std::string_view cwd) {
  const JsonView json(args.text);
  const std::string path = json["file_path"].StringOr(json["path"].StringOr(""));
  if (path.empty() || path.starts_with("blob:") || RowOf(tool) == nullptr) return {};
  Location location{.path = Absolute(path, cwd), .line = {}};
  if (const std::int64_t line = json["offset"].IntOr(0); tool == "Read" && line > 0)
    location.line = std::min<std::int64_t>(line, UINT32_MAX);
  return {std::move(location)};
}

FileDiffs DiffsOf(const std::string& tool, const Raw& args, std::string_view cwd) {
  const JsonView json(args.text);
  const std::string path = Absolute(json["file_path"].StringOr(""), cwd);
  FileDiffs diffs;
  if (path.empty()) return diffs;
  if (tool == "Write" && json["content"].is_string())
    diffs.push_back({.path = path, .old_text = {}, .new_text = json["content"].StringOr("")});
  if (tool != "Edit") return diffs;
  if (json["old_string"].is_string()) diffs.push_back(EditDiff(path, json));
  json["edits"].ForEach([&](const JsonView& edit) { diffs.push_back(EditDiff(path, edit)); });
  return diffs;
}

void WriteDiff(JsonWriter& writer, const FileDiff& diff) {
  writer.BeginObject().Member("type", "diff").Member("path", diff.path);
  if (diff.old_text)
    writer.Member("oldText", *diff.old_text);
  else
    writer.Key("oldText").Text("null");
  writer.Member("newText", diff.new_text).EndObject();
}

void WriteTextContent(JsonWriter& writer, std::string_view text) {
  writer.BeginObject().Member("type", "content").Key("content").BeginObject();
  writer.Member("type", "text").Member("text", text).EndObject().EndObject();
}

void WriteTerminal(JsonWriter& writer, std::string_view terminal_id) {
  writer.BeginObject().Member("type", "terminal").Member("terminalId", terminal_id).EndObject();
}

void WriteLocations(JsonWriter& writer, const Locations& locations) {
  writer.BeginArray();
  for (const Location& location : locations) {
    writer.BeginObject().Member("path", location.path);
    if (location.line) writer.Member("line", *location.line);
    writer.EndObject();
  }
  writer.EndArray();
}

std::string PlanUpdate(const Raw& args) {
  const JsonView todos = JsonView(args.text)["todos"];
  if (!todos.is_array()) return "";
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "plan").Key("entries").BeginArray();
  todos.ForEach([&](const JsonView& todo) {
    const std::string status = todo["status"].StringOr("");
    const bool known = status == "in_progress" || status == "completed";
    writer.BeginObject().Member("content", todo["content"].StringOr(""));
    writer.Member("priority", "medium").Member("status", known ? status : "pending").EndObject();
  });
  writer.EndArray().EndObject();
  return update;
}

}  // namespace stet::acp
