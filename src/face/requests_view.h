// A session's requests, as people read about them.
#pragma once

#include <string>

#include "protocol/requests.h"

namespace stet::face {

std::string ReplayText(const protocol::ReplayReport& report);
std::string ContextText(const protocol::ContextReport& report);

}  // namespace stet::face
