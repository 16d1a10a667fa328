// Run: the command line face. Parses the arguments, asks the client, prints the answer.
#pragma once

#include "face/clients.h"
#include "face/console.h"
#include "face/work_options.h"

namespace stet::cli {

/// The faces that the command line starts and does not know: the program joins them. Each returns
/// the exit code, or why it failed, and must run before any other thread is made.
struct Faces {
  using Work = Result<int> (*)(const face::WorkOptions&, const face::Clients&, face::Console&);

  Work conversation;  // At a terminal.
  Work stream_json;   // With a program.
  /// At a terminal, in a session of the background host: `resume` is as it was typed, empty for the
  /// newest of the folder.
  Work attach;
};

/// The process's exit code.
int Run(int argc, const char* const* argv, const face::Clients& clients, const Faces& faces);

}  // namespace stet::cli
