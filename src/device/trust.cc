#include "device/trust.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "config/toml.h"
#include "json/view.h"
#include "tool/git/programs.h"

namespace stet::device {

/// One line of trust.json.
struct TrustEntry {
  STET_FIELDS(TrustEntry,
              (protocol::Text, project),
              (protocol::Text, fingerprint),
              (protocol::Text, git),  // The fingerprint of the part "git", which changes alone.
              (protocol::Texts, parts),
              (std::int64_t, at))  // When, in milliseconds.
};
using TrustEntries = std::vector<TrustEntry>;

struct TrustBook {
  STET_FIELDS(TrustBook, (TrustEntries, projects))
};

namespace {

constexpr std::size_t kMaxFiles = 2000;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr int kMaxDepth = 16;

Result<TrustBook> ReadTrust(const config::Roots& roots) {
  const Result<std::string> text = ReadFile(roots.trust());
  if (!text && text.error().code == Code::kNotFound) return TrustBook();
  if (!text) return std::unexpected(text.error());
  Result<TrustBook> book = Decode<TrustBook>(*text);
  if (!book)
    return Fail(
        Code::kCorrupt,
        fmt::format("{} is damaged: remove it, and trust your projects again", roots.trust()));
  return book;
}

/// Names and contents of everything that trust is about.
class Fingerprint {
 public:
  Status AddTree(const std::string& folder, const std::string& name, int depth) {
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries) return {};
    if (depth > kMaxDepth) return TooMuch();
    for (const DirEntry& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      const std::string shown = name + "/" + entry.name;
      // What a link to a folder leads to acts as well.
      const bool link = entry.kind == EntryKind::kSymlink;
      const Result<FileStat> there = link ? StatFile(path) : FileStat();
      if (entry.kind == EntryKind::kDir || (link && there && there->is_dir))
        RETURN_IF_ERROR(AddTree(path, shown, depth + 1));
      else
        RETURN_IF_ERROR(AddFile(path, shown));
    }
    return {};
  }

  Status AddFile(const std::string& path, const std::string& name) {
    const Result<FileStat> stat = StatFile(path);
    if (!stat) return {};
    if (++files_ > kMaxFiles || stat->size > kMaxBytes - bytes_) return TooMuch();
    std::string content;
    if (stat->is_file) {
      ASSIGN_OR_RETURN(content, ReadFile(path, kMaxBytes));
    }
    bytes_ += std::min(content.size(), kMaxBytes - bytes_);
    all_.Update(fmt::format("{}\n{} {:o}\n", name, Sha256Hex(content), stat->mode));
    return {};
  }

  void AddText(std::string_view text) { all_.Update(text); }

  std::string Finish() { return all_.FinishHex(); }

 private:
  static Status TooMuch() {
    return Fail(Code::kInvalid,
                fmt::format("the project's .stet folder has more than {} files or {} MB: too much "
                            "to be looked at, so nothing of it is used",
                            kMaxFiles, kMaxBytes >> 20U));
  }

  Sha256 all_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
};

/// What stands in the project's file, by section. Nothing of it is taken for more than a name.
Result<std::vector<std::string>> SectionsOf(const std::string& project, const std::string& path) {
  std::vector<std::string> sections;
  const Result<std::string> text = ReadWithin(project, path, std::size_t{1} << 20U);
  if (!text && text.error().code == Code::kNotFound) return sections;
  if (!text) return std::unexpected(text.error());
  ASSIGN_OR_RETURN(const config::TomlText toml, config::ReadToml(*text, path));
  JsonView(toml.json).ForEachMember([&](std::string_view name, const JsonView& value) {
    const bool loosens = name != "policy" || value["mode"].is_string() || value["allow"].is_array();
    if (loosens) sections.emplace_back(name);
  });
  return sections;
}

std::string_view PartOf(std::string_view section) {
  if (section == "model" || section == "models") return "model";
  if (section == "hooks" || section == "mcp" || section == "extensions") return section;
  return "config";
}

void Bring(protocol::TrustReport& report, std::string_view part, const std::string& what) {
  const auto row = std::ranges::find(report.parts, part, &protocol::TrustRow::part);
  if (!row->what.empty()) row->what += ", ";
  row->what += what;
}

/// What git would run because the project's own repository says so.
tool::GitPrograms ProgramsOf(const std::string& project) {
  tool::GitPrograms programs = tool::FindGitPrograms(project);
  return programs.root == project ? programs : tool::GitPrograms();
}

bool IsEmpty(const tool::GitPrograms& programs) {
  return programs.settings.empty() && programs.hooks.empty();
}

void BringGit(protocol::TrustReport& report, const tool::GitPrograms& programs) {
  constexpr std::size_t kShown = 5;
  std::size_t count = 0;
  for (const auto* all : {&programs.settings, &programs.hooks}) {
    for (const tool::GitProgram& one : *all)
      if (++count <= kShown) Bring(report, "git", tool::Text(one, report.project));
  }
  if (count > kShown) Bring(report, "git", fmt::format("{} more", count - kShown));
}

/// Covers the programs that the repository names, not all that git keeps there: that changes with
/// every branch.
Result<std::string> GitFingerprint(const tool::GitPrograms& programs) {
  if (IsEmpty(programs)) return "";
  Fingerprint print;
  for (const tool::GitProgram& one : programs.settings)
    print.AddText(fmt::format("{}\n{}\n{}\n", one.file, one.what, one.value));
  for (const tool::GitProgram& one : programs.hooks) {
    print.AddText(fmt::format("{}\n{}\n{}\n", one.file, one.what, one.value));
    if (one.value.empty()) RETURN_IF_ERROR(print.AddFile(one.file, one.file));
  }
  return print.Finish();
}

Status LookAt(const std::string& project, protocol::TrustReport& report) {
  for (const std::string_view part : kTrustParts) report.parts.emplace_back().part = part;
  const std::string folder = project + "/.stet";
  ASSIGN_OR_RETURN(const std::vector<std::string> sections,
                   SectionsOf(project, folder + "/config.toml"));
  for (const std::string& section : sections)
    Bring(report, PartOf(section), fmt::format("[{}] in .stet/config.toml", section));
  if (const Result<std::vector<DirEntry>> found = ListDir(folder + "/extensions")) {
    for (const DirEntry& entry : *found)
      if (StatFile(fmt::format("{}/extensions/{}/extension.toml", folder, entry.name)))
        Bring(report, "extensions", ".stet/extensions/" + entry.name);
  }
  if (StatFile(project + "/.mcp.json")) Bring(report, "mcp", ".mcp.json");
  Fingerprint print;
  RETURN_IF_ERROR(print.AddTree(folder, ".stet", 0));
  RETURN_IF_ERROR(print.AddFile(project + "/.mcp.json", ".mcp.json"));
  report.fingerprint = print.Finish();
  return {};
}

}  // namespace

Result<protocol::TrustReport> ReadTrust(const config::Roots& roots, const std::string& project) {
  protocol::TrustReport report;
  report.project = project;
  const tool::GitPrograms programs = ProgramsOf(project);
  // Most projects bring nothing: one look is enough.
  if (IsEmpty(programs) && !StatFile(project + "/.stet") && !StatFile(project + "/.mcp.json"))
    return report;
  RETURN_IF_ERROR(LookAt(project, report));
  BringGit(report, programs);
  ASSIGN_OR_RETURN(const TrustBook book, ReadTrust(roots));
  const auto entry = std::ranges::find(book.projects, project, &TrustEntry::project);
  if (entry == book.projects.end()) return report;
  report.changed = entry->fingerprint != report.fingerprint && !entry->parts.empty();
  ASSIGN_OR_RETURN(const std::string git, GitFingerprint(programs));
  for (protocol::TrustRow& row : report.parts) {
    const bool same = row.part == "git" ? entry->git == git : !report.changed;
    row.trusted = same && !row.what.empty() &&
                  std::ranges::find(entry->parts, row.part) != entry->parts.end();
  }
  return report;
}

bool Trusts(const protocol::TrustReport& report, std::string_view part) {
  const auto row = std::ranges::find(report.parts, part, &protocol::TrustRow::part);
  return row != report.parts.end() && row->trusted;
}

Status SetTrust(const config::Roots& roots, const std::string& project,
                const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (std::ranges::find(kTrustParts, part) == std::end(kTrustParts))
      return Fail(Code::kInvalid,
                  fmt::format("{} cannot be trusted: say {}", part, fmt::join(kTrustParts, ", ")));
  }
  ASSIGN_OR_RETURN(const protocol::TrustReport report, ReadTrust(roots, project));
  ASSIGN_OR_RETURN(TrustBook book, ReadTrust(roots));
  std::erase_if(book.projects, [&](const TrustEntry& entry) { return entry.project == project; });
  if (!parts.empty()) {
    TrustEntry& entry = book.projects.emplace_back();
    entry.project = project;
    entry.fingerprint = report.fingerprint;
    ASSIGN_OR_RETURN(entry.git, GitFingerprint(ProgramsOf(project)));
    entry.parts = parts;
    entry.at = SystemClock().Now();
  }
  RETURN_IF_ERROR(MakeDirs(roots.data));
  return ReplaceFile(roots.trust(), Encode(book) + "\n", Durable::kYes);
}

}  // namespace stet::device
