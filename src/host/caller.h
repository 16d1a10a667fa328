// Caller: the client that asks a host, and its rights.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "protocol/content.h"

namespace stet::host {

struct Caller {
  std::string client_id;
  std::string name;  // Of the token or the program, for people.
  protocol::Texts rights;
  bool local = false;  // On the unix socket.

  [[nodiscard]] bool May(std::string_view right) const {
    return std::ranges::find(rights, right) != rights.end();
  }
};

}  // namespace stet::host
