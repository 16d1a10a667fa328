#include "sandbox/profile.h"

#include <algorithm>

namespace stet::sandbox {
namespace {

bool Fits(std::string_view pattern, std::string_view name) {
  const bool front = pattern.starts_with('*');
  if (front) pattern.remove_prefix(1);
  const bool back = pattern.ends_with('*');
  if (back) pattern.remove_suffix(1);
  if (front && back) return name.contains(pattern);
  if (front) return name.ends_with(pattern);
  return back ? name.starts_with(pattern) : name == pattern;
}

}  // namespace

bool IsNetwork(std::string_view name) {
  return name == network::kOff || name == network::kLoopback || name == network::kHosts ||
         name == network::kOpen;
}

bool Inside(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Texts KeptVariables(Texts variables, const Profile& profile) {
  std::erase_if(variables, [&](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const auto fits = [&](const std::string& pattern) { return Fits(pattern, name); };
    const bool kept =
        profile.kept_variables.empty() || std::ranges::any_of(profile.kept_variables, fits);
    return !kept || std::ranges::any_of(profile.dropped_variables, fits);
  });
  return variables;
}

}  // namespace stet::sandbox
