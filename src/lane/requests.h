// Requests of a session made again from its log, to prove that the same log gives the same bytes.
// Reads only; nothing is sent.
#pragma once

#include "agent/workbench.h"
#include "config/settings.h"
#include "log/log.h"
#include "protocol/requests.h"

namespace stet::lane {

/// Makes every request of the session's turns again and compares it with what was sent. Requests
/// of other purposes, and of models that the configuration no longer has, are not compared.
Result<protocol::ReplayReport> ReplayRequests(log::Log& log, const config::Settings& settings);

/// Makes the last request of a turn again, and lets the workbench know what it was: what follows is
/// compared with it, and counted by what its server reported. What cannot be made is not compared.
void PrimeRequests(agent::Workbench& bench, const config::Settings& settings);

}  // namespace stet::lane
