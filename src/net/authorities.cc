#include "net/authorities.h"

#include <cstdlib>
#include <string_view>

#include <dirent.h>

namespace stet::net {
namespace {

constexpr const char* kFolder = "/etc/ssl/certs";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A hashed folder has names like 002c0b4f.0.
bool IsHashed(const char* folder) {
  DIR* dir = ::opendir(folder);
  if (dir == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    found = name.size() == 10 && name.ends_with(".0");
    if (found) break;
  }
  ::closedir(dir);
  return found;
}

Authorities Find() {
  Authorities trust{.file = Variable("SSL_CERT_FILE"), .folder = Variable("SSL_CERT_DIR")};
  if (trust.file.empty() && trust.folder.empty() && IsHashed(kFolder)) trust.folder = kFolder;
  return trust;
}

}  // namespace

const Authorities& SystemAuthorities() {
  static const Authorities trust = Find();
  return trust;
}

}  // namespace stet::net
