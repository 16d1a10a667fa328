// The turns of a session, and how the user or the model names one to have it left out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "log/log.h"
#include "protocol/live.h"

namespace stet::lane {

/// Of the active view; the newest first.
Result<protocol::TurnRows> ReadTurns(const log::Log& log);

/// The row that `typed` names: the message's id, a beginning of it that only one has, "last", or a
/// number that counts from the newest one, from 1; when a turn `runs`, from the one before it.
/// kNotFound says why there is none.
Result<protocol::TurnRow> FindTurn(const log::Log& log, const protocol::TurnRows& rows,
                                   const std::string& typed, bool runs);

/// The position in `names` of the one that `typed` names: in full, or by a beginning that only one
/// has. kNotFound or kConflict; `noun` says in the message what was looked for.
Result<std::size_t> FindNamed(const std::vector<std::string>& names, const std::string& typed,
                              std::string_view noun);

}  // namespace stet::lane
