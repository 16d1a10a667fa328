#include "face/work_options.h"

#include <cerrno>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "client/await.h"
#include "face/slow_notice.h"
#include "json/json.h"
#include "json/view.h"

namespace stet::face {
namespace {

constexpr const char* kTheHost = "the background host to answer";
constexpr std::size_t kMaxStdin = std::size_t{10} << 20;
constexpr std::size_t kMaxSchema = std::size_t{1} << 20;

Result<std::string> GoTo(const std::string& folder) {
  std::error_code error;
  std::string cwd = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error && folder.empty()) return Fail(Code::kNotFound, "this folder has no name any more");
  if (error || !std::filesystem::is_directory(cwd, error))
    return Fail(Code::kInvalid, fmt::format("--cwd: there is no folder {}", folder));
  if (::chdir(cwd.c_str()) != 0) return FailSystem(errno, fmt::format("go to {}", cwd));
  return cwd;
}

/// JSON itself, or the name of a file with it.
Result<Raw> SchemaOf(const std::string& given) {
  Raw schema{given};
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && given[first] != '{') {
    ASSIGN_OR_RETURN(schema.text, ReadFile(given, kMaxSchema));
  }
  return CheckOutputSchema(std::move(schema), "--json-schema");
}

std::vector<std::string> SplitNames(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t begin = list.find_first_not_of(" ,");
    if (begin == std::string_view::npos) break;
    list.remove_prefix(begin);
    const std::size_t end = std::min(list.find_first_of(" ,"), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(end);
  }
  return names;
}

/// What is piped in; nothing when stdin is a terminal.
Result<std::string> PipedInput() {
  if (::isatty(STDIN_FILENO) == 1) return std::string();
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::string();  // Closed: there is no input.
    if (got == 0) return ReplaceInvalidUtf8(text);
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxStdin)
      return Fail(Code::kInvalid,
                  "what is piped in is larger than 10 MB: write it to a file and "
                  "name the file in the prompt");
  }
}

/// Which process the work is done in.
client::Work WorkOf(const WorkOptions& options) {
  if (options.host) return client::Work::kBackground;
  const bool old = options.continue_latest || options.resume;
  if (options.print || options.output_format == "stream-json")
    return old ? client::Work::kOldSession : client::Work::kNewSession;
  return client::Work::kConversation;
}

}  // namespace

Result<std::unique_ptr<client::Live>> OpenLive(const WorkOptions& options, const Clients& clients,
                                               std::string_view face, Console& console) {
  const client::Work work = WorkOf(options);
  if (work == client::Work::kNewSession) return clients.live(work, face);  // In this process.
  const SlowNotice slow(console, kTheHost);
  return clients.live(work, face);
}

Result<Raw> CheckOutputSchema(Raw schema, std::string_view name) {
  Result<Raw> checked = Raw::From(schema.text);
  if (!checked)
    return Fail(Code::kInvalid, fmt::format("{} is no JSON: {}", name, checked.error().message));
  schema = *std::move(checked);
  const JsonView json(schema.text);
  if (!json.is_object() || json["type"].StringOr("object") != "object")
    return Fail(Code::kInvalid, fmt::format("{} must be the schema of an object", name));
  return schema;
}

Result<protocol::Send> SendOf(const WorkOptions& options) {
  protocol::Send send;
  send.how = "send";
  send.text = options.prompt;
  ASSIGN_OR_RETURN(const std::string piped, PipedInput());
  if (!piped.empty()) send.text += (send.text.empty() ? "" : "\n\n") + piped;
  if (send.text.find_first_not_of(" \t\r\n") != std::string::npos) return send;
  // Nothing to add: the turn that was interrupted goes on.
  if (options.continue_latest || options.resume) {
    send.how = "continue";
    return send;
  }
  return Fail(Code::kInvalid, "there is no prompt: write it behind -p, or pipe it in");
}

Result<protocol::Attach> AttachOf(const WorkOptions& options, client::Live& live,
                                  Console& console) {
  protocol::Attach attach;
  ASSIGN_OR_RETURN(attach.cwd, GoTo(options.cwd));
  if (options.resume) attach.session_id = *options.resume;
  if (options.continue_latest) {
    const SlowNotice slow(console, kTheHost);
    ASSIGN_OR_RETURN(attach.session_id, client::Await(live, &client::Live::Latest, attach.cwd));
  }
  if (!options.session_id.empty()) attach.new_session_id = options.session_id;
  attach.fork = options.fork;
  if (!options.at.empty()) attach.at = options.at;
  attach.model = options.model;
  attach.fallback_model = options.fallback_model;
  if (!options.effort.empty()) attach.effort = options.effort;
  attach.mode = options.mode;
  attach.allowed = options.allowed;
  attach.disallowed = options.disallowed;
  if (options.tools) attach.tools = SplitNames(*options.tools);
  attach.add_dirs = options.add_dirs;
  attach.append_system_prompt = options.append_system_prompt;
  attach.system_prompt = options.system_prompt;
  if (!options.json_schema.empty()) {
    ASSIGN_OR_RETURN(attach.output_schema, SchemaOf(options.json_schema));
  }
  attach.max_steps = options.max_turns;
  attach.max_tokens = options.max_tokens;
  attach.max_price = std::llround(options.max_budget_usd * 1e6);
  attach.max_ms = std::llround(options.timeout_s * 1000);
  return attach;
}

}  // namespace stet::face
