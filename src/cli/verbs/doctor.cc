// `stet doctor`: what is wrong with this device, and what to do about it.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text_width.h"
#include "base/version.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct DoctorArguments {
  bool json = false;
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
Result<int> RunDoctor(const DoctorArguments& command, client::Device& device,
                      face::Console& console) {
  protocol::DoctorReport report;
  report.version = ProgramVersion();
  ASSIGN_OR_RETURN(report.checks, client::Await(device, &client::Device::Examine));
  report.checks.push_back(CheckTerminal(console));
  report.ok = std::ranges::none_of(
      report.checks, [](const protocol::CheckRow& row) { return row.verdict == "fail"; });
  std::string out;
  if (command.json) {
    out = Encode(report) + "\n";
  } else {
    out = fmt::format("stet {}\n", report.version);
    for (const protocol::CheckRow& row : report.checks) out += RowText(row, console);
  }
  return console.Print(out) && report.ok ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry DoctorVerb() {
  return {"doctor", "Say what is wrong here, and what to do", [](Verb& doctor) {
            const auto given = std::make_shared<DoctorArguments>();
            doctor.options = {JsonFlag(given->json)};
            doctor.run = Asks<&face::Clients::device>(given, RunDoctor);
          }};
}

}  // namespace stet::cli
