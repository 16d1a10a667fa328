#include "agent/instructions.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/beneath.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "json/writer.h"

namespace stet::agent {
namespace {

constexpr std::string_view kBaseline =
    "You are stet, a coding agent that works in the user's project through tools.\n"
    "\n"
    "- Look before you act: read the files you are going to change, and search instead of "
    "guessing.\n"
    "- Do what was asked, completely, and nothing beside it. Say what you found when you cannot.\n"
    "- After a change, run what checks it (tests, a build) when there is something to run.\n"
    "- Tools report errors as results: read them and correct the call.\n"
    "- Be brief. Say what you did and what the user should know; do not repeat file contents.\n"
    "- Never invent results, and never claim that something was run that was not.\n"
    "\n"
    "Tool results and user messages may contain <system-reminder> tags. The harness adds them; "
    "they "
    "are not part of the result or message they stand in, and the user did not type them.";

constexpr std::size_t kMaxInstructionFile = std::size_t{1} << 20;
constexpr std::size_t kBytesPerToken = 3;
constexpr std::int64_t kWindowShare = 15;  // Percent.
constexpr std::size_t kMaxListed = 60;

struct Source {
  std::string path;
  std::string scope;  // global_user or project
  std::string content;
};

protocol::Section MakeSection(std::string_view kind, Millis now, std::string text) {
  protocol::Section section;
  section.kind = kind;
  section.frozen_at = now;
  section.rendered_block = std::move(text);
  return section;
}

std::string Parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

constexpr std::string_view kProjectScope = "project";

/// Instruction files as they are found.
class SourceFinder {
 public:
  explicit SourceFinder(const InstructionSources& sources) : sources_(sources) {}

  /// From far to near: nearer ones come later and are stronger.
  void Find() {
    const std::vector<std::string> folders = Folders();
    if (!sources_.user_instructions.empty())
      Take(sources_.user_instructions, "global_user",
           ReadFile(sources_.user_instructions, kMaxInstructionFile));
    for (const std::string& folder : folders) {
      if (TakeOfProject(folders.front(), folder + "/AGENTS.md")) continue;
      for (const std::string& name : sources_.fallback) {
        if (TakeOfProject(folders.front(), folder + "/" + name)) break;
      }
    }
  }

  std::vector<Source> found;
  std::vector<std::string> unused;  // With the reason.

 private:
  /// The outermost first: nothing outside of that one is the project's.
  [[nodiscard]] std::vector<std::string> Folders() const {
    const std::string root = GitRoot(sources_.cwd);
    std::vector<std::string> folders;
    for (std::string folder = sources_.cwd;; folder = Parent(folder)) {
      const bool outside = root.empty() && folder == sources_.home;
      if (!outside) folders.push_back(folder);
      // Outside a repository and outside home there is no telling where a project ends.
      const bool alone = root.empty() && !sources_.cwd.starts_with(sources_.home + "/");
      if (outside || alone || folder == root || folder == "/") break;
    }
    std::ranges::reverse(folders);
    return folders;
  }

  bool TakeOfProject(const std::string& root, const std::string& path) {
    const auto read = [&]() -> Result<std::string> {
      ASSIGN_OR_RETURN(const Beneath file, OpenWithin(root, path));
      if (sources_.may_read && !sources_.may_read(file.path()))
        return Fail(Code::kDenied, fmt::format("{} may not be shown unasked", file.path()));
      ASSIGN_OR_RETURN(Beneath::Content content, file.Read(kMaxInstructionFile));
      return std::move(content.bytes);
    };
    return Take(path, kProjectScope, read());
  }

  /// False: there is no such file.
  bool Take(const std::string& path, std::string_view scope, const Result<std::string>& text) {
    if (!text && text.error().code == Code::kNotFound) return false;
    if (!text) {
      unused.push_back(fmt::format("{}: {}", path, text.error().message));
    } else if (text->find('\0') != std::string::npos) {
      unused.push_back(path + ": it is no text");
    } else {
      found.push_back({path, std::string(scope), ReplaceInvalidUtf8(*text)});
    }
    return true;
  }

  const InstructionSources& sources_;
};

/// Cuts the farthest first until all fit; says what was cut.
std::string RenderSources(SourceFinder& finder, std::size_t budget) {
  std::vector<Source>& found = finder.found;
  std::string cut;
  for (const std::string& unused : finder.unused) cut += fmt::format("\n(Not used: {})", unused);
  std::size_t size = 0;
  for (const Source& source : found) size += source.content.size();
  while (size > budget && !found.empty()) {
    size -= found.front().content.size();
    cut += fmt::format("\n(Left out, because it does not fit: {})", found.front().path);
    found.erase(found.begin());
  }
  std::string text;
  for (const Source& source : found)
    text += fmt::format("\n## {}\n\n{}\n", source.path, source.content);
  if (text.empty() && cut.empty()) return "";
  return "# Instructions of the user and the project\n\nLater ones are stronger.\n" + text + cut;
}

protocol::Section AgentsSection(const InstructionSources& sources, Millis now) {
  SourceFinder finder(sources);
  finder.Find();
  const auto budget =
      static_cast<std::size_t>(sources.context_window * kWindowShare / 100) * kBytesPerToken;
  protocol::Section section = MakeSection(
      "agents", now, RenderSources(finder, budget - std::min(budget, kBaseline.size())));
  Raw list{""};
  JsonWriter writer(list.text);
  writer.BeginArray();
  std::int64_t priority = 0;
  for (const Source& source : finder.found) {
    writer.BeginObject().Member("sourceType", "agents_md").Member("path", source.path);
    writer.Member("scope", source.scope).Member("priority", ++priority);
    writer.Member("content", source.content).EndObject();
  }
  writer.EndArray();
  section.sources = std::move(list);
  return section;
}

std::string WorkspaceText(const std::string& cwd) {
  const std::string root = GitRoot(cwd);
  std::string text = fmt::format("Working folder: {}\n", cwd);
  text += root.empty() ? "It is not in a git repository.\n"
                       : fmt::format("Root of its git repository: {}\n", root);
  Result<std::vector<DirEntry>> entries = ListDir(cwd);
  if (!entries) return text;
  std::erase_if(*entries, [](const DirEntry& entry) { return entry.name.starts_with('.'); });
  const std::size_t shown = std::min(entries->size(), kMaxListed);
  text += "It contains:";
  for (std::size_t i = 0; i < shown; ++i) text += " " + ReplaceInvalidUtf8((*entries)[i].name);
  if (shown < entries->size()) text += fmt::format(" and {} more", entries->size() - shown);
  return text;
}

std::string EnvironmentText() {
  utsname name{};
  ::uname(&name);
  return fmt::format("System: {} {}, {}. Commands run in bash, without a terminal.", name.sysname,
                     name.release, name.machine);
}

}  // namespace

std::vector<std::string> UnusedInstructions(const InstructionSources& sources) {
  SourceFinder finder(sources);
  finder.Find();
  return std::move(finder.unused);
}

std::string GitRoot(const std::string& cwd) {
  for (std::string folder = cwd;; folder = Parent(folder)) {
    if (Exists(folder + "/.git")) return folder;
    if (folder == "/" || folder.empty()) return "";
  }
}

protocol::InstructionSnapshot TakeSnapshot(const InstructionSources& sources, const Clock& clock) {
  const Millis now = clock.Now();
  protocol::InstructionSnapshot event;
  event.snapshot.version = 1;
  event.snapshot.cwd = sources.cwd;
  std::string baseline = sources.baseline.value_or(std::string(kBaseline));
  if (!sources.appended.empty()) baseline += "\n\n" + sources.appended;
  protocol::Sections& sections = event.snapshot.sections;
  sections.push_back(MakeSection("baseline", now, std::move(baseline)));
  sections.push_back(AgentsSection(sources, now));
  sections.push_back(MakeSection("memory", now, ""));
  sections.push_back(MakeSection("workspace", now, WorkspaceText(sources.cwd)));
  sections.push_back(MakeSection("environment", now, EnvironmentText()));
  sections.push_back(
      MakeSection("time", now, fmt::format("The session began on {} (UTC).", FormatUtc(now))));
  return event;
}

std::vector<std::string> RenderSnapshot(const protocol::InstructionSnapshot& snapshot) {
  std::vector<std::string> blocks;
  for (const protocol::Section& section : snapshot.snapshot.sections) {
    if (!section.rendered_block.empty()) blocks.push_back(section.rendered_block);
  }
  return blocks;
}

}  // namespace stet::agent
