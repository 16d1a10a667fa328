// Environment: the variables that commands are started with and keys are looked up in: this
// process's own, or those that a client handed over.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stet {

class Environment {
 public:
  /// As it is now.
  static Environment OfProcess();

  /// "NAME=value" each; what is not of that form is left out.
  explicit Environment(std::vector<std::string> variables);

  /// Empty when it is not set.
  [[nodiscard]] std::string Get(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& variables() const { return variables_; }
  /// All but those of these names.
  [[nodiscard]] std::vector<std::string> Without(const std::vector<std::string>& names) const;

 private:
  std::vector<std::string> variables_;
};

/// What a program is started with, asked for when it starts.
using Variables = std::function<std::vector<std::string>()>;

/// Those of this process, without these names.
Variables ProcessVariables(std::vector<std::string> without);

/// The name of a "NAME=value".
std::string_view VariableName(std::string_view variable);

}  // namespace stet
