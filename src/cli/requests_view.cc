#include "cli/requests_view.h"

#include <fmt/format.h>

#include "base/text_width.h"

namespace stet::cli {

std::string ReplayText(const protocol::ReplayReport& report) {
  std::string out;
  for (const protocol::ReplayRow& row : report.requests) {
    out += fmt::format("{:<12}  {:<10}  {:<28}  {:>9}  {}\n", row.verdict, row.purpose,
                       PrintableText(row.model), row.bytes, PrintableText(row.why));
  }
  return out + fmt::format("{} the same, {} different, {} not compared\n", report.same,
                           report.different, report.not_compared);
}

std::string ContextText(const protocol::ContextReport& report) {
  std::string out = fmt::format("{} ({})\n\n", PrintableText(report.model), report.dialect);
  for (const protocol::ContextPart& part : report.parts) {
    out += fmt::format("{:<20} {:>6} {:>12} bytes {:>10} tokens\n", part.name, part.count,
                       part.bytes, part.tokens);
  }
  const double share = report.context_window > 0 ? 100.0 * static_cast<double>(report.tokens) /
                                                       static_cast<double>(report.context_window)
                                                 : 0;
  out += fmt::format("{:<20} {:>6} {:>12} bytes {:>10} tokens, {:.1f} % of {}\n", "whole request",
                     "", report.bytes, report.tokens, share, report.context_window);
  out += "Tokens are estimated.\n";
  if (report.same_bytes) out += fmt::format("The last request is kept {}.\n", report.difference);
  return out;
}

}  // namespace stet::cli
