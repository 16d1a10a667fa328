// Arguments: the command line as a value. The one place that knows the command line library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stet::cli {

/// `stet sessions VERB`, with what its verb needs.
struct SessionsCommand {
  std::string verb;
  std::string id;                // As typed; empty where it may be left out.
  std::vector<std::string> ids;  // rm takes several.
  std::string file;              // import's.
  std::string event;             // rewind's target, branch's leaf.
  std::optional<std::string> at;
  std::optional<std::string> expect;
  std::string output;
  bool json = false;
  bool cost = false;
  bool jsonl = false;
  bool yes = false;
  bool all = false;
  bool to_start = false;
  bool new_id = false;
  bool with_trash = false;
};

/// `stet models [VERB]`.
struct ModelsCommand {
  std::string verb;   // list or check
  std::string model;  // check's; empty: the configured one.
  bool json = false;
};

/// Nothing to run: text to print, and the exit code.
struct Answer {
  std::string text;
  int exit_code = 0;
};

using Command = std::variant<SessionsCommand, ModelsCommand, Answer>;

/// What the user asked for. Wrong usage is an Answer with exit code 2 that says what is wrong and
/// where the help is.
Command ParseArguments(int argc, const char* const* argv);

}  // namespace stet::cli
