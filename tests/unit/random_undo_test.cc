// Random destructive scripts in a project, while the user edits it too: whatever they did, the
// files that undo covers are as before afterwards, by content, mode, link and folder; and what was
// not covered is said to be so.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "tests/scale.h"
#include "tool/checkpoint/checkpoints.h"
#include "tool/checkpoint/plan.h"
#include "tool/checkpoint/put_back.h"
#include "tool/shell/facts.h"

namespace stet::tool {
namespace {

constexpr const char* kCommit =
    "git rev-parse -q --git-dir && [ -d .git/objects ] || { rm -rf .git; git init -q .; }; "
    "git add -A; git -c user.name=n -c user.email=e commit -qm x --allow-empty";

/// Everything that undo promises of a tree: by path, the kind, mode and content.
using Tree = std::map<std::string, std::string>;

Tree TreeOf(const std::string& root) {
  Tree tree;
  for (auto at = std::filesystem::recursive_directory_iterator(root);
       at != std::filesystem::recursive_directory_iterator(); ++at) {
    struct stat facts{};
    const std::string path = at->path().string();
    if (::lstat(path.c_str(), &facts) != 0) continue;
    if (at->path().filename() == ".git") {
      at.disable_recursion_pending();
      continue;
    }
    std::string what = fmt::format("{:o} ", facts.st_mode);
    if (S_ISREG(facts.st_mode)) what += Sha256Hex(ReadFile(path).value_or("?"));
    if (S_ISLNK(facts.st_mode)) what = "link " + std::filesystem::read_symlink(at->path()).string();
    if (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode) || S_ISDIR(facts.st_mode))
      tree[path.substr(root.size() + 1)] = what;
  }
  return tree;
}

/// With a repository in the project, or without.
class RandomUndoTest : public testing::TestWithParam<bool> {
 protected:
  /// Names that are hard: a newline, a blank, a beginning dash, bytes that are no UTF-8.
  std::string Name() {
    static const std::vector<std::string> kNames = {
        "a", "b", "c d", "-e", "f\ng", "\xFFh", "node_modules", ".env", "%20"};
    return kNames[random_.Next() % kNames.size()];
  }
  std::string Path() {
    std::string path = Name();
    for (std::uint64_t depth = random_.Next() % 3; depth > 0; --depth) path += "/" + Name();
    return path;
  }
  static std::string Quoted(const std::string& text) { return "$'" + Escaped(text) + "'"; }
  static std::string Escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return out;
  }

  std::string Line() {
    const std::string one = Quoted("./" + Path());
    const std::string other = Quoted("./" + Path());
    switch (random_.Next() % (GetParam() ? 20 : 16)) {
      case 0: return "rm -rf " + one;
      case 1: return "mv " + one + " " + other;
      case 2: return ": > " + one;
      case 3: return "sed -i 's/a/b/' " + one;
      case 4: return "ln -s " + other + " " + one;
      case 5: return "ln " + other + " " + one;
      case 6: return fmt::format("chmod {:o} {}", 0500 + random_.Next() % 0300, one);
      case 7: return "mkdir -p " + one;
      case 8: return "rm -rf " + one + "; mkdir -p " + one + "; echo x > " + one + "/x";
      case 9: return "rm -rf " + one + "; echo y > " + one;
      case 10: return fmt::format("truncate -s {} {}", random_.Next() % 100'000, one);
      case 11: return fmt::format("head -c {} /dev/urandom > {}", random_.Next() % 5000, one);
      case 12: return "cp -a " + one + " " + other;
      case 13: return "touch " + one;
      case 14: return "rmdir " + one;
      case 16: return "git add -A";
      case 17: return "git commit -qam x";
      case 18: return "git checkout -q HEAD~" + std::to_string(random_.Next() % 3) + " -- .";
      case 19: return random_.Next() % 3 == 0 ? "rm -rf .git/objects" : "git gc -q --prune=now";
      default: return fmt::format("echo {} >> {}", random_.Next(), one);
    }
  }

  void Run(const std::string& script) {
    const auto ran =
        Subprocess::Run({.argv = {"bash", "-c", "exec 2>/dev/null\n" + script}, .cwd = project_},
                        Deadline::After(std::chrono::seconds(20)), {});
    ASSERT_TRUE(ran) << ran.error().Text();
  }

  static std::string NameOf(const std::map<std::string, std::string>& names,
                            const std::string& id) {
    const auto found = names.find(id);
    return found != names.end() ? found->second : "";
  }

  Seen Look() { return loop_.RunUntilDone(checkpoints_->Look(view_, loop_, {})).value(); }

  Random random_{11};
  TempDir temp_;
  Loop loop_;
  std::string project_ = temp_.Sub("project");
  std::shared_ptr<ProjectView> view_;
  std::unique_ptr<Checkpoints> checkpoints_;
};

TEST_P(RandomUndoTest, AnyScriptIsUndoneToTheByte) {
  std::size_t from_git = 0;
  for (int round = 0; round < TestScale().undo_scripts; ++round) {
    if (round % 25 == 0) {
      ASSERT_TRUE(RemoveTree(project_));
      ASSERT_TRUE(MakeDirs(project_));
      if (GetParam()) Run("git init -q .");
      view_ = std::make_shared<ProjectView>(project_, std::vector<std::string>{".git"});
      checkpoints_ = std::make_unique<Checkpoints>(Checkpoints::Setup{
          .store = temp_.Sub("copies"), .session = temp_.Sub(fmt::format("kept{}", round))});
    }
    for (int i = 0; i < 3; ++i) Run(Line());  // The user's.
    if (GetParam()) Run(kCommit);
    const Tree before = TreeOf(project_);
    const auto taken = loop_.RunUntilDone(checkpoints_->Take(view_, "command", loop_, {}));
    ASSERT_TRUE(taken) << taken.error().Text();
    ASSERT_TRUE(checkpoints_->not_covered().paths.empty());
    const ManifestEntries at =
        Checkpoints::Read(checkpoints_->copies(), taken->event.manifest).value();

    std::string script;
    for (std::uint64_t lines = random_.Next() % 8; lines > 0; --lines) script += Line() + "\n";
    Run(script);
    const std::vector<protocol::FileFact> facts =
        FactsOf(project_, Look().changes, KnownFiles(), "call_1");

    std::vector<GitContent> ids;
    for (const auto* entries : {&at, &checkpoints_->entries()}) {
      for (const auto& [path, entry] : *entries)
        if (entry.kept.in == Kept::In::kGit) ids.push_back({.path = path, .id = entry.kept.id});
    }
    for (const auto& [path, entry] : at) from_git += entry.kept.in == Kept::In::kGit ? 1 : 0;
    const auto plain = checkpoints_->NamesOfGit(project_, ids, true);
    const std::vector<UndoLine> plan =
        PlanUndo({.project = project_,
                  .at = at,
                  .now = checkpoints_->entries(),
                  .before = nullptr,
                  .facts = facts,
                  .until_checkpoint = 0,
                  .sha256_of_git = [&](const std::string& id) { return NameOf(plain, id); }});
    for (const UndoLine& line : plan) {
      EXPECT_FALSE(line.unexplained) << round << " " << line.path << "\n" << script;
      EXPECT_EQ(line.call_ids, std::vector<std::string>{"call_1"}) << line.path;
    }
    const std::vector<PutBackLine> done =
        PutBack({.project = project_, .lines = plan, .content = [&](const Kept& kept) {
                   const bool git = kept.in == Kept::In::kGit;
                   return checkpoints_->copies().Read(git ? NameOf(plain, kept.id) : kept.id);
                 }});
    for (std::size_t i = 0; i < done.size(); ++i)
      EXPECT_TRUE(done[i].restored) << round << " " << plan[i].path << ": " << done[i].why << "\n"
                                    << script;
    ASSERT_EQ(TreeOf(project_), before) << round << "\n" << script;
    if (HasFailure()) return;
    (void)Look();
  }
  EXPECT_EQ(from_git > 0, GetParam()) << "what git has is not copied";
}

INSTANTIATE_TEST_SUITE_P(, RandomUndoTest, testing::Bool(), [](const auto& with_git) {
  return with_git.param ? "InARepository" : "WithoutARepository";
});

}  // namespace
}  // namespace stet::tool
