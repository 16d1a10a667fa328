#include "cli/work_arguments.h"

#include <deque>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/display_width.h"
#include "cli/print.h"

namespace stet::cli {
namespace {

/// An option that means something elsewhere and nothing here: ignoring it would be a surprise.
struct Refused {
  std::string name;
  bool flag = false;
  std::optional<std::string> value;
};

struct WorkArguments {
  face::WorkOptions options;
  std::vector<std::string> allowed;  // Each may have several rules.
  std::vector<std::string> disallowed;
  bool skip_permissions = false;
  bool ignored_flag = false;
  std::string ignored_value;
  std::deque<Refused> refused;
};

std::vector<Option> TurnOptions(face::WorkOptions& options) {
  return {
      {"-p,--print", &options.print,
       "Do what the prompt says, print the answer, and end; what is piped in is appended"},
      {"prompt", &options.prompt, "What to do"},
      {.names = "--output-format",
       .target = &options.output_format,
       .help = "text, json or stream-json",
       .check = OneOf{"text", "json", "stream-json"}},
      {.names = "--input-format",
       .target = &options.input_format,
       .help = "text or stream-json",
       .check = OneOf{"text", "stream-json"}},
      {"--include-partial-messages", &options.partial_messages,
       "With stream-json: replies as they come"},
      {"--replay-user-messages", &options.replay_user_messages,
       "With stream-json: repeat what was sent"},
      {"--json-schema", &options.json_schema, "What the answer must fit: JSON, or a file with it"},
      {.names = "--max-turns",
       .target = &options.max_turns,
       .help = "End after this many steps",
       .check = Between<int>{1, 1'000'000}},
      {.names = "--max-tokens",
       .target = &options.max_tokens,
       .help = "End when a turn has used this many tokens",
       .check = Between<int>{1, 1'000'000'000}},
      {.names = "--max-budget-usd",
       .target = &options.max_budget_usd,
       .help = "End when a turn has cost this much",
       .check = Between<double>{0.000001, 1'000'000.0}},
      {.names = "--timeout",
       .target = &options.timeout_s,
       .help = "End a turn after this many seconds",
       .check = Between<double>{0.001, 10'000'000.0}},
      {"--verbose", &options.verbose, "Tell what is being done, on stderr"},
  };
}

std::vector<Option> ModelOptions(face::WorkOptions& options) {
  return {
      {"--model", &options.model, "PROVIDER/ID, a name of the configuration, or offline"},
      {"--fallback-model", &options.fallback_model, "Asked when the model is overloaded"},
      {.names = "--effort",
       .target = &options.effort,
       .help = "How hard the model thinks",
       .check = OneOf{"none", "minimal", "low", "medium", "high", "xhigh", "max"}},
      {"--append-system-prompt", &options.append_system_prompt,
       "More instructions for a new session"},
      {"--system-prompt", &options.system_prompt, "Instructions in place of stet's own"},
  };
}

std::vector<Option> SessionOptions(face::WorkOptions& options) {
  return {
      {"-c,--continue", &options.continue_latest, "Go on with the newest session of this folder"},
      {.names = "-r,--resume",
       .target = &options.resume,
       .help = "Go on with this session; without ID, pick one",
       .values = Values::kOptional,
       .shown_type = "[ID]"},
      {"--fork-session", &options.fork, "Work on a copy of the session"},
      {"--host", &options.host, "Work in the background host: it goes on without this terminal"},
      {"--at", &options.at, "Go back to this event first"},
      {"--session-id", &options.session_id, "The id of the new session"},
      {"--cwd", &options.cwd, "The folder to work in"},
      {"--add-dir", &options.add_dirs, "A folder that counts as part of the project"},
  };
}

std::vector<Option> PermissionOptions(WorkArguments& given) {
  face::WorkOptions& options = given.options;
  return {
      {.names = "--permission-mode",
       .target = &options.mode,
       .help = "default, acceptEdits, auto, plan, dontAsk or bypass",
       .check = OneOf{"default", "acceptEdits", "auto", "plan", "dontAsk", "bypass",
                      "bypassPermissions"}},  // The last as others spell it.
      {.names = "--allowed-tools,--allowedTools",
       .target = &given.allowed,
       .help = "Rules for what may run unasked: Tool, Tool(beginning*)",
       .values = Values::kOneByOne},
      {.names = "--disallowed-tools,--disallowedTools",
       .target = &given.disallowed,
       .help = "Rules for what may not run",
       .values = Values::kOneByOne},
      {"--tools", &options.tools,
       "The only tools there are, with commas between; the session keeps to it. default: all"},
      {"--dangerously-skip-permissions", &given.skip_permissions,
       "The same as --permission-mode bypass"},
      {"--permission-prompt-tool", &options.permission_prompt_tool,
       "stdio: the reader of stream-json is asked"},
  };
}

/// Options that SDKs pass and that change nothing here.
std::vector<Option> IgnoredOptions(WorkArguments& given) {
  std::vector<Option> ignored;
  for (const char* name : {"--allow-dangerously-skip-permissions", "--strict-mcp-config"})
    ignored.push_back({.names = name, .target = &given.ignored_flag, .help = "", .hidden = true});
  // Only the user's own settings are read, whatever sources are named.
  ignored.push_back(
      {.names = "--setting-sources", .target = &given.ignored_value, .help = "", .hidden = true});
  return ignored;
}

std::vector<Option> RefusedOptions(WorkArguments& given) {
  std::vector<Option> refused;
  for (const char* name : {"--mcp-config", "--plugin-dir", "--settings", "--betas", "--agents",
                           "--agent", "--max-thinking-tokens"})
    refused.push_back({.names = name,
                       .target = &given.refused.emplace_back(Refused{.name = name}).value,
                       .help = "",
                       .hidden = true});
  for (const char* name : {"--no-session-persistence", "--include-hook-events", "--bare", "--ide"})
    refused.push_back({.names = name,
                       .target = &given.refused.emplace_back(Refused{.name = name}).flag,
                       .help = "",
                       .hidden = true});
  return refused;
}

/// What of the options about sessions does not go together; empty when all does.
std::string WrongSession(const face::WorkOptions& options) {
  if (options.continue_latest && options.resume)
    return "--continue and --resume name two sessions: use one of them";
  const bool resumes = options.continue_latest || options.resume;
  if ((options.fork || !options.at.empty()) && !resumes)
    return "--fork-session and --at need a session: add -c or -r ID";
  if (!options.session_id.empty() && resumes && !options.fork)
    return "--session-id is for a new session, or with --fork-session";
  if (options.print && options.resume && options.resume->empty())
    return "-p -r needs the session's id: -p asks nothing, so none can be picked";
  return "";
}

/// What of the options about stream-json does not go together; empty when all does.
std::string WrongStream(const face::WorkOptions& options) {
  const bool streams = options.output_format == "stream-json";
  if (options.input_format == "stream-json" && !streams)
    return "--input-format stream-json needs --output-format stream-json";
  if (options.partial_messages && !streams)
    return "--include-partial-messages needs --output-format stream-json";
  if (!options.permission_prompt_tool.empty() && options.permission_prompt_tool != "stdio")
    return fmt::format(
        "--permission-prompt-tool {} is not supported: only stdio is, by which the reader of "
        "stream-json is asked; a PermissionRequest hook can answer as well",
        options.permission_prompt_tool);
  if (!options.permission_prompt_tool.empty() && options.input_format != "stream-json")
    return "--permission-prompt-tool stdio needs --input-format stream-json";
  return "";
}

/// What cannot be a model's name whatever is configured; empty when all can.
std::string WrongModel(const face::WorkOptions& options) {
  for (const auto& [name, value] : {std::pair("--model", &options.model),
                                    std::pair("--fallback-model", &options.fallback_model)}) {
    if (value->starts_with('/') || value->ends_with('/'))
      return fmt::format("{}: {} lacks the provider or the id: write PROVIDER/ID", name,
                         PrintableText(*value));
  }
  return "";
}

/// Where in `text` the parenthesis that opens at `open` closes; npos: nowhere.
std::size_t ClosingOf(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

/// What of a list of rules is none, as policy reads it; empty when all are.
std::string_view NoRule(std::string_view rules) {
  constexpr std::string_view kBetween = " ,\n\t";
  std::size_t at = rules.find_first_not_of(kBetween);
  while (at != std::string_view::npos) {
    const std::size_t begin = at;
    at = rules.find_first_of(" ,(\n\t", at);
    if (at != std::string_view::npos && rules[at] == '(') {
      const std::size_t close = ClosingOf(rules, at);
      if (close == std::string_view::npos || at == begin) return rules.substr(begin);
      at = close + 1;
    }
    at = rules.find_first_not_of(kBetween, at);
  }
  return "";
}

/// Which rule cannot be read; empty when all can.
std::string WrongRule(const WorkArguments& given) {
  for (const auto& [name, values] : {std::pair("--allowed-tools", &given.allowed),
                                     std::pair("--disallowed-tools", &given.disallowed)}) {
    for (const std::string& value : *values) {
      if (const std::string_view wrong = NoRule(value); !wrong.empty())
        return fmt::format("{}: {} is no rule: write Tool or Tool(...)", name,
                           PrintableText(wrong));
    }
  }
  return "";
}

/// A program that writes requests would be killed by the broken pipe if it was refused before it is
/// heard: it reads why from its first answer.
bool IsSaidInStream(const face::WorkOptions& options) {
  return options.input_format == "stream-json" && options.output_format == "stream-json";
}

std::string WrongWork(const WorkArguments& given) {
  std::string refused;
  for (const Refused& one : given.refused)
    if (one.flag || one.value) refused = one.name;
  if (!refused.empty()) return fmt::format("{} is not supported: leave it out", refused);
  for (const auto& check : {WrongSession, WrongStream, WrongModel})
    if (std::string wrong = check(given.options); !wrong.empty()) return wrong;
  return WrongRule(given);
}

Result<int> RunWork(const WorkArguments& given, const VerbEnvironment& with) {
  face::WorkOptions options = given.options;
  options.allowed = fmt::format("{}", fmt::join(given.allowed, ","));
  options.disallowed = fmt::format("{}", fmt::join(given.disallowed, ","));
  if (given.skip_permissions) options.mode = "bypass";
  const bool streams = options.output_format == "stream-json";
  options.print = options.print || streams;  // As SDKs leave -p out.
  options.refused = WrongWork(given);
  if (streams) return with.faces.stream_json(options, with.clients, with.console);
  if (options.print) return RunPrint(options, with.clients, with.console);
  return with.faces.conversation(options, with.clients, with.console);
}

}  // namespace

void DescribeWork(Verb& program) {
  const auto given = std::make_shared<WorkArguments>();
  for (std::vector<Option> options :
       {TurnOptions(given->options), ModelOptions(given->options), SessionOptions(given->options),
        PermissionOptions(*given), IgnoredOptions(*given), RefusedOptions(*given)})
    std::ranges::move(options, std::back_inserter(program.options));
  program.wrong = [given] {
    return IsSaidInStream(given->options) ? std::string() : WrongWork(*given);
  };
  program.run = [given](const VerbEnvironment& with) { return RunWork(*given, with); };
}

}  // namespace stet::cli
