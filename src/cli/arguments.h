// Arguments: the command line as a value. The one place that knows the command line library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "face/work_options.h"

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
  bool reveal = false;
  bool yes = false;
  bool all = false;
  bool to_start = false;
  bool new_id = false;
  bool with_trash = false;
  bool count = false;
  bool wire = false;
};

/// `stet models [VERB]`.
struct ModelsCommand {
  std::string verb;   // list or check
  std::string model;  // check's; empty: the configured one.
  bool json = false;
};

/// `stet setup`.
struct SetupCommand {
  bool asked = false;
  std::string provider;
  std::string model;
  std::string key_variable;
  bool yes = false;  // Takes what is not given by default, and replaces.
};

/// `stet doctor`.
struct DoctorCommand {
  bool asked = false;
  bool json = false;
};

/// `stet trust`.
struct TrustCommand {
  bool asked = false;
  std::vector<std::string> parts;
  bool all = false;
  bool none = false;
  std::string cwd;
  bool json = false;
};

/// `stet vault VERB`.
struct VaultCommand {
  std::string verb;  // set, get, ls or rm
  std::string name;
  bool reveal = false;
  bool json = false;
};

/// `stet sandbox -- COMMAND...`.
struct SandboxCommand {
  std::string network;  // Empty: the configuration's.
  std::vector<std::string> write;
  std::vector<std::string> command;  // Empty: it was not asked for.
};

/// `stet config VERB`.
struct ConfigCommand {
  std::string verb;  // show, check or path
  bool json = false;
};

/// `stet hooks ls`.
struct HooksCommand {
  std::string verb;  // ls
  std::string cwd;   // The folder whose sessions are meant; empty: this one.
  bool json = false;
};

/// `stet extensions ls`.
struct ExtensionsCommand {
  std::string verb;  // ls
  std::string cwd;   // The folder whose sessions are meant; empty: this one.
  bool json = false;
};

/// `stet host VERB`.
struct HostCommand {
  std::string verb;  // serve, start, stop, status, reset, install, logs, token
  bool json = false;
  std::string launched = "user";
  std::int64_t ready_fd = -1;
  std::optional<std::string> listen;
  bool exposed = false;
  std::optional<std::string> certificate;
  std::optional<std::string> key;
  bool print = false;      // The unit, instead of saying what to do with it.
  std::size_t lines = 50;  // Of the logs.
  std::string session_id;  // Whose log; as it was typed.
  std::string token_verb;  // add, ls, rm
  std::string name;        // Of a token.
  std::vector<std::string> rights;
};

/// `stet attach [ID]`.
struct AttachCommand {
  bool asked = false;
  std::string session_id;  // As it was typed; empty: the newest of this folder.
  std::string cwd;
};

/// `stet tasks VERB`.
struct TasksCommand {
  std::string verb;        // ls, show, stop or output
  std::string task_id;     // For all but ls.
  std::string session_id;  // As it was typed; empty: the newest of this folder.
  bool json = false;
  // Of the output:
  bool all = false;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> limit;
};

/// Nothing to run: text to print, and the exit code.
struct Answer {
  std::string text;
  int exit_code = 0;
};

using Command =
    std::variant<SessionsCommand, ModelsCommand, SetupCommand, DoctorCommand, ConfigCommand,
                 TrustCommand, VaultCommand, SandboxCommand, HooksCommand, ExtensionsCommand,
                 HostCommand, AttachCommand, TasksCommand, face::WorkOptions, Answer>;

/// What the user asked for. Wrong usage is an Answer with exit code 2 that says what is wrong and
/// where the help is.
Command ParseArguments(int argc, const char* const* argv);

}  // namespace stet::cli
