// git: which subcommands only look, which change the repository, which lose something for good.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/git_rows.h"
#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

constexpr std::string_view kGlobal =
    "-C:c -c:x --config-env:x --exec-path:x --git-dir:x --work-tree:x --namespace:v "
    "--super-prefix:v "
    "--no-pager -P -p --paginate --bare --no-replace-objects --literal-pathspecs --glob-pathspecs "
    "--noglob-pathspecs --icase-pathspecs --no-optional-locks --version -v --help -h --html-path "
    "--man-path --info-path";

/// Values of `-c` that programs set to keep output plain.
constexpr std::string_view kPlainSettings =
    "color.ui=never color.ui=false color.ui=always core.pager=cat core.quotepath=false "
    "core.quotePath=false core.quotepath=off advice.detachedHead=false init.defaultBranch=main "
    "commit.gpgsign=false commit.gpgSign=false user.name=Test user.email=test@example.com "
    "protocol.version=2 core.fsmonitor=false core.hooksPath=/dev/null diff.external= gc.auto=0 "
    "core.autocrlf=false log.showSignature=false";

bool IsOneOf(std::string_view word, std::string_view list) { return HasWord(list, word); }

class GitJudge {
 public:
  GitJudge(ShellCommand& command, const ShellPlace& place) : command_(command), place_(place) {}

  void Judge() {
    const std::span<const ShellWord> words = std::span(command_.words).subspan(1);
    const ParsedWords before = ParseOptions(words, kGlobal, OptionStyle::kFirst);
    for (const Option& option : before.options) Global(option);
    command_.git_elsewhere =
        command_.git_elsewhere || command_.folders.size() != 1 || command_.folders[0] != place_.cwd;
    if (before.operands.empty()) return;
    const ShellWord& sub = before.operands[0];
    if (before.unlisted || !sub.known()) {
      command_.odd = true;
      return Raise(command_, ShellEffect::kUnknown, "which git command it is, is not known");
    }
    rest_ = words.subspan(before.places[0] + 1);
    Subcommand(sub.text);
  }

 private:
  void Global(const Option& option) {
    if (option.meaning == Meaning::kFolder) {
      // Further paths are in that folder.
      std::vector<std::string> folders;
      for (ShellPath& path : PathsOf(option.value, command_.folders)) {
        if (path.reach == ShellPath::Reach::kExact) folders.push_back(std::move(path.path));
      }
      command_.folders = std::move(folders);
    }
    if (option.meaning != Meaning::kRuns) return;
    if (option.name == "c" && option.value.known() && IsOneOf(option.value.text, kPlainSettings))
      return;
    command_.odd = true;
    Raise(command_, ShellEffect::kUnknown, "git's own settings are changed for this command");
  }

  /// By the first words behind it, where one name does many things.
  void Subcommand(std::string_view sub) {
    const ParsedWords plain = ParseOptions(rest_, "");
    const std::string next =
        plain.operands.empty() || !plain.operands[0].known() ? "" : plain.operands[0].text;
    if (sub == "stash") return Stash(next);
    if (sub == "remote") return Remote(plain, next);
    if (sub == "submodule") return Submodule(next);
    if (sub == "config") return Config(plain, next);
    if (sub == "checkout" || sub == "restore") return Checkout(sub);
    if (sub == "rm") return Remove();
    if (sub == "reflog" && IsOneOf(next, "expire delete exists drop write"))
      return Loses("git reflog");
    if (sub == "bisect" && IsOneOf(next, "run view visualize"))
      return Odd("git bisect runs a program");
    if (sub == "bisect" && next == "log" && rest_.size() == 1) return Looks();
    if (sub == "worktree" && next == "list" && AreListed("--porcelain -zv --verbose"))
      return Looks();
    if (sub == "worktree" && IsOneOf(next, "remove prune")) return Loses("git worktree");
    if (sub == "notes" && IsOneOf(next, "show list") && AreListed("")) return Looks();
    NoteSettings(sub, next);
    if (sub == "lfs")
      return next == "push" ? Raise(command_, ShellEffect::kNetwork, "git lfs push") : Fetches();
    if ((sub == "branch" || sub == "tag") && Lists(sub)) return Looks();
    if (sub == "rebase") return Rebase(plain);
    ByTable(sub);
  }

  /// Subcommands that write git's configuration, beside what they do.
  void NoteSettings(std::string_view sub, std::string_view next) {
    if (sub == "branch" && !Lists(sub)) return NoteBranch();
    if (sub == "switch") return NoteSwitch();
    const bool sets = sub == "init" || (sub == "sparse-checkout" && next != "list") ||
                      (sub == "maintenance" && next != "run") ||
                      (sub == "lfs" && IsOneOf(next, "install uninstall update")) ||
                      (IsOneOf(sub, "fetch pull") && Has("--set-upstream"));
    command_.sets_git = command_.sets_git || sets;
    if (sub != "worktree" || next != "add") return;
    const ParsedWords parsed = ParseOptions(rest_, "-b:v -B:v --reason:v");
    if (parsed.operands.size() > 2) Follow(parsed.operands[2]);
  }

  void NoteBranch() {
    const ParsedWords parsed = ParseOptions(rest_, "-u:v --set-upstream-to:v");
    constexpr std::string_view kSets =
        "m M c C u t --move --copy --set-upstream-to --unset-upstream --track --set-upstream "
        "--edit-description";
    for (const Option& option : parsed.options)
      command_.sets_git = command_.sets_git || IsOneOf(option.name, kSets);
    if (parsed.operands.size() > 1) Follow(parsed.operands[1]);
  }

  void NoteSwitch() {
    const ParsedWords parsed =
        ParseOptions(rest_,
                     "-c:v -C:v --create:v --force-create:v --orphan:v -d --detach -t:f "
                     "--track:f");
    bool detached = false;
    for (const Option& option : parsed.options) {
      command_.sets_git = command_.sets_git || IsOneOf(option.name, "t --track");
      detached = detached || IsOneOf(option.name, "d --detach --orphan");
    }
    if (!detached && !parsed.operands.empty()) Follow(parsed.operands[0]);
  }

  [[nodiscard]] bool Has(std::string_view option) const {
    return std::ranges::any_of(rest_, [&](const ShellWord& word) { return word.text == option; });
  }

  /// A branch that is started from this follows it, when it is another repository's.
  void Follow(const ShellWord& start) {
    if (start.known())
      command_.may_follow.push_back(start.text);
    else
      command_.sets_git = true;
  }

  void ByTable(std::string_view sub) {
    const GitRow* row = FindGitRow(sub);
    if (row == nullptr) return Odd(fmt::format("what git {} does is not known", sub));
    const ParsedWords parsed = ParseOptions(rest_, row->options);
    for (const Option& option : parsed.options) Apply(option, sub);
    if (row->what == Git::kLooks) {
      const auto unlisted = std::ranges::find(parsed.options, Meaning::kUnlisted, &Option::meaning);
      if (unlisted != parsed.options.end())
        Raise(command_, ShellEffect::kUnknown,
              fmt::format("the option {} of git {} is not known", unlisted->name, sub));
      command_.shows_history = ShowsContent(sub, parsed);
    }
    if (parsed.maybe_option)
      Raise(command_, ShellEffect::kUnknown, "a word of it may be an option");
    switch (row->what) {
      case Git::kLooks: Looks(); break;
      case Git::kChanges: Changes(fmt::format("git {} changes the repository", sub)); break;
      case Git::kFetches: Fetches(); break;
      case Git::kSends:
        Raise(command_, ShellEffect::kNetwork, fmt::format("git {} publishes", sub));
        break;
      case Git::kLoses: Loses(fmt::format("git {}", sub)); break;
      case Git::kRuns: Odd(fmt::format("git {} runs a program", sub)); break;
    }
    // `git push origin +main` and `:old` are force and delete.
    if (sub == "push" && std::ranges::any_of(parsed.operands, [](const ShellWord& word) {
          return !word.known() || word.text.starts_with('+') || word.text.starts_with(':');
        }))
      Loses("git push");
  }

  void Apply(const Option& option, std::string_view sub) {
    switch (option.meaning) {
      case Meaning::kOverwrites:
        AddPaths(command_.loses, option.value, command_);
        Raise(command_, ShellEffect::kDestroys, fmt::format("git {} overwrites a file", sub));
        break;
      case Meaning::kReads: AddPaths(command_.reads, option.value, command_); break;
      case Meaning::kRuns:
      case Meaning::kRunsSome: Odd(fmt::format("git {} runs a program", sub)); break;
      case Meaning::kUnclear:
        Raise(command_, ShellEffect::kUnknown, "git may run a program");
        break;
      case Meaning::kDestroys: Loses(fmt::format("git {} with {}", sub, option.name)); break;
      default: break;
    }
  }

  /// Whether every option is one of these.
  [[nodiscard]] bool AreListed(std::string_view options) const {
    const ParsedWords parsed = ParseOptions(rest_, options);
    return !parsed.unlisted && !parsed.maybe_option;
  }

  /// Whether what is in files is shown, and not only of files that are named.
  [[nodiscard]] bool ShowsContent(std::string_view sub, const ParsedWords& parsed) const {
    const auto has = [&](std::string_view names) {
      return std::ranges::any_of(parsed.options,
                                 [&](const Option& one) { return IsOneOf(one.name, names); });
    };
    const bool compares = IsOneOf(sub, "show diff diff-tree diff-index diff-files range-diff");
    const bool walks = IsOneOf(sub, "log rev-list whatchanged reflog stash-list stash-show");
    const bool patches = has(
        "p u U W L c --patch --unified --function-context --cc --word-diff --color-words --binary "
        "--patch-with-raw --patch-with-stat --diff-merges --remerge-diff");
    const bool names = has(
        "s --no-patch --stat --numstat --shortstat --dirstat --summary --name-only --name-status "
        "--raw --quiet --compact-summary");
    // `HEAD:file` shows that one.
    const bool named = sub == "show" && !parsed.operands.empty() &&
                       std::ranges::all_of(parsed.operands, [](const ShellWord& word) {
                         return word.known() && word.text.contains(':');
                       });
    if (compares) return !named && (patches || !names);
    if (walks) return patches || sub == "whatchanged";
    if (sub == "cat-file") return !has("t s e --batch-check");
    return sub == "grep";
  }

  void Remote(const ParsedWords& plain, std::string_view next) {
    if (next == "update" || (next == "show" && plain.operands.size() > 1)) return Fetches();
    const bool looks = plain.operands.empty() || IsOneOf(next, "show get-url");
    if (looks && AreListed("-v --verbose --push --all -n")) return Looks();
    command_.sets_git = !IsOneOf(next, "prune set-head");
    Changes("git remote changes the repository");
  }

  void Stash(std::string_view next) {
    // They take what log and diff take.
    if (next == "list") return ByTable("stash-list");
    if (next == "show") return ByTable("stash-show");
    if (IsOneOf(next, "drop clear")) return Loses("git stash " + std::string(next));
    Changes("git stash changes the repository");
  }

  void Submodule(std::string_view next) {
    const bool unknown =
        std::ranges::any_of(rest_, [](const ShellWord& word) { return !word.known(); });
    const bool looks = next.empty() || IsOneOf(next, "status summary");
    if (looks && AreListed("--quiet -q --cached --recursive --files -n:v --summary-limit:v"))
      return Looks();
    command_.sets_git = next != "foreach";
    if (next == "foreach" || unknown) return Odd("git submodule runs programs");
    if (next == "deinit") return Loses("git submodule deinit");
    Fetches();
  }

  void Config(const ParsedWords& plain, std::string_view next) {
    const ParsedWords parsed = ParseOptions(rest_, GitConfigOptions());
    const bool asks = std::ranges::any_of(parsed.options, [](const Option& option) {
      return IsOneOf(option.name, "--get --get-all --list l --get-regexp --get-urlmatch");
    });
    const bool acts = IsOneOf(next, "edit set unset rename-section remove-section");
    const bool listed = !parsed.unlisted && !parsed.maybe_option;
    if (listed && !acts && (asks || IsOneOf(next, "get list") || parsed.operands.size() == 1))
      return Looks();
    const bool identity =
        IsOneOf(next, "user.name user.email pull.rebase init.defaultBranch core.autocrlf");
    const bool local = std::ranges::none_of(plain.options, [](const Option& option) {
      return IsOneOf(option.name, "--global --system --worktree");
    });
    command_.sets_git = true;
    if (identity && local && listed) return Changes("git config");
    Odd("git's settings can name programs that it runs");
  }

  /// Both put files back over what is there, unless only the branch or the index moves.
  void Checkout(std::string_view sub) {
    const ParsedWords parsed = ParseOptions(
        rest_,
        "-b:v -B:v --orphan:v -t:f --track:f -f:d --force:d -s:v --source:v --staged -S -W "
        "--worktree -p -q --quiet --ours --theirs -m:f");
    bool creates = false;
    bool staged = false;
    bool worktree = false;
    for (const Option& option : parsed.options) {
      if (option.meaning == Meaning::kDestroys) Loses("git checkout by force");
      creates = creates || (sub == "checkout" && IsOneOf(option.name, "b --orphan"));
      command_.sets_git =
          command_.sets_git || (sub == "checkout" && IsOneOf(option.name, "t --track"));
      staged = staged || IsOneOf(option.name, "--staged S");
      worktree = worktree || IsOneOf(option.name, "--worktree W");
    }
    if (sub == "checkout" && !parsed.operands.empty()) Follow(parsed.operands[0]);
    if (creates || (staged && !worktree && sub == "restore"))
      return Changes(fmt::format("git {} changes the repository", sub));
    if (rest_.empty() && sub == "checkout") return Looks();
    for (const ShellWord& word : parsed.operands) {
      if (word.known() && word.text == "-") continue;
      AddPaths(command_.loses, word, command_, ShellPath::Reach::kTree);
    }
    Raise(command_, command_.loses.empty() ? ShellEffect::kWrites : ShellEffect::kDestroys,
          fmt::format("git {} may put files back over changes", sub));
  }

  void Remove() {
    const ParsedWords parsed = ParseOptions(rest_, "--cached -r -f -q -n --dry-run --force");
    const bool index = std::ranges::any_of(parsed.options, [](const Option& option) {
      return IsOneOf(option.name, "--cached n --dry-run");
    });
    if (index && !parsed.maybe_option) return Changes("git rm changes the index");
    for (const ShellWord& word : parsed.operands)
      AddPaths(command_.loses, word, command_, ShellPath::Reach::kTree);
    Raise(command_, ShellEffect::kDestroys, "git rm deletes files");
  }

  void Rebase(const ParsedWords& plain) {
    const bool ends = std::ranges::any_of(plain.options, [](const Option& option) {
      return IsOneOf(option.name, "--abort --continue --skip --quit --show-current-patch");
    });
    const bool runs = std::ranges::any_of(plain.options, [](const Option& option) {
      return option.name.starts_with("--ex") || option.name == "x";
    });
    if (runs) return Odd("git rebase runs a program");
    if (ends) return Changes("git rebase changes the repository");
    Loses("git rebase");
  }

  /// Without a name to make, or with an option that asks for a list; and with no other.
  [[nodiscard]] bool Lists(std::string_view sub) const {
    const ParsedWords parsed = ParseOptions(rest_, GitListOptions(sub));
    const bool asks = std::ranges::any_of(parsed.options, [&](const Option& option) {
      return IsOneOf(option.name,
                     "l --list --contains --no-contains --merged --no-merged --points-at "
                     "--show-current") ||
             (option.name == "n" && sub == "tag");
    });
    return !parsed.unlisted && !parsed.maybe_option && (parsed.operands.empty() || asks);
  }

  void Looks() {
    // A signature is checked by another program, which settings name.
    for (const ShellWord& word : rest_) {
      if (word.text.contains("%G") || word.text.contains("%(signature"))
        Raise(command_, ShellEffect::kUnknown, "git may run a program that checks signatures");
    }
    // What it shows may be any file of the repository; those that are named are likely.
    for (const ShellWord& word : rest_) {
      if (!word.known() || word.text.starts_with('-')) continue;
      const std::size_t colon = word.text.find(':');
      AddPaths(command_.reads,
               Known(colon == std::string::npos ? word.text : word.text.substr(colon + 1)),
               command_);
    }
  }
  void Changes(std::string why) { Raise(command_, ShellEffect::kWrites, std::move(why)); }
  void Fetches() {
    const bool known = std::ranges::all_of(rest_, &ShellWord::known);
    // ext::sh -c ... is an address that runs a program.
    const bool odd =
        std::ranges::any_of(rest_, [](const ShellWord& word) { return word.text.contains("::"); });
    if (odd) return Odd("the address runs a program");
    Raise(command_, known ? ShellEffect::kFetches : ShellEffect::kNetwork,
          "git asks another machine");
  }
  void Loses(const std::string& what) {
    command_.loses.push_back({"", ShellPath::Reach::kAnywhere});
    Raise(command_, ShellEffect::kDestroys, what + " can lose work for good");
  }
  void Odd(std::string why) {
    command_.odd = true;
    Raise(command_, ShellEffect::kUnknown, std::move(why));
  }

  ShellCommand& command_;
  const ShellPlace& place_;
  std::span<const ShellWord> rest_;
};

}  // namespace

bool JudgeGit(ShellCommand& command, const ShellPlace& place) {
  if (ProgramName(command) != "git") return false;
  command.is_git = true;
  GitJudge(command, place).Judge();
  return true;
}

}  // namespace stet::policy
