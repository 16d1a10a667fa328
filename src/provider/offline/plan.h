// The offline model's understanding: a small set of plain requests, turned into tool calls.
//
//   read FILE · list FILES · search TEXT [in PATH] · run COMMAND · replace A with B in FILE ·
//   write FILE: TEXT · several of these joined by "then"
//
// A name or text with spaces stands in quotes: "...", '...' or `...`. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace stet::provider {

struct PlannedCall {
  std::string tool;
  Raw args;
  std::string saying;  // What is about to be done, as a sentence for people.
};

/// The calls that `text` asks for, in order; absent when any part of it is not understood.
std::optional<std::vector<PlannedCall>> PlanRequest(std::string_view text);

}  // namespace stet::provider
