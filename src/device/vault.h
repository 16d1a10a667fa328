// Vault: secrets by name, in one sealed file. The key of the seal is in the keyring of the desktop
// where one takes it; else in a file beside the vault, which keeps the values out of searches,
// copies and logs, but not from a process that may read all of the user's files.
//
// A value leaves the vault only by its name: for requests to models' servers, and `stet vault get`.
// One process changes it at a time; kBusy when another does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/roots.h"

namespace stet::device {

class Vault {
 public:
  /// Touches nothing until it is asked.
  explicit Vault(const config::Roots& roots) : path_(roots.vault()), key_path_(roots.vault_key()) {}

  /// Whether anything was ever put into it.
  [[nodiscard]] bool exists() const;
  /// Where the key is, for people: "the keyring", or the file.
  [[nodiscard]] Result<std::string> KeyPlace() const;

  [[nodiscard]] Result<std::vector<std::string>> Names() const;
  /// kNotFound when there is none of that name.
  [[nodiscard]] Result<std::string> Get(const std::string& name) const;
  /// kInvalid for a name that is none: letters, digits, ".", "_" and "-"; and for an empty value.
  Status Set(const std::string& name, const std::string& value);
  Status Remove(const std::string& name);

  /// All of it: what must not be shown.
  [[nodiscard]] Result<std::map<std::string, std::string>> Read() const;

 private:
  [[nodiscard]] Result<std::string> Key(bool make) const;
  [[nodiscard]] Status Write(const std::map<std::string, std::string>& values) const;

  std::string path_;
  std::string key_path_;
};

}  // namespace stet::device
