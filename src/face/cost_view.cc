#include "face/cost_view.h"

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::face {
namespace {

constexpr std::size_t kNameColumns = 34;

std::string Row(std::string_view name, const protocol::CostSum& sum) {
  std::string label = FitText(PrintableText(name), kNameColumns);
  label.append(kNameColumns - std::min(kNameColumns, TextWidth(label)), ' ');
  std::string notes;
  if (sum.unknown_calls > 0) notes += fmt::format("  {} not fully reported", sum.unknown_calls);
  if (sum.unpriced_calls > 0) notes += fmt::format("  {} without a price", sum.unpriced_calls);
  return fmt::format("{}  {:>6} {:>8} {:>12} {:>12} {:>12} {:>12} {:>12}{}\n", label, sum.calls,
                     sum.attempts, sum.input, sum.cache_read, sum.cache_write, sum.output,
                     MoneyText(sum.price), notes);
}

std::string Rows(std::string_view title, const protocol::CostSums& sums) {
  if (sums.size() < 2) return "";
  std::string out = fmt::format("\n{}\n", title);
  for (const protocol::CostSum& sum : sums) out += Row(sum.name.empty() ? "-" : sum.name, sum);
  return out;
}

}  // namespace

std::string MoneyText(std::int64_t micro) {
  constexpr std::int64_t kMillion = 1'000'000;
  constexpr std::int64_t kCent = 10'000;
  if (micro % kCent == 0)
    return fmt::format("${}.{:02}", micro / kMillion, micro % kMillion / kCent);
  return fmt::format("${}.{:06}", micro / kMillion, micro % kMillion);
}

std::string CostText(const protocol::CostReport& report) {
  std::string out =
      fmt::format("{:<{}}  {:>6} {:>8} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "", kNameColumns,
                  "calls", "attempts", "input", "cache read", "cache write", "output", "cost");
  out += Row("session", report.total);
  out += Rows("by purpose", report.purposes);
  out += Rows("by model", report.models);
  out += Rows("by turn", report.turns);
  return out;
}

}  // namespace stet::face
