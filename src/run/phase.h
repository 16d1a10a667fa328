// The phases of a run, and what each permits. Pure.
#pragma once

#include <string_view>

namespace stet::run {

enum class Phase { kIntake, kPlan, kExecute, kVerify, kReport };

struct Rights {
  bool write = false;
  bool run = false;
  bool finish = false;
};

/// A name that is none of ours is read as intake: that permits least.
Phase PhaseFrom(std::string_view name);
std::string_view PhaseName(Phase phase);

/// Planning permits reading only; verifying permits running but not writing; reporting neither.
Rights RightsOf(Phase phase);

/// Whether `a` permits nothing that `b` does not.
bool PermitsNoMore(Phase a, Phase b);

}  // namespace stet::run
