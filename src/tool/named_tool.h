// NamedTool: a tool that does nothing, for tests that need only its name and schema.
#pragma once

#include <string>
#include <utility>

#include "tool/tool.h"

namespace stet::tool {

class NamedTool final : public Tool {
 public:
  explicit NamedTool(std::string name, std::string schema = R"({"type":"object"})",
                     std::string description = "does nothing")
      : name_(std::move(name)), schema_(std::move(schema)), description_(std::move(description)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view description() const override { return description_; }
  [[nodiscard]] std::string_view schema() const override { return schema_; }
  [[nodiscard]] Result<Intent> Intend(const Raw&, const Workspace&) const override {
    return Intent();
  }
  Async<Outcome> Run(const Raw&, Call&) override { co_return Say("done"); }

 private:
  std::string name_;
  std::string schema_;
  std::string description_;
};

}  // namespace stet::tool
