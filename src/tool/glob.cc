// Glob: the files whose paths match a pattern.
#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/wildcard.h"
#include "tool/args.h"
#include "tool/builtin.h"
#include "tool/in_thread.h"
#include "tool/paths.h"
#include "tool/walk.h"

namespace stet::tool {

namespace {

struct Search {
  std::string folder;  // A real path.
  std::string project;
  Glob glob;
  std::shared_ptr<const IgnoreFile> exclude;
  std::int64_t offset = 0;
  std::int64_t limit = kDefaultHeadLimit;
};

struct Found {
  std::vector<std::string> paths;  // Relative to the folder.
  bool more = false;
};

Result<Search> SearchOf(const Args& args, const Workspace& workspace) {
  const std::string text = args.Text("path").value_or("");
  ASSIGN_OR_RETURN(const RealPath folder, Resolve(text.empty() ? "." : text, workspace));
  ASSIGN_OR_RETURN(Glob glob, Glob::Parse(args.Text("pattern").value_or("")));
  return Search{.folder = folder.path,
                .project = workspace.project,
                .glob = std::move(glob),
                .exclude = workspace.exclude,
                .offset = std::max<std::int64_t>(args.Int("offset").value_or(0), 0),
                .limit = HeadLimit(args)};
}

Result<Found> Find(const Search& search, const CancelToken& cancel) {
  Found found;
  std::int64_t matched = 0;
  RETURN_IF_ERROR(WalkFiles({search.folder, search.project, nullptr, search.exclude.get()}, cancel,
                            [&](const std::string& path, bool) {
                              if (!search.glob.Matches(path)) return true;
                              ++matched;
                              if (matched <= search.offset) return true;
                              found.more = matched > search.offset + search.limit;
                              if (!found.more) found.paths.push_back(path);
                              return !found.more;
                            }));
  return found;
}

class GlobTool final : public Tool {
 public:
  [[nodiscard]] std::string_view name() const override { return "Glob"; }
  [[nodiscard]] std::string_view description() const override {
    return "Lists files whose paths match a pattern, sorted by path.\n"
           "- `*`, `?`, `[abc]`, `{a,b}`, and `**` for any number of folders. A pattern without a "
           "slash matches names at any depth: `*.cc`; with one it starts at path: `src/**/*.h`.\n"
           "- path is the folder to search; the working directory unless given.\n"
           "- Files that .gitignore names are left out.\n"
           "- At most head_limit files (200 unless given); go on with offset.";
  }
  [[nodiscard]] std::string_view schema() const override {
    return R"({"type":"object","properties":{)"
           R"("pattern":{"type":"string","minLength":1,"description":"The pattern."},)"
           R"("path":{"type":"string","description":"The folder to search."},)"
           R"("head_limit":{"type":"integer","minimum":1,"maximum":1000,)"
           R"("description":"How many files at most."},)"
           R"("offset":{"type":"integer","minimum":0,"description":"How many files to pass over."}},)"
           R"("required":["pattern"],"additionalProperties":false})";
  }
  [[nodiscard]] bool reads_only() const override { return true; }

  [[nodiscard]] Result<Intent> Intend(const Raw& args, const Workspace& workspace) const override {
    ASSIGN_OR_RETURN(Search search, SearchOf(Args(args), workspace));
    Intent intent;
    intent.summary = "Glob " + Args(args).Text("pattern").value_or("");
    intent.reads.push_back(std::move(search.folder));
    return intent;
  }

  Async<Outcome> Run(const Raw& args, Call& call) override {
    Result<Search> search = SearchOf(Args(args), call.workspace);
    if (!search) co_return Problem(search.error().Text());
    const auto stat = StatFile(search->folder);
    if (!stat || !stat->is_dir)
      co_return Problem(fmt::format("{} is not a folder.", search->folder));
    auto work = [&search](const CancelToken& cancel) { return Find(*search, cancel); };
    const Result<Found> found = co_await InThread<Found>(call.loop, call.cancel, std::move(work));
    if (!found) co_return Problem(found.error().Text());
    co_return Say(Render(*search, *found, call.workspace));
  }

 private:
  static std::string Render(const Search& search, const Found& found, const Workspace& workspace) {
    if (found.paths.empty())
      return search.offset > 0 ? "(No more files match.)" : "(No files match.)";
    std::string text;
    const std::string prefix = search.folder == "/" ? "/" : search.folder + "/";
    for (const std::string& path : found.paths) text += Shown(prefix + path, workspace) + "\n";
    if (found.more)
      text +=
          fmt::format("(More files match. Go on with offset={}.)\n", search.offset + search.limit);
    return text;
  }
};

}  // namespace

std::unique_ptr<Tool> MakeGlobTool() { return std::make_unique<GlobTool>(); }

}  // namespace stet::tool
