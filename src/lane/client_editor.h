// The editor of a client that has offered it (client/services.h), as tools have one: every wait is
// bounded, and what the client answers is checked.
#pragma once

#include <memory>
#include <string>

#include "base/loop.h"
#include "client/services.h"
#include "tool/editor.h"

namespace stet::lane {

/// For the loop's thread; `loop` outlives it.
std::shared_ptr<tool::Editor> MakeClientEditor(Loop& loop, std::string session_id,
                                               std::shared_ptr<client::Services> services);

}  // namespace stet::lane
