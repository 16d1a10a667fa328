// Grep: a regular expression in the files of a project.
#include "tool/grep.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/in_thread.h"
#include "tool/paths.h"

namespace stet::tool {

namespace {

constexpr std::int64_t kMaxContext = 50;

GrepMode ModeOf(const Args& args) {
  const std::string mode = args.Text("output_mode").value_or("files");
  return mode == "content" ? GrepMode::kContent
         : mode == "count" ? GrepMode::kCount
                           : GrepMode::kFiles;
}

std::int64_t Context(const Args& args, std::string_view name) {
  const auto both = args.Int("-C");
  return std::clamp<std::int64_t>(args.Int(name).value_or(both.value_or(0)), 0, kMaxContext);
}

struct Page {
  std::int64_t offset = 0;
  std::int64_t limit = kDefaultHeadLimit;
};

Page PageOf(const Args& args) {
  return {.offset = std::max<std::int64_t>(args.Int("offset").value_or(0), 0),
          .limit = HeadLimit(args)};
}

Result<RealPath> WhereOf(const Args& args, const Workspace& workspace) {
  const std::string text = args.Text("path").value_or("");
  ASSIGN_OR_RETURN(RealPath where, Resolve(text.empty() ? "." : text, workspace));
  if (!where.exists) return Fail(Code::kNotFound, fmt::format("{} does not exist.", where.path));
  return where;
}

Result<GrepQuery> QueryOf(const Args& args, const Workspace& workspace) {
  ASSIGN_OR_RETURN(const RealPath where, WhereOf(args, workspace));
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(where.path));
  if (!stat.is_dir && !stat.is_file)
    return Fail(Code::kInvalid, fmt::format("{} is neither a file nor a folder.", where.path));
  const Page page = PageOf(args);
  GrepQuery query{.pattern = args.Text("pattern").value_or(""),
                  .folder = stat.is_dir ? where.path : ParentDir(where.path),
                  .project = workspace.project,
                  .exclude = workspace.exclude,
                  .secret_names = workspace.secret_names,
                  .glob = args.Text("glob").value_or(""),
                  .type = args.Text("type").value_or(""),
                  .mode = ModeOf(args),
                  .before = Context(args, "-B"),
                  .after = Context(args, "-A"),
                  .ignore_case = args.Flag("-i"),
                  .line_numbers = args.Get("-n").Bool().value_or(true),
                  .multiline = args.Flag("multiline"),
                  .max_lines = page.offset + page.limit};
  if (!stat.is_dir) query.file = where.path.substr(where.path.rfind('/') + 1);
  if (query.pattern.find('\0') != std::string::npos || query.glob.find('\0') != std::string::npos)
    return Fail(Code::kInvalid, "The pattern has a NUL byte in it.");
  return query;
}

/// The folder as it stands before a path of a result.
std::string Prefix(const std::string& folder, const Workspace& workspace) {
  if (folder == workspace.cwd) return "";
  const std::string shown = Shown(folder, workspace);
  return shown.ends_with('/') ? shown : shown + "/";
}

std::string Render(const GrepResult& result, const GrepQuery& query, const Page& page,
                   const Workspace& workspace) {
  const auto total = static_cast<std::int64_t>(result.lines.size());
  const std::string prefix = Prefix(query.folder, workspace);
  std::string text;
  for (std::int64_t i = page.offset; i < std::min(total, page.offset + page.limit); ++i) {
    std::string_view line = result.lines[static_cast<std::size_t>(i)];
    if (line.starts_with("./")) {
      line.remove_prefix(2);
      text += prefix;
    }
    (text += line) += '\n';
  }
  if (text.empty()) text = page.offset > 0 ? "(No more matches.)\n" : "(No matches.)\n";
  if (total > page.offset + page.limit)
    text += fmt::format("(There is more. Go on with offset={}.)\n", page.offset + page.limit);
  return text + result.note;
}

class GrepTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Grep"; }
  [[nodiscard]] std::string_view description() const override {
    return "Searches files for a regular expression, line by line, in the order of their paths.\n"
           "- output_mode: files (names of files that match, the default), content (matching "
           "lines, "
           "with -A, -B, -C lines of context), count (matching lines of each file).\n"
           "- path is a file or folder; the working directory unless given. glob (`*.cc`, "
           "`src/**`, `!*.min.js`) and type (`cpp`, `py`, `ts`) choose files.\n"
           "- The syntax has no look-around and no back-references; escape braces: `\\{`.\n"
           "- multiline lets a match go over line ends, and . match them.\n"
           "- Files that .gitignore names are left out. At most head_limit lines (200 unless "
           "given); go on with offset.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("pattern":{"type":"string","minLength":1,"description":"The regular expression."},)"
           R"("path":{"type":"string","description":"The file or folder to search."},)"
           R"("glob":{"type":"string","description":"Only files that match."},)"
           R"("type":{"type":"string","description":"Only files of this kind."},)"
           R"("output_mode":{"type":"string","enum":["files","content","count"]},)"
           R"("-A":{"type":"integer","minimum":0,"description":"Lines after each match."},)"
           R"("-B":{"type":"integer","minimum":0,"description":"Lines before each match."},)"
           R"("-C":{"type":"integer","minimum":0,"description":"Lines before and after."},)"
           R"("-i":{"type":"boolean","description":"Ignore case."},)"
           R"("-n":{"type":"boolean","description":"Line numbers; true unless given."},)"
           R"("multiline":{"type":"boolean"},)"
           R"("head_limit":{"type":"integer","minimum":1,"maximum":1000},)"
           R"("offset":{"type":"integer","minimum":0,"maximum":1000000}},)"
           R"("required":["pattern"],"additionalProperties":false})";
  }
  [[nodiscard]] bool reads_only() const override { return true; }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace& workspace) const override {
    ASSIGN_OR_RETURN(RealPath where, WhereOf(Args(args), workspace));
    Intent intent;
    intent.summary = "Grep " + Args(args).Text("pattern").value_or("");
    intent.reads.push_back(std::move(where.path));
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    const Result<GrepQuery> query = QueryOf(Args(args), call.workspace);
    if (!query) co_return Problem(query.error().Text());
    auto work = [&query](const CancelToken& cancel) {
      const std::string program = FindRipgrep();
      // Only our own engine leaves out what the project's rules exclude.
      const bool excludes = query->exclude && !query->exclude->empty();
      return program.empty() || excludes ? GrepHere(*query, cancel)
                                         : GrepWithRipgrep(program, *query, cancel);
    };
    const Result<GrepResult> found =
        co_await InThread<GrepResult>(call.loop, call.cancel, std::move(work));
    if (!found) co_return Problem(found.error().Text());
    co_return Say(Render(*found, *query, PageOf(Args(args)), call.workspace));
  }
};

}  // namespace

std::unique_ptr<Tool> MakeGrepTool() { return std::make_unique<GrepTool>(); }

}  // namespace stet::tool
