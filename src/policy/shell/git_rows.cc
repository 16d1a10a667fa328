// git_rows.h: data.
#include "policy/shell/git_rows.h"

#include <algorithm>
#include <array>

#include "policy/shell/option.h"

namespace stet::policy {
namespace {

constexpr std::array kGitRows = {
    GitRow{"status", Git::kLooks,
           "-sbvz -u:a --short --branch --show-stash --porcelain:a --long --verbose "
           "--untracked-files:a --ignored:a --ignore-submodules:a --column:a --no-column "
           "--ahead-behind --no-ahead-behind --renames --no-renames --find-renames:a"},
    // Those that go through history and compare.
    GitRow{
        "log show diff shortlog rev-list whatchanged range-diff diff-tree diff-index diff-files "
        "stash-list stash-show reflog",
        Git::kLooks,
        "-pusabwzRrtcgimqeEFPWD0123456789 -UMCBlX:a -nSGLI:v -O:u --output:w --ext-diff:X "
        "--textconv:X --show-signature:u --patch --no-patch --unified:a --raw --patch-with-raw "
        "--patch-with-stat --stat:a --numstat --shortstat --dirstat:a --summary --name-only "
        "--name-status --compact-summary --submodule:a --color:a --no-color --word-diff:a "
        "--word-diff-regex:v --color-words:a --color-moved:a --color-moved-ws:v --renames "
        "--no-renames --check --full-index --binary --abbrev:a --no-abbrev --find-renames:a "
        "--find-copies:a --find-copies-harder --irreversible-delete --diff-filter:v --pickaxe-all "
        "--pickaxe-regex --text --ignore-space-at-eol --ignore-space-change --ignore-all-space "
        "--ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines:v --inter-hunk-context:v "
        "--function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules:a "
        "--src-prefix:v --dst-prefix:v --no-prefix --line-prefix:v --minimal --patience "
        "--histogram --diff-algorithm:v --anchored:v --indent-heuristic --staged --cached "
        "--merge-base --no-index --relative:a --stat-width:v --stat-count:v --oneline --graph "
        "--all "
        "--decorate:a --no-decorate --decorate-refs:v --decorate-refs-exclude:v "
        "--clear-decorations "
        "--follow --first-parent --merges --no-merges --max-count:v --skip:v --since:v --after:v "
        "--until:v --before:v --author:v --committer:v --grep:v --invert-grep --all-match "
        "--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --basic-regexp "
        "--branches:a --tags:a --remotes:a --glob:v --exclude:v --reverse --topo-order "
        "--date-order "
        "--author-date-order --pretty:a --format:v --abbrev-commit --no-abbrev-commit --date:v "
        "--relative-date --parents --children --left-right --left-only --right-only --cherry-pick "
        "--cherry-mark --cherry --walk-reflogs --no-walk:a --do-walk --boundary "
        "--simplify-by-decoration --full-history --dense --sparse --ancestry-path:a --count "
        "--notes:a --no-notes --show-notes --encoding:v --no-mailmap --mailmap --use-mailmap "
        "--source --log-size --objects --no-commit-id --root --cc --combined-all-paths "
        "--diff-merges:v --email --numbered --group:v --max-parents:v --min-parents:v --ours "
        "--theirs --base --show-pulls --expand-tabs:a --no-expand-tabs --no-show-signature "
        "--include-untracked --only-untracked --ignore-missing --full-diff --single-worktree "
        "--name-rev --creation-factor:v --no-dual-color --dual-color --disk-usage:a --unpacked"},
    GitRow{"ls-files", Git::kLooks,
           "-cdmosukvtfzi -x:v -X:r --exclude-from:r --cached --deleted --modified --others "
           "--ignored --stage --unmerged --killed --directory --no-empty-directory "
           "--exclude-standard --exclude:v --error-unmatch --full-name --recurse-submodules "
           "--abbrev:a --deduplicate --eol --format:v --with-tree:v --resolve-undo --debug"},
    GitRow{"cat-file", Git::kLooks,
           "-etpsZz --batch:a --batch-check:a --batch-all-objects --buffer --unordered "
           "--allow-unknown-type --follow-symlinks --path:v --textconv:X --filters:X"},
    GitRow{"blame annotate", Git::kLooks,
           "-beflnpstwhck -L:v -CM:a --date:v --porcelain --line-porcelain --show-email "
           "--show-name --show-number --show-stats --since:v --ignore-rev:v --ignore-revs-file:r "
           "--reverse --first-parent --root --incremental --abbrev:v --minimal --color-by-age "
           "--color-lines --encoding:v --progress --no-progress -S:r --contents:r"},
    GitRow{"grep", Git::kLooks,
           "-abEFGhHiIlLnopPqrvwWz0123456789 -ABCmef:v --cached --no-index --untracked "
           "--recurse-submodules --text --ignore-case --word-regexp --invert-match --full-name "
           "--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column "
           "--files-with-matches --name-only --files-without-match --only-matching --count "
           "--color:a --no-color --break --heading --show-function --function-context "
           "--after-context:v --before-context:v --context:v --threads:v --and --or --not "
           "--all-match --quiet --max-depth:v --max-count:v --exclude-standard "
           "--no-exclude-standard --recursive --no-recursive --null --no-textconv -O:X "
           "--open-files-in-pager:X --textconv:X --ext-grep:X"},
    GitRow{"describe ls-tree name-rev merge-base show-ref show-branch count-objects check-ignore "
           "check-attr check-ref-format check-mailmap cherry var column stripspace patch-id "
           "get-tar-commit-id version",
           Git::kLooks,
           "-adrtlzsvHnqgcih --tags --all --always --long --abbrev:a --dirty:a --broken:a "
           "--exact-match --match:v --exclude:v --contains --candidates:v --first-parent "
           "--name-only --name-status --full-name --full-tree --object-only --format:v --refs:v "
           "--stdin --annotate-stdin --undefined --no-undefined --octopus --independent "
           "--is-ancestor --fork-point --head --heads --branches --verify --hash:a --quiet "
           "--dereference --exists --remotes --current --topo-order --date-order --sparse --more:a "
           "--list --merge-base --no-name --sha1-name --topics --color:a --verbose "
           "--human-readable --non-matching --no-index --cached --source:v --branch --normalize "
           "--allow-onelevel --stable --unstable --verbatim --strip-comments --comment-lines "
           "--mode:v --width:v --padding:v --build-options"},
    GitRow{"rev-parse", Git::kLooks, "*"},
    GitRow{"for-each-ref", Git::kLooks,
           "--format:v --sort:v --count:v --contains:v --no-contains:v --merged:v --no-merged:v "
           "--points-at:v --shell --perl --python --tcl --color:a --ignore-case --omit-empty "
           "--exclude:v"},
    GitRow{"fsck", Git::kLooks,
           "-v --full --no-full --strict --unreachable --dangling --no-dangling --no-reflogs "
           "--connectivity-only --progress --no-progress --root --tags --cache --verbose "
           "--name-objects --lost-found:u"},
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
           "read-tree rerere merge-tree "
           "sparse-checkout maintenance bisect interpret-trailers",
           Git::kChanges, "--exec:x -m:v -F:r"},
    GitRow{"mergetool difftool help verify-commit verify-tag", Git::kRuns, ""},
    GitRow{"reset", Git::kChanges, "--hard:d --merge:d --keep:d"},
    GitRow{"clean", Git::kLoses, ""},
    GitRow{"rebase filter-branch filter-repo gc prune reflog update-ref replace pack-refs repack "
           "symbolic-ref fast-import reset-author prune-packed credential daemon instaweb "
           "upload-pack receive-pack shell http-backend cvsserver p4",
           Git::kLoses, ""},
};

constexpr std::string_view kBranchLists =
    "-arvqil --list --all --remotes --verbose --quiet --color:a --no-color --sort:v --format:v "
    "--column:a --no-column --abbrev:v --no-abbrev --contains:v --no-contains:v --merged:v "
    "--no-merged:v --points-at:v --show-current --ignore-case --omit-empty";
constexpr std::string_view kTagLists =
    "-il -n:a --list --color:a --no-color --sort:v --format:v --column:a --no-column --contains:v "
    "--no-contains:v --merged:v --no-merged:v --points-at:v --ignore-case --omit-empty";

}  // namespace

const GitRow* FindGitRow(std::string_view subcommand) {
  const auto* found = std::ranges::find_if(
      kGitRows, [&](const GitRow& one) { return HasWord(one.subcommands, subcommand); });
  return found == kGitRows.end() ? nullptr : found;
}

std::string_view GitListOptions(std::string_view subcommand) {
  return subcommand == "tag" ? kTagLists : kBranchLists;
}

std::string_view GitConfigOptions() {
  return "-lz --list --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope "
         "--name-only --null --type:v --bool --int --path --bool-or-int --expiry-date --local "
         "--global --system --worktree --default:v --includes --no-includes --all --value:v "
         "--regexp --fixed-value --url:v";
}

}  // namespace stet::policy
