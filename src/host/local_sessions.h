// LocalSessions: client::Sessions over the folders of this device, in this process. Owned by main.
#pragma once

#include <memory>
#include <vector>

#include "client/sessions.h"
#include "config/roots.h"
#include "log/index.h"

namespace stet::host {

/// Faults as clients are told of them.
protocol::FaultReports ReportsOf(const std::vector<log::Fault>& faults);

std::unique_ptr<client::Sessions> MakeLocalSessions(config::Roots roots);

}  // namespace stet::host
