// The list of sessions, page by page. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/session.h"

namespace stet::acp {

struct ListWanted {
  std::optional<std::string> cwd;     // Only sessions of this folder.
  std::optional<std::string> cursor;  // Behind this place, as a page before gave it.
};

/// A page as the result of session/list, the newest first. Sessions in which nothing was said and
/// those of agents are left out. kInvalid for a cursor that is none. One that is worked on between
/// two pages has moved to the first.
Result<std::string> ListPage(std::vector<protocol::SessionSummary> sessions,
                             const ListWanted& wanted);

}  // namespace stet::acp
