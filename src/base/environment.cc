#include "base/environment.h"

#include <algorithm>

#include <unistd.h>

namespace stet {

Environment Environment::OfProcess() {
  std::vector<std::string> variables;
  for (char** own = environ; own != nullptr && *own != nullptr; ++own) variables.emplace_back(*own);
  return Environment(std::move(variables));
}

Environment::Environment(std::vector<std::string> variables) : variables_(std::move(variables)) {
  std::erase_if(variables_, [](const std::string& variable) {
    const std::size_t equals = variable.find('=');
    return equals == 0 || equals == std::string::npos || variable.contains('\0');
  });
}

std::string Environment::Get(std::string_view name) const {
  for (const std::string& variable : variables_) {
    if (VariableName(variable) == name) return variable.substr(name.size() + 1);
  }
  return "";
}

std::vector<std::string> Environment::Without(const std::vector<std::string>& names) const {
  std::vector<std::string> kept;
  for (const std::string& variable : variables_) {
    if (std::ranges::find(names, VariableName(variable)) == names.end()) kept.push_back(variable);
  }
  return kept;
}

Variables ProcessVariables(std::vector<std::string> without) {
  return [without = std::move(without)] { return Environment::OfProcess().Without(without); };
}

std::string_view VariableName(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace stet
