#include "run/phase.h"

#include <algorithm>
#include <array>

namespace stet::run {
namespace {

struct Row {
  Phase phase;
  std::string_view name;
  Rights rights;
};

constexpr std::array kPhases = {
    Row{Phase::kIntake, "intake", {.write = false, .run = false, .finish = false}},
    Row{Phase::kPlan, "plan", {.write = false, .run = false, .finish = true}},
    Row{Phase::kExecute, "execute", {.write = true, .run = true, .finish = true}},
    Row{Phase::kVerify, "verify", {.write = false, .run = true, .finish = true}},
    Row{Phase::kReport, "report", {.write = false, .run = false, .finish = true}},
};

const Row& RowOf(Phase phase) { return *std::ranges::find(kPhases, phase, &Row::phase); }

}  // namespace

Phase PhaseFrom(std::string_view name) {
  const auto* found = std::ranges::find(kPhases, name, &Row::name);
  return found == kPhases.end() ? Phase::kIntake : found->phase;
}

std::string_view PhaseName(Phase phase) { return RowOf(phase).name; }

Rights RightsOf(Phase phase) { return RowOf(phase).rights; }

bool PermitsNoMore(Phase a, Phase b) {
  const Rights& left = RowOf(a).rights;
  const Rights& right = RowOf(b).rights;
  return left.write <= right.write && left.run <= right.run && left.finish <= right.finish;
}

}  // namespace stet::run
