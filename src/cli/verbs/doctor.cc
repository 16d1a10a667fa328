// `stet doctor`: what is wrong with this device, and what to do about it. The background host has
// an environment of its own, so its keys and programs may be others: --host asks it.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/version.h"
#include "cli/verb.h"
#include "client/await.h"
#include "client/remote/device.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct DoctorArguments {
  bool json = false;
  bool host = false;  // What the background host finds.
};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// What a conversation needs of the terminal that we are in.
protocol::CheckRow CheckTerminal(const face::Console& console) {
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
  if (!console.interactive() || !console.stdout_is_terminal()) {
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
    row.found = fmt::format("{}, {} columns", PrintableText(term), console.columns());
  }
  return row;
}

std::string RowText(const protocol::CheckRow& row, const face::Console& console) {
  const face::Style style = row.verdict == "ok"     ? face::Style::kGreen
                            : row.verdict == "warn" ? face::Style::kYellow
                                                    : face::Style::kRed;
  std::string text =
      fmt::format("{}  {:<14} {}\n", console.Styled(style, fmt::format("{:<4}", row.verdict)),
                  row.name, PrintableText(row.found));
  if (row.advice) text += fmt::format("{:21}{}\n", "", *row.advice);
  return text;
}

/// kExitFailed when something must be put right.
int Show(protocol::CheckRows checks, bool json, face::Console& console) {
  protocol::DoctorReport report;
  report.version = ProgramVersion();
  report.checks = std::move(checks);
  report.ok = std::ranges::none_of(
      report.checks, [](const protocol::CheckRow& row) { return row.verdict == "fail"; });
  std::string text = fmt::format("stet {}\n", report.version);
  for (const protocol::CheckRow& row : report.checks) text += RowText(row, console);
  const bool told = json ? console.PrintJson(Encode(report) + "\n") : console.Print(text);
  return told && report.ok ? face::kExitDone : face::kExitFailed;
}

Result<int> ExamineHere(const DoctorArguments& command, const VerbEnvironment& with) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, with.clients.device());
  ASSIGN_OR_RETURN(protocol::CheckRows checks, client::Await(*device, &client::Device::Examine));
  checks.push_back(CheckTerminal(with.console));
  return Show(std::move(checks), command.json, with.console);
}

/// None is started for this: what it would find is not what sessions met.
Result<int> ExamineHost(const DoctorArguments& command, const VerbEnvironment& with) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::HostControl> control, with.clients.host());
  ASSIGN_OR_RETURN(const protocol::HostReport running, control->Report());
  if (!running.status)
    return Fail(Code::kUnavailable, "no host runs that could be asked. Type: stet host start");
  ASSIGN_OR_RETURN(const std::unique_ptr<client::RemoteLive> host, with.clients.remote("doctor"));
  const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*host);
  ASSIGN_OR_RETURN(protocol::CheckRows checks, client::Await(*device, &client::Device::Examine));
  return Show(std::move(checks), command.json, with.console);
}

}  // namespace

VerbEntry DoctorVerb() {
  return {"doctor", "Say what is wrong here, and what to do", [](Verb& doctor) {
            const auto given = std::make_shared<DoctorArguments>();
            doctor.options = {
                JsonFlag(given->json),
                {"--host", &given->host, "What the background host finds, in its environment"}};
            doctor.run = [given](const VerbEnvironment& with) {
              return given->host ? ExamineHost(*given, with) : ExamineHere(*given, with);
            };
          }};
}

}  // namespace stet::cli
