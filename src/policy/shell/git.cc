// git: which subcommands only look, which change the repository, which lose something for good.
#include <algorithm>
#include <array>

#include <fmt/format.h>

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

enum class Git { kLooks, kChanges, kFetches, kSends, kLoses, kRuns };

struct GitRow {
  std::string_view subcommands;
  Git what = Git::kLooks;
  std::string_view options;
};

// Options as in shell_option.h: those that turn a subcommand into something else.
constexpr std::array kGitRows = {
    GitRow{"status log show diff shortlog describe rev-parse rev-list ls-files ls-tree cat-file "
           "name-rev merge-base for-each-ref show-ref show-branch whatchanged range-diff diff-tree "
           "diff-index diff-files count-objects check-ignore check-attr var blame annotate cherry "
           "version help verify-commit verify-tag fsck merge-tree patch-id get-tar-commit-id "
           "check-ref-format check-mailmap column stripspace",
           Git::kLooks,
           "--output:w --ext-diff:X --textconv:X --open-files-in-pager:X --show-signature:u "
           "--filters:X --lost-found:u --contents:r"},
    GitRow{"grep", Git::kLooks, "-O:X --open-files-in-pager:X --textconv:X --ext-grep:X -f:r"},
    GitRow{"ls-remote", Git::kFetches, "--upload-pack:x --exec:x"},
    GitRow{"fetch pull", Git::kFetches,
           "--upload-pack:x --exec:x -f:d --force:d -r:d --rebase:d --server-option:v"},
    GitRow{"clone", Git::kFetches,
           "-u:x --upload-pack:x -c:x --config:x --template:x -b:v --branch:v "
           "--depth:v -o:v --reference:r --separate-git-dir:w -j:v"},
    GitRow{"push send-email send-pack svn http-push imap-send", Git::kSends,
           "-f:d --force:d --force-with-lease:d --force-if-includes:d --mirror:d --delete:d -d:d "
           "--prune:d --receive-pack:x --exec:x"},
    GitRow{"add stage", Git::kChanges, ""},
    GitRow{"commit", Git::kChanges,
           "--amend:d -m:v --message:v -F:r --file:r -C:v -c:v -t:r --template:r --author:v "
           "--date:v --fixup:v"},
    GitRow{"branch", Git::kChanges, "-D:d -M:d -C:d -f:d --force:d -u:v --set-upstream-to:v"},
    GitRow{"tag", Git::kChanges, "-d:d --delete:d -f:d --force:d -m:v -F:r -u:v"},
    GitRow{"switch", Git::kChanges, "-C:d -f:d --force:d --discard-changes:d -c:v --orphan:v"},
    GitRow{"mv worktree notes", Git::kChanges, "-f:d --force:d -B:d -b:v -m:v"},
    GitRow{"archive format-patch bundle", Git::kChanges,
           "-o:w --output:w --output-directory:v --remote:u --exec:x"},
    GitRow{"init", Git::kChanges, "--template:x --separate-git-dir:w -b:v"},
    GitRow{"apply am", Git::kChanges, "--unsafe-paths:u --directory:v"},
    GitRow{"cherry-pick revert merge commit-tree hash-object mktree write-tree update-index "
           "read-tree rerere "
           "sparse-checkout maintenance bisect interpret-trailers",
           Git::kChanges, "--exec:x -m:v -F:r"},
    GitRow{"mergetool difftool", Git::kRuns, ""},
    GitRow{"reset", Git::kChanges, "--hard:d --merge:d --keep:d"},
    GitRow{"clean", Git::kLoses, ""},
    GitRow{"rebase filter-branch filter-repo gc prune reflog update-ref replace pack-refs repack "
           "symbolic-ref fast-import reset-author prune-packed credential daemon instaweb "
           "upload-pack receive-pack shell http-backend cvsserver p4",
           Git::kLoses, ""},
};

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
    if (sub == "remote")
      return IsOneOf(next, "show get-url") || plain.operands.empty() ? Looks()
             : next == "update"                                      ? Fetches()
                                                                     : Changes("git remote");
    if (sub == "submodule") return Submodule(next);
    if (sub == "config") return Config(plain, next);
    if (sub == "checkout" || sub == "restore") return Checkout(sub);
    if (sub == "rm") return Remove();
    if (sub == "reflog" && (next.empty() || next == "show")) return Looks();
    if (sub == "bisect" && next == "run") return Odd("git bisect runs a program");
    if (sub == "bisect" && IsOneOf(next, "log view visualize")) return Looks();
    if (sub == "worktree" && next == "list") return Looks();
    if (sub == "worktree" && IsOneOf(next, "remove prune")) return Loses("git worktree");
    if (sub == "notes" && IsOneOf(next, "show list")) return Looks();
    if (sub == "lfs")
      return next == "push" ? Raise(command_, ShellEffect::kNetwork, "git lfs push") : Fetches();
    if ((sub == "branch" || sub == "tag") && Lists(sub, plain)) return Looks();
    if (sub == "rebase") return Rebase(plain);
    ByTable(sub);
  }

  void ByTable(std::string_view sub) {
    const auto* row = std::ranges::find_if(
        kGitRows, [&](const GitRow& one) { return HasWord(one.subcommands, sub); });
    if (row == kGitRows.end()) return Odd(fmt::format("what git {} does is not known", sub));
    const ParsedWords parsed = ParseOptions(rest_, row->options);
    for (const Option& option : parsed.options) Apply(option, sub);
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

  void Stash(std::string_view next) {
    if (IsOneOf(next, "list show")) return Looks();
    if (IsOneOf(next, "drop clear")) return Loses("git stash " + std::string(next));
    Changes("git stash changes the repository");
  }

  void Submodule(std::string_view next) {
    const bool unknown =
        std::ranges::any_of(rest_, [](const ShellWord& word) { return !word.known(); });
    if (next.empty() || IsOneOf(next, "status summary")) return Looks();
    if (next == "foreach" || unknown) return Odd("git submodule runs programs");
    if (next == "deinit") return Loses("git submodule deinit");
    Fetches();
  }

  void Config(const ParsedWords& plain, std::string_view next) {
    const bool reads = std::ranges::any_of(plain.options, [](const Option& option) {
      return IsOneOf(option.name,
                     "--get --get-all --list -l l --get-regexp --show-origin --get-urlmatch");
    });
    const bool writes = std::ranges::any_of(plain.options, [](const Option& option) {
      return IsOneOf(
          option.name,
          "--add --unset --unset-all --replace-all --edit e --rename-section --remove-section "
          "f --file --blob");
    });
    if (!writes && (reads || IsOneOf(next, "get list") || plain.operands.size() == 1))
      return Looks();
    const bool identity =
        IsOneOf(next, "user.name user.email pull.rebase init.defaultBranch core.autocrlf");
    const bool local = std::ranges::none_of(plain.options, [](const Option& option) {
      return IsOneOf(option.name, "--global --system");
    });
    if (identity && local && !writes) return Changes("git config");
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
      staged = staged || IsOneOf(option.name, "--staged S");
      worktree = worktree || IsOneOf(option.name, "--worktree W");
    }
    if (creates || (staged && !worktree && sub == "restore"))
      return Changes(fmt::format("git {} changes the repository", sub));
    if (parsed.operands.empty() && !parsed.maybe_option && sub == "checkout") return Looks();
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

  /// Without a name to make, or with an option that asks for a list.
  static bool Lists(std::string_view sub, const ParsedWords& plain) {
    const bool changes = std::ranges::any_of(plain.options, [&](const Option& option) {
      return IsOneOf(
                 option.name,
                 "d D m M c C f u --delete --move --copy --force --set-upstream-to "
                 "--unset-upstream "
                 "--edit-description a s F --annotate --sign --file -t --track --create-reflog") ||
             (option.name == "u" && sub == "tag");
    });
    const bool asks = std::ranges::any_of(plain.options, [](const Option& option) {
      return IsOneOf(option.name,
                     "l --list --contains --no-contains --merged --no-merged --points-at "
                     "--show-current a r --all --remotes --sort --format v");
    });
    if (plain.maybe_option) return false;
    if (sub == "branch" && plain.operands.empty())
      return std::ranges::none_of(plain.options, [](const Option& option) {
        return IsOneOf(option.name,
                       "d D m M c C f u --delete --move --copy --force --set-upstream-to "
                       "--unset-upstream --edit-description");
      });
    return !changes && (plain.operands.empty() || asks);
  }

  void Looks() {
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
