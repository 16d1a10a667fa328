// Every tool, in every mode, under the rules of every source, with every way to call a file by
// another name: what is denied is denied, what is asked is not done unasked, and ordinary files
// stay ordinary. The paths are real ones on a disk.
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/question.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/temp_dir.h"
#include "json/writer.h"
#include "policy/policy.h"
#include "tool/builtin.h"
#include "tool/registry.h"
#include "tool/tool.h"

namespace stet::agent {
namespace {

namespace fs = std::filesystem;
using policy::Mode;
using policy::Source;
using policy::Verdict;

constexpr std::array kModes = {Mode::kDefault, Mode::kAcceptEdits, Mode::kAuto,
                               Mode::kPlan,    Mode::kDontAsk,     Mode::kBypass};
constexpr std::array kSources = {Source::kCommandLine, Source::kSession, Source::kLocal,
                                 Source::kUser,        Source::kProject, Source::kManaged};

/// What must never be allowed of a file, by whichever tool and under whichever name.
struct Target {
  const char* path;  // In the world.
  bool read_denied = false;
  bool write_denied = false;
  bool read_asked = false;   // Unless everything is let happen.
  bool write_asked = false;  // Even then.
  bool ruled = false;        // By a rule of one of the sources.
};

constexpr std::array kTargets = {
    Target{.path = "project/private/p.txt", .read_denied = true, .write_denied = true},
    Target{
        .path = "project/denied/d.txt", .read_denied = true, .write_denied = true, .ruled = true},
    Target{.path = "stet/vault", .read_denied = true, .write_denied = true},
    Target{.path = "stet/sessions/s/events.jsonl", .write_denied = true, .read_asked = true},
    Target{.path = "stet/config.toml", .write_denied = true, .read_asked = true},
    Target{.path = "outside/o.txt", .read_asked = true},
    Target{.path = "project/.git/hooks/pre-commit", .write_asked = true},
    Target{.path = "project/.git/config", .write_asked = true},
    Target{.path = "home/.bashrc", .read_asked = true, .write_asked = true},
    Target{.path = "home/.ssh/id_ed25519", .read_asked = true, .write_asked = true},
    Target{.path = "project/.env", .read_asked = true},
    Target{.path = "project/src/a.txt"},
};

class PermissionMatrixTest : public testing::Test {
 protected:
  PermissionMatrixTest() {
    for (const Target& target : kTargets) {
      EXPECT_TRUE(MakeDirs(ParentDir(At(target.path))));
      EXPECT_TRUE(ReplaceFile(At(target.path), "x\n", Durable::kNo));
    }
    workspace_.project = workspace_.cwd = At("project");
    for (auto& tool : tool::BuiltinTools({.variables = ProcessVariables({}), .shells = shells_}))
      EXPECT_TRUE(tools_.Add(std::move(tool)));
    MakeAliases();
  }

  [[nodiscard]] std::string At(std::string_view name) const { return temp_.Sub(name); }

  void Link(const std::string& name, const std::string& to) {
    const std::string path = At("project/" + name);
    EXPECT_TRUE(MakeDirs(ParentDir(path)));
    EXPECT_EQ(::symlink(to.c_str(), path.c_str()), 0) << name;
  }

  /// Ways to call the file at a real path something else.
  void MakeAliases() {
    const std::string project = At("project");
    const auto relative = [project](const std::string& path) {
      return fs::path(path).lexically_relative(project).string();
    };
    const auto add = [&](std::function<std::string(const std::string&)> alias) {
      aliases_.push_back(std::move(alias));
    };
    add([](const std::string& path) { return path; });
    add([=](const std::string& path) { return relative(path); });
    add([=](const std::string& path) { return "./" + relative(path); });
    add([=](const std::string& path) { return "src/../" + relative(path); });
    add([=](const std::string& path) { return "src//..//" + relative(path); });
    add([](const std::string& path) { return "/" + path; });
    add([](const std::string& path) { return "/." + path; });
    add([](const std::string& path) { return "/tmp/.." + path; });
    add([=](const std::string& path) { return project + "/nowhere/../" + relative(path); });
    add([](const std::string& path) { return ParentDir(path) + "/./" + Name(path); });
    add([](const std::string& path) { return ParentDir(path) + "//" + Name(path); });
    add([=](const std::string& path) {
      std::string dots;
      for (int i = 0; i < 100; ++i) dots += "./";
      return dots + relative(path);
    });
    add([=](const std::string& path) { return "../project/" + relative(path); });
    add([](const std::string& path) { return "/proc/self/root" + path; });
    add([](const std::string& path) { return "/proc/thread-self/root" + path; });
    add([](const std::string& path) { return fmt::format("/proc/{}/root{}", ::getpid(), path); });
    add([=](const std::string& path) { return "/proc/self/cwd/" + relative(path); });
    const std::string magic = "/proc/self/root";
    add([magic](const std::string& path) { return magic + magic + path; });
    Link("root", "/");
    add([](const std::string& path) { return "root" + path; });
    Link("up", "..");
    add([this](const std::string& path) { return "up/" + path.substr(temp_.path().size() + 1); });
    add([this](const std::string& path) {
      return "up/project/up/" + path.substr(temp_.path().size() + 1);
    });
    Link("a/b/c/far", "../../../..");
    add([this](const std::string& path) {
      return "a/b/c/far/" + path.substr(temp_.path().size() + 1);
    });
    Link("elsewhere", At("outside/deep"));
    EXPECT_TRUE(MakeDirs(At("outside/deep")));
    // Through a link, ".." is the other folder's.
    add([this](const std::string& path) {
      return "elsewhere/../../" + path.substr(temp_.path().size() + 1);
    });
    // A link of its own for each file, by many names.
    for (const std::string name :
         {"README.md", "with blank", "line\nend", "\xE6\x96\x87\xE4\xBB\xB6", "-rf", "qu'ote",
          "star*", "$HOME", "~", "a;b", "two"}) {
      add([this, name](const std::string& path) { return OwnLink(path, name); });
    }
  }

  static std::string Name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  /// "links/N/name" leads to the file, by two links.
  std::string OwnLink(const std::string& path, const std::string& name) {
    const std::string folder = fmt::format("links/{}", FastHashHex(path + name));
    if (::access(At("project/" + folder).c_str(), F_OK) != 0) {
      Link(folder + "/second", path);
      Link(folder + "/" + name, "second");
    }
    return folder + "/" + name;
  }

  struct Ask {
    std::string tool;
    Raw args;
    bool writes = false;
  };

  static Raw Args(const std::vector<std::pair<std::string, std::string>>& members) {
    Raw raw{""};
    JsonWriter writer(raw.text);
    writer.BeginObject();
    for (const auto& [name, value] : members) writer.Member(name, value);
    writer.EndObject();
    return raw;
  }

  static std::string Quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  static std::vector<Ask> AsksFor(const std::string& path) {
    const auto bash = [](const std::string& command) { return Args({{"command", command}}); };
    const std::string word = Quoted(path);
    return {{"Read", Args({{"file_path", path}})},
            {"Grep", Args({{"pattern", "x"}, {"path", path}})},
            {"Write", Args({{"file_path", path}, {"content", "y"}}), true},
            {"Edit", Args({{"file_path", path}, {"old_string", "x"}, {"new_string", "y"}}), true},
            {"Bash", bash("cat -- " + word)},
            {"Bash", bash("head -n1 < " + word)},
            {"Bash", bash("true && grep x -- " + word + " | wc -l")},
            {"Bash", bash("echo y > " + word), true},
            {"Bash", bash("cp src/a.txt -- " + word), true},
            {"Bash", bash("echo y | tee -- " + word + " > /dev/null"), true}};
  }

  [[nodiscard]] policy::Rules RulesOf(Mode mode, Source source, bool wide) const {
    policy::Rules rules;
    rules.mode = mode;
    rules.project = At("project");
    rules.home = At("home");
    rules.own = {At("stet/sessions"), At("stet/config.toml")};
    rules.sealed = {At("stet/vault")};
    rules.exclude = std::make_shared<const IgnoreFile>("private/\n");
    rules.deny = *policy::ParseRules("Read(denied)", source);
    if (wide) rules.allow = *policy::ParseRules("Read,Grep,Glob,Write,Edit,Bash", source);
    return rules;
  }

  /// Decided as the loop does it; what makes no sense to the tool is not run.
  Verdict Decide(const policy::Rules& rules, const Ask& ask) {
    ++decided_;
    const Result<tool::Intent> intent = tools_.Find(ask.tool)->Intend(ask.args, workspace_);
    if (!intent) return Verdict::kDeny;
    return policy::Decide(rules, QuestionOf(ask.tool, *intent, workspace_, rules)).verdict;
  }

  void Check(const Target& target, const Ask& ask, const policy::Rules& rules, bool wide,
             const std::string& what) {
    const Verdict verdict = Decide(rules, ask);
    const bool bypass = rules.mode == Mode::kBypass;
    if (ask.writes ? target.write_denied : target.read_denied) {
      EXPECT_EQ(verdict, Verdict::kDeny) << what;
    } else if (ask.writes && target.write_asked) {
      EXPECT_NE(verdict, Verdict::kAllow) << what;
    } else if (!ask.writes && target.read_asked && !bypass && !wide) {
      EXPECT_NE(verdict, Verdict::kAllow) << what;
    } else if (ask.writes && !bypass && !wide && rules.mode == Mode::kDefault) {
      EXPECT_NE(verdict, Verdict::kAllow) << what;
    }
  }

  TempDir temp_;
  tool::Tasks tasks_;
  tool::Shells shells_{tasks_};
  tool::Registry tools_;
  tool::Workspace workspace_;
  std::vector<std::function<std::string(const std::string&)>> aliases_;
  std::size_t decided_ = 0;
};

// NOLINTNEXTLINE(readability-function-size): it goes through a matrix.
TEST_F(PermissionMatrixTest, NoNameAndNoModeLeadsAroundARule) {
  ASSERT_GE(aliases_.size(), 30U);
  for (const Target& target : kTargets) {
    for (std::size_t alias = 0; alias < aliases_.size(); ++alias) {
      const std::string path = aliases_[alias](At(target.path));
      for (const Ask& ask : AsksFor(path)) {
        for (const Mode mode : kModes) {
          for (const Source source : kSources) {
            if (!target.ruled && source != Source::kUser) continue;
            for (const bool wide : {false, true})
              Check(target, ask, RulesOf(mode, source, wide), wide,
                    fmt::format("{} {} in {}{} for {}", ask.tool, ask.args.text,
                                policy::ModeName(mode), wide ? " with all allowed" : "",
                                target.path));
          }
        }
      }
      if (HasFailure()) return;  // One trick is enough to read.
    }
  }
  EXPECT_GT(decided_, 50'000U);
}

TEST_F(PermissionMatrixTest, AnOrdinaryFileStaysOrdinaryByMostNames) {
  const policy::Rules rules = RulesOf(Mode::kDefault, Source::kUser, false);
  const std::string path = At("project/src/a.txt");
  for (const std::string& name : {path, std::string("src/a.txt"), std::string("./src/../src/a.txt"),
                                  std::string("../project/src/a.txt"), OwnLink(path, "two")}) {
    EXPECT_EQ(Decide(rules, {"Read", Args({{"file_path", name}})}), Verdict::kAllow) << name;
    EXPECT_EQ(Decide(rules, {"Bash", Args({{"command", "cat " + Quoted(name)}})}), Verdict::kAllow)
        << name;
  }
}

TEST_F(PermissionMatrixTest, AToolThatSaysNothingOfWhatItDoesIsNotRunUnasked) {
  tool::Intent intent;  // As an extension's or a server's tool has it.
  intent.effects = true;
  for (const Mode mode : kModes) {
    const policy::Question question = QuestionOf("mcp__any__do", intent, workspace_, {});
    const Verdict verdict = policy::Decide(RulesOf(mode, Source::kUser, false), question).verdict;
    EXPECT_EQ(verdict == Verdict::kAllow, mode == Mode::kBypass) << policy::ModeName(mode);
    for (const Source source : kSources) {
      policy::Rules rules = RulesOf(mode, source, false);
      rules.deny = *policy::ParseRules("mcp__any__*", source);
      rules.allow = *policy::ParseRules("mcp__any__do", source);
      EXPECT_EQ(policy::Decide(rules, question).verdict, Verdict::kDeny);
    }
  }
}

TEST_F(PermissionMatrixTest, WhatGitCanGiveBackMayBeLostInAuto) {
  // Nothing is there, so nothing is lost; what is there and in no repository is.
  const policy::Rules rules = RulesOf(Mode::kAuto, Source::kUser, false);
  policy::Rules open = rules;
  open.exclude.reset();
  EXPECT_EQ(Decide(open, {"Bash", Args({{"command", "echo x > new.txt"}})}), Verdict::kAllow);
  EXPECT_EQ(Decide(open, {"Bash", Args({{"command", "echo x > src/a.txt"}})}), Verdict::kAsk);
}

TEST_F(PermissionMatrixTest, AFileOfSeveralNamesIsNotChangedUnasked) {
  ASSERT_EQ(::link(At("outside/o.txt").c_str(), At("project/same").c_str()), 0);
  for (const Mode mode : {Mode::kAcceptEdits, Mode::kAuto})
    EXPECT_EQ(Decide(RulesOf(mode, Source::kUser, true),
                     {"Write", Args({{"file_path", "same"}, {"content", "y"}})}),
              Verdict::kAsk);
}

}  // namespace
}  // namespace stet::agent
