// Registry: the tools of a session by name, and the check of a call against a tool's own schema.
// Owns the tools. Belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/schema/schema.h"
#include "protocol/tool_spec.h"
#include "tool/tool.h"

namespace stet::tool {

class Registry {
 public:
  /// kConflict when the name is taken; kInvalid or kUnsupported when its schema cannot be used.
  Status Add(std::unique_ptr<Tool> tool);

  /// Null when there is none.
  [[nodiscard]] Tool* Find(std::string_view name) const;

  /// Whether a call can be tried. Every error is for the model: kNotFound names the tools with the
  /// nearest names, kInvalid lists what is wrong with the arguments.
  [[nodiscard]] Status Check(std::string_view name, const Raw& args) const;

  /// Sorted by name.
  [[nodiscard]] protocol::ToolSpecs Specs() const;

 private:
  struct Entry {
    std::unique_ptr<Tool> tool;
    std::shared_ptr<const JsonSchema> schema;  // Shared by all sessions that have such a tool.
  };

  std::map<std::string, Entry, std::less<>> tools_;
};

}  // namespace stet::tool
