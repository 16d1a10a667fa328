// The program as its command line has it: the options of work, and every verb.
#pragma once

#include <span>

#include "cli/verb.h"

namespace stet::cli {

/// All of it.
Verb WholeProgram();

/// What these words need: a verb that none of them names has no arguments here.
Verb ProgramFor(std::span<const char* const> words);

}  // namespace stet::cli
