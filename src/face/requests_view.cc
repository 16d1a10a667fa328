#include "face/requests_view.h"

#include <fmt/format.h>

#include "base/display_width.h"
#include "face/cost_view.h"

namespace stet::face {

std::string ReplayText(const protocol::ReplayReport& report) {
  std::string out;
  for (const protocol::ReplayRow& row : report.requests) {
    out += fmt::format("{:<12}  {:<10}  {:<28}  {:>9}  {}\n", row.verdict, row.purpose,
                       PrintableText(row.model), row.bytes, PrintableText(row.why));
  }
  return out + fmt::format("{} the same, {} different, {} not compared\n", report.same,
                           report.different, report.not_compared);
}

namespace {

std::string PredictionText(const protocol::ContextReport& report) {
  std::string out;
  if (report.cached)
    out += fmt::format("The server should have {} tokens of it in its cache.\n", *report.cached);
  if (!report.same_bytes) return out + "Nothing was sent yet.\n";
  if (!report.cause)
    return out + fmt::format("It begins with all {} bytes of the last request.\n",
                             report.last_bytes.value_or(0));
  out += fmt::format("It differs from the last request at byte {} of {}: {}", *report.same_bytes,
                     report.last_bytes.value_or(0), PrintableText(*report.cause));
  if (report.cost) out += fmt::format("; that costs about {}", MoneyText(*report.cost));
  return out + ".\n";
}

}  // namespace

std::string ContextText(const protocol::ContextReport& report) {
  std::string out = fmt::format("{} ({})\n\n", PrintableText(report.model), report.dialect);
  for (const protocol::ContextPart& part : report.parts) {
    out += fmt::format("{:<20} {:>6} {:>12} bytes {:>10} tokens\n", part.name, part.count,
                       part.bytes, part.tokens);
  }
  out += fmt::format("{:<20} {:>6} {:>12} bytes {:>10} tokens", "whole request", "", report.bytes,
                     report.tokens);
  out += report.error_permille
             ? fmt::format(" (the last estimate was {}.{} % off)\n", *report.error_permille / 10,
                           *report.error_permille % 10)
             : std::string(" (a rule of thumb)\n");
  if (report.counted)
    out += fmt::format("{:<20} {:>37} tokens\n", "the server counts", *report.counted);
  const std::int64_t tokens = report.counted.value_or(report.tokens);
  if (report.context_window > 0)
    out +=
        fmt::format("\n{} of {} tokens of the window ({} %); it is compacted at {}.\n", tokens,
                    report.context_window, tokens * 100 / report.context_window, report.threshold);
  return out + PredictionText(report);
}

}  // namespace stet::face
