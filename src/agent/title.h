// A session's title, made by the auxiliary model out of the first prompt.
#pragma once

#include <string>

#include "base/async.h"
#include "base/cancel.h"
#include "log/log.h"
#include "provider/provider.h"

namespace stet::agent {

/// Asks, and appends the title as `session_info`, unless the session has one by then. Whatever goes
/// wrong leaves the session without a title. Log and model must outlive the task.
Async<void> AskForTitle(log::Log& log, provider::Provider& model, std::string prompt,
                        CancelToken cancel);

/// A reply as a title: one line without marks around it; empty when it is none.
std::string TitleFrom(std::string_view reply);

}  // namespace stet::agent
