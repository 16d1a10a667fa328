#include "face/chosen_session.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "client/await.h"

namespace stet::face {

Result<std::string> ChosenSession(const std::string& typed, const std::string& cwd,
                                  client::Sessions& sessions) {
  if (!typed.empty()) return client::Await(sessions, &client::Sessions::Resolve, typed);
  std::error_code error;
  const std::string here = std::filesystem::canonical(cwd.empty() ? "." : cwd, error).string();
  if (error) return Fail(Code::kNotFound, "this folder has no name any more");
  ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> all,
                   client::Await(sessions, &client::Sessions::List, false));
  // One in which nothing was said only when there is no other.
  auto newest = std::ranges::find_if(all, [&](const protocol::SessionSummary& one) {
    return one.cwd == here && one.user_messages > 0;
  });
  if (newest == all.end()) newest = std::ranges::find(all, here, &protocol::SessionSummary::cwd);
  if (newest == all.end())
    return Fail(
        Code::kNotFound,
        fmt::format("no session was started in {}: name one, `stet sessions ls` lists them", here));
  return newest->session_id;
}

}  // namespace stet::face
