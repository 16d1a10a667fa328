#include "tool/checkpoint/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace stet::tool {
namespace {

constexpr std::string_view kGit = "git:";
constexpr std::uint32_t kAssumedMode = 0644;

const ManifestEntry* Find(const ManifestEntries* entries, const std::string& path) {
  if (entries == nullptr) return nullptr;
  const auto found = entries->find(path);
  return found == entries->end() ? nullptr : &found->second;
}

class Plan {
 public:
  explicit Plan(const UndoInputs& inputs) : in_(inputs) {}

  std::vector<UndoLine> Make() {
    FindEarlier();
    std::vector<UndoLine> lines;
    for (const std::string& path : Paths()) {
      UndoLine line{.path = path, .wanted = Wanted(path), .now = CopyOf(Find(&in_.now, path))};
      if (IsSame(line)) continue;
      Explain(line);
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  static OptionalEntry CopyOf(const ManifestEntry* entry) {
    return entry != nullptr ? OptionalEntry(*entry) : std::nullopt;
  }

  /// Of a file fact's path; nothing outside of the project.
  [[nodiscard]] std::optional<std::string> Relative(const std::string& path) const {
    const std::string below = in_.project + "/";
    if (!path.starts_with(below)) return std::nullopt;
    return path.substr(below.size());
  }

  /// How it was at the event where facts stand between it and the checkpoint.
  void FindEarlier() {
    for (std::size_t i = 0; i < in_.facts.size(); ++i) {
      const protocol::FileFact& fact = in_.facts[i];
      const std::optional<std::string> path = Relative(fact.path);
      if (!path) continue;
      by_path_[ReplaceInvalidUtf8(*path)].push_back(&fact);
      if (i >= in_.until_checkpoint) continue;
      earlier_.try_emplace(*path, EntryOf(*path, fact.before));
      // Folders that were made for a new file are gone without it.
      std::string folder = *path;
      for (std::int64_t made = fact.new_folders.value_or(0); made > 0; --made) {
        const std::size_t slash = folder.rfind('/');
        if (slash == std::string::npos) break;
        folder.resize(slash);
        earlier_.try_emplace(folder, std::nullopt);
        by_path_[ReplaceInvalidUtf8(folder)].push_back(&fact);
      }
    }
  }

  /// What a fact says was there: as a manifest has it, which knows the mode, or by its hash alone.
  [[nodiscard]] OptionalEntry EntryOf(const std::string& path,
                                      const std::optional<std::string>& id) const {
    if (!id) return std::nullopt;
    const ManifestEntry* some = nullptr;
    for (const ManifestEntries* entries : {in_.before, &in_.at, &in_.now}) {
      const ManifestEntry* entry = Find(entries, path);
      if (entry == nullptr) continue;
      if (FactIdOf(*entry) == id) return *entry;
      if (some == nullptr && entry->kind == ManifestKind::kFile) some = entry;
    }
    if (*id == "folder") return ManifestEntry{.kind = ManifestKind::kFolder, .mode = 0755};
    ManifestEntry entry;
    entry.mode = some != nullptr ? some->mode : kAssumedMode;
    // A link's target cannot be told from its hash: then nothing is known to be kept.
    if (id->starts_with(kGit))
      entry.kept = {.in = Kept::In::kGit, .id = id->substr(kGit.size())};
    else if (!id->starts_with("link:"))
      entry.kept = {.in = Kept::In::kCopies, .id = *id};
    return entry;
  }

  [[nodiscard]] std::set<std::string> Paths() const {
    std::set<std::string> paths;
    for (const auto& [path, entry] : earlier_) paths.insert(path);
    // Both are in order: what is in one and not, or otherwise, in the other.
    auto was = in_.at.begin();
    auto is = in_.now.begin();
    while (was != in_.at.end() || is != in_.now.end()) {
      const bool only_was = is == in_.now.end() || (was != in_.at.end() && was->first < is->first);
      const bool only_is = was == in_.at.end() || (is != in_.now.end() && is->first < was->first);
      if (only_was || only_is || !(was->second == is->second))
        paths.insert(only_is ? is->first : was->first);
      if (!only_is) ++was;
      if (!only_was) ++is;
    }
    return paths;
  }

  [[nodiscard]] OptionalEntry Wanted(const std::string& path) const {
    const auto earlier = earlier_.find(path);
    return earlier != earlier_.end() ? earlier->second : CopyOf(Find(&in_.at, path));
  }

  [[nodiscard]] bool IsSame(const UndoLine& line) {
    if (!line.wanted || !line.now) return !line.wanted && !line.now;
    if (line.wanted->IsSameAs(*line.now)) return true;
    if (line.wanted->kind != ManifestKind::kFile || line.now->kind != ManifestKind::kFile)
      return false;
    if (line.wanted->mode != line.now->mode) return false;
    const bool unknown =
        line.wanted->kept.in == Kept::In::kNowhere || line.now->kept.in == Kept::In::kNowhere;
    if (unknown) return line.wanted->LooksLike(*line.now);
    return SameId(FactIdOf(*line.wanted), FactIdOf(*line.now));
  }

  /// Whether both name the same content, however it is kept.
  bool SameId(const std::optional<std::string>& a, const std::optional<std::string>& b) {
    if (a == b) return true;
    if (!a || !b || a->starts_with(kGit) == b->starts_with(kGit)) return false;
    const std::string one = Plain(*a);
    return !one.empty() && one == Plain(*b);
  }

  std::string Plain(const std::string& id) {
    if (!id.starts_with(kGit)) return id;
    const auto [known, is_new] = plain_.try_emplace(id);
    if (is_new) known->second = in_.sha256_of_git(id.substr(kGit.size()));
    return known->second;
  }

  /// Who changed it; and whether their facts, one after the other, lead from what was there to what
  /// is there.
  void Explain(UndoLine& line) {
    // A log has texts: what is no UTF-8 in a name stands in its facts as something else.
    const std::string path = ReplaceInvalidUtf8(line.path);
    const auto found = by_path_.find(path);
    if (found == by_path_.end()) {
      line.unexplained = true;
      return;
    }
    std::optional<std::string> at = line.wanted ? FactIdOf(*line.wanted) : std::nullopt;
    for (const protocol::FileFact* fact : found->second) {
      if (fact->tool_call_id) {
        if (std::ranges::find(line.call_ids, *fact->tool_call_id) == line.call_ids.end())
          line.call_ids.push_back(*fact->tool_call_id);
      }
      // Of a folder that was made for a file, or a file that became a folder, the fact is
      // another's.
      line.unexplained = line.unexplained || fact->unsure.value_or(false);
      if (ReplaceInvalidUtf8(Relative(fact->path).value_or("")) != path || Changes(line)) continue;
      line.unexplained = line.unexplained || !SameId(at, fact->before);
      at = fact->after;
    }
    const protocol::FileFact& last = *found->second.back();
    if (ReplaceInvalidUtf8(Relative(last.path).value_or("")) != path || Changes(line)) return;
    const std::optional<std::string> now = line.now ? FactIdOf(*line.now) : std::nullopt;
    // A restore says what it will do before it does it, and may have been killed in between.
    const bool not_done = !last.tool_call_id && SameId(last.before, now);
    line.unexplained = line.unexplained || (!not_done && !SameId(at, now));
  }

  /// A folder is, or was, there: its facts say no more than that.
  static bool Changes(const UndoLine& line) {
    return (line.wanted && line.wanted->kind == ManifestKind::kFolder) ||
           (line.now && line.now->kind == ManifestKind::kFolder);
  }

  const UndoInputs& in_;
  std::map<std::string, OptionalEntry> earlier_;
  std::map<std::string, std::vector<const protocol::FileFact*>> by_path_;
  std::map<std::string, std::string> plain_;
};

}  // namespace

std::vector<UndoLine> PlanUndo(const UndoInputs& inputs) { return Plan(inputs).Make(); }

}  // namespace stet::tool
