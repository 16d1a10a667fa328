#include "cli/doctor.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text_width.h"
#include "base/version.h"
#include "cli/exit_codes.h"
#include "client/await.h"

namespace stet::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// What a conversation needs of the terminal that we are in.
protocol::CheckRow CheckTerminal(const Terminal& terminal) {
  protocol::CheckRow row;
  row.name = "terminal";
  row.verdict = "ok";
  const std::string term = Variable("TERM");
  std::string locale = Variable("LC_ALL");
  if (locale.empty()) locale = Variable("LC_CTYPE");
  if (locale.empty()) locale = Variable("LANG");
  std::ranges::transform(locale, locale.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (!terminal.interactive() || !terminal.stdout_is_terminal()) {
    row.found = "none here; `stet -p` needs none";
  } else if (term.empty() || term == "dumb") {
    row.verdict = "warn";
    row.found = "TERM says that it can show nothing but text";
    row.advice = "Set TERM to what your terminal is, such as xterm-256color.";
  } else if (!locale.contains("utf-8") && !locale.contains("utf8")) {
    row.verdict = "warn";
    row.found = fmt::format("{}, with a locale that is not UTF-8", PrintableText(term));
    row.advice = "Set LANG to a UTF-8 locale, such as C.UTF-8.";
  } else {
    row.found = fmt::format("{}, {} columns", PrintableText(term), terminal.columns());
  }
  return row;
}

std::string RowText(const protocol::CheckRow& row, const Terminal& terminal) {
  const Style style = row.verdict == "ok"     ? Style::kGreen
                      : row.verdict == "warn" ? Style::kYellow
                                              : Style::kRed;
  std::string text =
      fmt::format("{}  {:<14} {}\n", terminal.Styled(style, fmt::format("{:<4}", row.verdict)),
                  row.name, PrintableText(row.found));
  if (row.advice) text += fmt::format("{:21}{}\n", "", *row.advice);
  return text;
}

Result<int> ShowConfig(const ConfigCommand& command, client::Device& device, Terminal& terminal) {
  ASSIGN_OR_RETURN(const protocol::ConfigReport report,
                   client::Await(device, &client::Device::Config));
  if (command.json) return terminal.Print(Encode(report) + "\n") ? kExitDone : kExitFailed;
  std::string out;
  for (const protocol::SettingRow& row : report.settings)
    out += fmt::format("{:<28} = {}  {}\n", PrintableText(row.key), PrintableText(row.value),
                       terminal.Styled(Style::kDim, "# " + PrintableText(row.source)));
  return terminal.Print(out) ? kExitDone : kExitFailed;
}

}  // namespace

Result<int> RunDoctor(const DoctorCommand& command, client::Device& device, Terminal& terminal) {
  protocol::DoctorReport report;
  report.version = ProgramVersion();
  ASSIGN_OR_RETURN(report.checks, client::Await(device, &client::Device::Examine));
  report.checks.push_back(CheckTerminal(terminal));
  report.ok = std::ranges::none_of(
      report.checks, [](const protocol::CheckRow& row) { return row.verdict == "fail"; });
  std::string out;
  if (command.json) {
    out = Encode(report) + "\n";
  } else {
    out = fmt::format("stet {}\n", report.version);
    for (const protocol::CheckRow& row : report.checks) out += RowText(row, terminal);
  }
  return terminal.Print(out) && report.ok ? kExitDone : kExitFailed;
}

Result<int> RunConfig(const ConfigCommand& command, client::Device& device, Terminal& terminal) {
  if (command.verb == "path")
    return terminal.Print(device.ConfigPath() + "\n") ? kExitDone : kExitFailed;
  if (command.verb == "show") return ShowConfig(command, device, terminal);
  ASSIGN_OR_RETURN(const protocol::ConfigReport report,
                   client::Await(device, &client::Device::Config));
  const std::string text = report.exists
                               ? fmt::format("{} is right\n", report.path)
                               : fmt::format("there is no {}: the defaults hold\n", report.path);
  return terminal.Print(text) ? kExitDone : kExitFailed;
}

}  // namespace stet::cli
