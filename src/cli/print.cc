#include "cli/print.h"

#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/json_writer.h"
#include "base/text_width.h"
#include "base/utf8.h"
#include "cli/exit_codes.h"

namespace stet::cli {
namespace {

constexpr std::size_t kMaxStdin = std::size_t{10} << 20;

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

Result<protocol::Submission> MakeSubmission(const PrintCommand& command, client::Turns& turns) {
  protocol::Submission submission;
  submission.text = command.prompt;
  ASSIGN_OR_RETURN(const std::string piped, PipedInput());
  if (!piped.empty()) submission.text += (submission.text.empty() ? "" : "\n\n") + piped;
  if (submission.text.find_first_not_of(" \t\r\n") == std::string::npos)
    return Fail(Code::kInvalid, "there is no prompt: write it behind -p, or pipe it in");
  std::error_code error;
  submission.cwd = std::filesystem::canonical(command.cwd.empty() ? "." : command.cwd, error);
  if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", command.cwd));
  if (::chdir(submission.cwd.c_str()) != 0)
    return FailSystem(errno, fmt::format("go to {}", submission.cwd));
  submission.model = command.model;
  if (!command.effort.empty()) submission.effort = command.effort;
  submission.mode = command.mode;
  submission.allowed = command.allowed;
  submission.disallowed = command.disallowed;
  submission.append_system_prompt = command.append_system_prompt;
  submission.max_steps = command.max_turns;
  if (!command.resume.empty()) submission.session_id = command.resume;
  if (command.continue_latest) {
    ASSIGN_OR_RETURN(submission.session_id, turns.Latest(submission.cwd));
  }
  return submission;
}

/// Tells of tools and waits on stderr.
void Tell(Terminal& terminal, const protocol::Transient& transient) {
  if (const auto* start = std::get_if<protocol::ToolExecutionStart>(&transient.transient)) {
    terminal.Say(FitText(PrintableText(fmt::format("{} {}", start->tool_name, start->args.text)),
                         terminal.columns()));
  } else if (const auto* wait = std::get_if<protocol::Wait>(&transient.transient)) {
    terminal.Say(PrintableText(fmt::format("waiting for the {}: {}", wait->who, wait->what)));
  }
}

int ExitCodeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return kExitDone;
  if (report.reason == "cancelled") return kExitInterrupted;
  if (report.reason == "max_turns") return kExitLimit;
  return report.failure == "auth" ? kExitAuth : kExitFailed;
}

std::string_view SubtypeOf(const protocol::TurnReport& report) {
  if (report.reason == "completed") return "success";
  return report.reason == "max_turns" ? "error_max_turns" : "error_during_execution";
}

/// In the members that scripts look for in such results.
std::string ResultJson(const protocol::TurnReport& report) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject().Member("type", "result").Member("subtype", SubtypeOf(report));
  writer.Member("is_error", report.reason != "completed");
  writer.Member("duration_ms", report.duration_ms).Member("num_turns", report.steps);
  writer.Member("result", report.text).Member("session_id", report.session_id);
  writer.Key("total_cost_usd")
      .Text(fmt::format("{}.{:06}", report.cost.price / 1'000'000, report.cost.price % 1'000'000));
  writer.Key("usage").BeginObject();
  writer.Member("input_tokens", report.cost.input).Member("output_tokens", report.cost.output);
  writer.Member("cache_read_input_tokens", report.cost.cache_read);
  writer.Member("cache_creation_input_tokens", report.cost.cache_write).EndObject();
  writer.Key("permission_denials").BeginArray();
  for (const protocol::DenialRow& denial : report.denials) {
    writer.BeginObject().Member("tool_name", denial.tool_name);
    writer.Member("tool_use_id", denial.tool_call_id).Member("tool_input", denial.args).EndObject();
  }
  writer.EndArray().Member("model", report.model).Member("terminal_reason", report.reason);
  if (report.error) writer.Member("error", *report.error);
  writer.EndObject();
  return json + "\n";
}

}  // namespace

Result<int> RunPrint(const PrintCommand& command, client::Turns& turns, Terminal& terminal) {
  const InterruptWatch interrupt;
  ASSIGN_OR_RETURN(const protocol::Submission submission, MakeSubmission(command, turns));
  const client::Watcher watcher = [&](const protocol::Event*,
                                      const protocol::Transient* transient) {
    if (command.verbose && transient != nullptr) Tell(terminal, *transient);
  };
  ASSIGN_OR_RETURN(const protocol::TurnReport report,
                   turns.Submit(submission, watcher, interrupt.token()));
  const bool json = command.output_format == "json";
  const std::string out = json ? ResultJson(report) : report.text.empty() ? "" : report.text + "\n";
  if (!terminal.Print(out)) return kExitFailed;
  if (report.error) terminal.Say(fmt::format("stet: {}", PrintableText(*report.error)));
  for (const protocol::DenialRow& denial : report.denials) {
    terminal.Say(
        PrintableText(fmt::format("refused: {} {} (rule: {}); allow it with --allowed-tools "
                                  "or --permission-mode",
                                  denial.tool_name, denial.args.text, denial.rule)));
  }
  return ExitCodeOf(report);
}

}  // namespace stet::cli
