// A copy of a log under other ids, for an import that may not keep its own.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "log/paths.h"

namespace stet::store {

/// Old session ids to new ones.
using NewIds = std::map<std::string, std::string, std::less<>>;

/// What a log is to be called.
struct LogNames {
  std::string session_id;
  std::string root_id;  // Of a child: the root in which it lies. Empty: it is a root.
};

/// Writes the log in that folder anew, which only the caller uses. The header has the new names,
/// and an id that was another one as its origin; its parent and the sessions that `task` events
/// name are called by their new ids. Every other byte stays as it is. A log without a header is
/// left.
Status RenameLog(const log::Paths& paths, const LogNames& names, const NewIds& ids);

}  // namespace stet::store
