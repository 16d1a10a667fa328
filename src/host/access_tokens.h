// Tokens: which clients a host lets in over the network, and with which rights. Kept hashed: a
// token is shown once, when it is made. The file is read anew for every client, so that a revoked
// token counts no more. Any thread, any process; changes are serial by a lock beside the file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::host {

class Tokens {
 public:
  explicit Tokens(const config::Roots& roots) : roots_(roots) {}

  /// The token. kConflict when the name is taken, kInvalid for an unknown right.
  Result<std::string> Add(const std::string& name, const std::vector<std::string>& rights);
  /// kNotFound when there is none of that name.
  Status Revoke(const std::string& name);
  [[nodiscard]] Result<protocol::TokenRows> List() const;

  /// The row of this token; kAuth when there is none.
  [[nodiscard]] Result<protocol::TokenRow> Check(std::string_view token) const;

 private:
  const config::Roots& roots_;
};

/// Compares in a time that says nothing about where they differ.
bool SameSecret(std::string_view a, std::string_view b);

/// 256 bits of chance, as text.
std::string NewToken();

}  // namespace stet::host
