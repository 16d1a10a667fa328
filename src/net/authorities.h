// Authorities: where the certificates of the authorities that we trust are.
#pragma once

#include <string>

namespace stet::net {

struct Authorities {
  std::string file;    // A bundle; read whole, which costs tens of milliseconds.
  std::string folder;  // Hashed names: only what is asked for is read.
};

/// SSL_CERT_FILE and SSL_CERT_DIR, else the system's hashed folder; both empty where there is none.
/// Looked up once.
const Authorities& SystemAuthorities();

}  // namespace stet::net
