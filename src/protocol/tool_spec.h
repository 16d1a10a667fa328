// ToolSpec: what a model is told of a tool.
#pragma once

#include <string>
#include <vector>

#include "json/json.h"

namespace stet::protocol {

struct ToolSpec {
  std::string name;
  std::string description;
  Raw schema{"{\"type\":\"object\"}"};  // JSON Schema of the arguments; an object.

  friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};
using ToolSpecs = std::vector<ToolSpec>;

}  // namespace stet::protocol
