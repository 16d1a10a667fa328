// Confine: the process that becomes a command in a sandbox. The program starts itself again as
// `stet-confine`, with the name of a file that says what to enforce; that one starts what must stay
// outside (the proxy), goes inside, by bwrap or by itself, gives up what is not granted, and at
// last executes the command. It composes with a guard (base/guard/guard.h), whose command it then
// is.
//
// A step that fails ends it before the command: with kCannotConfine, a sentence on standard error,
// and a line "failed ..." in the report.
#pragma once

#include <string>
#include <vector>

#include "json/describe.h"
#include "sandbox/profile.h"

namespace stet::sandbox {

/// The exit code when the command was not started. As of other programs that start programs.
inline constexpr int kCannotConfine = 125;

/// What is in the file.
struct ConfineOrder {
  STET_FIELDS(ConfineOrder,
              (Text, mechanism),
              (Profile, profile),  // With a temp.
              (Text, empty),  // A file with nothing in it.
              (Text, report))  // A file that is there, for what happens outside.
};

/// Behind BecomeGuardIfAsked in main. Does not return in a process that was started to be this.
void BecomeConfinedIfAsked(int argc, char** argv);

/// True once BecomeConfinedIfAsked was called.
bool CanConfine();

/// The command line that does it. `program` is ours: /proc/self/exe of the process that starts it.
std::vector<std::string> ConfineArguments(const std::string& order_file,
                                          std::vector<std::string> command);

}  // namespace stet::sandbox
