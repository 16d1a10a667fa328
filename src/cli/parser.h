// Reads the command line into the values of a program's arguments. The one place that knows the
// library for it.
#pragma once

#include <string>
#include <variant>

#include "cli/verb.h"

namespace stet::cli {

/// Nothing to run: text to print, and the exit code.
struct Answer {
  std::string text;
  int exit_code = 0;
};

/// The verb that is named, of `program`; that itself when none is. Wrong usage is an Answer with
/// exit code 2 that says what is wrong and where the help is.
std::variant<const Verb*, Answer> ParseArguments(const Verb& program, int argc,
                                                 const char* const* argv);

}  // namespace stet::cli
