#include "store/meant_session.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stet::store {
namespace {

/// The ids that `typed` may mean: itself, or all that begin with it.
std::vector<std::string> Candidates(const std::vector<std::string>& ids, std::string_view typed) {
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id == typed) return {id};
    if (id.starts_with(typed) || id.starts_with("ses_" + std::string(typed))) found.push_back(id);
  }
  return found;
}

}  // namespace

Result<std::string> OneMeant(const std::vector<std::string>& ids, std::string_view typed,
                             std::string_view hint) {
  const std::vector<std::string> found = Candidates(ids, typed);
  if (typed.empty() || found.empty())
    return Fail(Code::kNotFound, fmt::format("no session \"{}\": {}", typed, hint));
  if (found.size() == 1) return found.front();
  constexpr std::size_t kShown = 5;
  return Fail(
      Code::kConflict,
      fmt::format("\"{}\" may mean {} sessions, {}{}: type more of the id", typed, found.size(),
                  fmt::join(found.begin(), found.begin() + std::min(kShown, found.size()), ", "),
                  found.size() > kShown ? ", ..." : ""));
}

}  // namespace stet::store
