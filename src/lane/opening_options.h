// The options of an opening: what a client wants of a session only for as long as it holds it,
// beside what the log keeps (model, effort, mode, and what is disallowed).
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/live.h"

namespace stet::lane {

/// Whether a lane that was opened by one serves the other: all options are equal, those that are
/// not given too. Nothing is said of model, effort and mode, which a lane changes at once.
bool SameOptions(const protocol::Attach& one, const protocol::Attach& other);

/// A client that joins a session which another client has open takes it as it is; it may only
/// forbid more (`disallowed`). kConflict names what else it asks for that is not so: what the other
/// client counts on does not change under it.
Status MayJoin(const protocol::Attach& wanted, const protocol::Attach& in_force,
               const protocol::LiveState& state);

/// What is forbidden to one of several clients is forbidden to all: the rules of both.
std::string BothDisallowed(const std::string& in_force, const std::string& wanted);

/// `attach` as it holds beyond the opening: without what counts once, and without what the log has.
protocol::Attach InForce(protocol::Attach attach, const std::string& session_id);

/// How the session is opened when no client says how: `in_force` without its options, but for what
/// these forbid.
protocol::Attach WithoutOptions(const protocol::Attach& in_force);

}  // namespace stet::lane
