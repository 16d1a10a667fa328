// WorkOptions: what a user wants done and how, and what it comes to: from the command line to a
// session that is attached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/live.h"
#include "face/clients.h"
#include "face/console.h"

namespace stet::face {

/// `stet [PROMPT]` and `stet -p`.
struct WorkOptions {
  std::int64_t max_turns = 0;
  /// Why nothing is done with these; said where the caller reads it. Empty: all is well.
  std::string refused;
  std::int64_t max_tokens = 0;
  double max_budget_usd = 0;
  double timeout_s = 0;
  std::string prompt;
  std::string output_format = "text";  // text, json or stream-json
  std::string input_format = "text";   // text or stream-json
  std::string json_schema;             // JSON, or the name of a file with it.
  std::string model;
  std::string fallback_model;
  std::string effort;
  std::string mode;
  std::string allowed;
  std::string disallowed;
  std::optional<std::string> tools;
  std::vector<std::string> add_dirs;
  std::string permission_prompt_tool;  // stdio: the reader of stream-json is asked.
  std::string append_system_prompt;
  std::optional<std::string> system_prompt;
  std::string cwd;
  std::optional<std::string> resume;  // Empty: picked from a list.
  std::string session_id;             // For a new session.
  std::string at;
  bool print = false;
  bool host = false;  // The turn runs in the background host.
  bool continue_latest = false;
  bool fork = false;
  bool verbose = false;
  bool partial_messages = false;
  bool replay_user_messages = false;
};

/// What does the work, in this process or another. `face` is what the client is named for. A host
/// that takes long to answer is said to be waited for.
Result<std::unique_ptr<client::Live>> OpenLive(const WorkOptions& options, const Clients& clients,
                                               std::string_view face, Console& console);

/// Goes to the folder of the options, too. kInvalid when there is no such folder, kNotFound when
/// there is no such file or session.
Result<protocol::Attach> AttachOf(const WorkOptions& options, client::Live& live, Console& console);

/// What is sent first: the prompt, and behind it what is piped in. With neither, a session that is
/// gone on with continues. kInvalid when there is nothing at all.
Result<protocol::Send> SendOf(const WorkOptions& options);

/// The schema that an answer must fit: of an object, because the answer is a call's arguments.
/// kInvalid says what is wrong with it, naming it `name`.
Result<Raw> CheckOutputSchema(Raw schema, std::string_view name);

}  // namespace stet::face
