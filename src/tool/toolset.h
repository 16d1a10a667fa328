// Toolset: the frozen list of tools that a session's model sees: names, order, descriptions and
// schemas, whatever the tools themselves have become since. A value; cheap to move.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/schema/schema.h"
#include "protocol/tool_spec.h"

namespace stet::tool {

/// The list as a blob of the log keeps it, and back. kCorrupt when it cannot be read.
std::string EncodeToolSpecs(const protocol::ToolSpecs& specs);
Result<protocol::ToolSpecs> DecodeToolSpecs(std::string_view json);

class Toolset {
 public:
  Toolset() = default;
  explicit Toolset(protocol::ToolSpecs specs);

  [[nodiscard]] const protocol::ToolSpecs& specs() const { return specs_; }
  [[nodiscard]] std::vector<std::string_view> names() const;
  /// Null when the model does not see such a tool.
  [[nodiscard]] const protocol::ToolSpec* Find(std::string_view name) const;

  /// Whether a call fits what the model was shown. Every error is for the model: kNotFound names
  /// the tools with the nearest names, kInvalid lists what is wrong with the arguments.
  [[nodiscard]] Status Check(std::string_view name, const Raw& args) const;

  friend bool operator==(const Toolset& one, const Toolset& other) {
    return one.specs_ == other.specs_;
  }

 private:
  protocol::ToolSpecs specs_;
  /// Of each spec. Null where this version cannot read it: the tool's own schema is checked anyway.
  std::vector<std::shared_ptr<const JsonSchema>> schemas_;
};

}  // namespace stet::tool
