// VerifyTree: everything that is wrong with a session and with the child sessions in its folder, at
// once. Reads without locks and changes nothing.
#pragma once

#include <string>

#include "base/result.h"
#include "log/verify.h"
#include "protocol/session.h"
#include "store/session_store.h"

namespace stet::store {

/// Faults as clients are told of them.
protocol::FaultReports ReportsOf(const std::vector<log::Fault>& faults);

/// Of a root: itself, its children, and what stands among them that is none. Of a child: itself.
/// Beside the faults of logs:
///   not_a_session   an entry of agents/ that is no folder, or whose name is no id
///   unreadable      a folder without a log that can be read
///   not_plain       something in a session's folder that is neither a file nor a folder
///   nested_agents   a child's folder with a folder of children
///   foreign_id      the header names another session than the folder does
///   foreign_root    the header names another root than the one it lies in
///   child_as_root   a child by its header that lies where roots do
///   missing_root    a child whose root has no log
///   id_taken        another session has its id
/// Fails when there is nothing to verify.
Result<protocol::VerifyReport> VerifyTree(const SessionStore& store, const std::string& session_id);

}  // namespace stet::store
