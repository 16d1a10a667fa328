// Rules for shell commands: what a specifier like `git status`, `git *` or `npm run test:*` covers.
//
// A star stands for anything, blanks too; ` *` and `:*` at the end also for nothing. Words are
// compared without their quotes. Pure.
#pragma once

#include <string_view>

#include "policy/shell/shell.h"

namespace stet::policy {

/// Whether a rule that allows speaks for the whole line: every simple command in it matches, or is
/// a builtin that does no harm, and no output goes to a file. What was not understood, what is
/// written to run something in a roundabout way, and git in another folder is only covered by its
/// own text.
bool ShellCovers(std::string_view specifier, const ShellAnalysis& analysis);

/// Whether a rule that denies or asks speaks of the line: some simple command in it matches, behind
/// wrappers too, or may match because a part of it is not known. True for what was not understood.
bool ShellTouches(std::string_view specifier, const ShellAnalysis& analysis);

}  // namespace stet::policy
