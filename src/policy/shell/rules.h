// Rules for shell commands: what a specifier like `git status`, `git *` or `npm run test:*` covers.
//
// A star stands for anything, blanks too; ` *` and `:*` at the end also for nothing. Words are
// compared without their quotes. Pure.
//
// A rule that denies or asks holds for what it could apply to, not only for what it names:
// - a command that it matches, behind wrappers, in functions, scripts and substitutions too, and
// one
//   of which a part is not known that could become what it matches: `$X file`, `git $sub`;
// - a line that was not understood, and one with a command that hides what it runs, so that it may
//   be anything: `eval "$cmd"`, `sh` reading a pipe, code that starts programs, a script of sed
//   that is not known, PATH or git's own settings changed;
// - a command that runs others by nature, when the rule matches a part of its words, and one of
// which
//   it is not known what it does, when it matches a part of the line: `docker run x rm -rf y`,
//   `newtool touch F`, `python3 -c '... rm -rf ...'`, `x='a[$(rm y)]'; echo $((x))`.
// It does not hold for a command that is known and is another one, whatever that does in turn:
// `make`, `./script.sh` and `ls $x` are not refused under `Bash(rm *)`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "policy/shell/shell.h"

namespace stet::policy {

/// Whether a rule that allows speaks for the whole line: every simple command in it matches, or is
/// a builtin that does no harm, and no output goes to a file. What was not understood, what is
/// written to run something in a roundabout way, and git in another folder is only covered by its
/// own text.
bool ShellCovers(std::string_view specifier, const ShellAnalysis& analysis);

/// The same of one command of the line, by its place; output to a file is not looked at.
bool ShellCoversPart(std::string_view specifier, const ShellAnalysis& analysis, std::size_t part);

/// Whether a command of the line needs no rule: assignments and builtins that do no harm.
bool NeedsNoRule(const ShellAnalysis& analysis, std::size_t part);

/// Whether a command writes a file by a redirection.
bool WritesByRedirection(const ShellCommand& command);

/// A command as it is written in a rule, for people: "tail -5".
std::string TextOfPart(const ShellCommand& command);

/// Whether a command of the line is one that the rule names, whatever else there is.
bool ShellNames(std::string_view specifier, const ShellAnalysis& analysis);

/// Whether a rule that denies or asks could apply to the line, as said above.
bool ShellTouches(std::string_view specifier, const ShellAnalysis& analysis);

}  // namespace stet::policy
