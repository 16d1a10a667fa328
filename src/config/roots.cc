#include "config/roots.h"

#include <cstdlib>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "base/random.h"
#include "base/seal.h"

namespace stet::config {
namespace {

constexpr std::size_t kDeviceLetters = 16;
constexpr std::size_t kMaxDeviceBytes = 256;

/// The variable's value without trailing slashes; empty when unset.
Result<std::string> FolderVariable(const char* name) {
  const char* value = std::getenv(name);
  std::string path = value == nullptr ? "" : value;
  if (!path.empty() && path.front() != '/') {
    return Fail(Code::kInvalid,
                fmt::format("${} must be an absolute path, not \"{}\"", name, path));
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<std::string> Home() {
  ASSIGN_OR_RETURN(std::string home, FolderVariable("HOME"));
  if (!home.empty()) return home;
  const passwd* user = ::getpwuid(::geteuid());
  if (user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/')
    return std::string(user->pw_dir);
  return Fail(Code::kNotFound, "there is no home folder: set $HOME or $STET_HOME");
}

Result<std::string> Root(const char* variable, std::string_view under_home) {
  ASSIGN_OR_RETURN(const std::string folder, FolderVariable(variable));
  if (!folder.empty()) return folder + "/stet";
  ASSIGN_OR_RETURN(const std::string home, Home());
  return fmt::format("{}/{}/stet", home == "/" ? "" : home, under_home);
}

}  // namespace

Result<Roots> FindRoots() {
  ASSIGN_OR_RETURN(const std::string stet_home, FolderVariable("STET_HOME"));
  if (!stet_home.empty()) return Roots{stet_home, stet_home};
  Roots roots;
  ASSIGN_OR_RETURN(roots.data, Root("XDG_DATA_HOME", ".local/share"));
  ASSIGN_OR_RETURN(roots.config, Root("XDG_CONFIG_HOME", ".config"));
  return roots;
}

Result<std::string> DeviceId(const Roots& roots) {
  if (Result<std::string> kept = ReadFile(roots.device(), kMaxDeviceBytes)) {
    while (!kept->empty() && kept->back() == '\n') kept->pop_back();
    if (!kept->empty()) return kept;
  }
  std::string id = "dev_" + RandomName(ProcessRandom(), kDeviceLetters);
  RETURN_IF_ERROR(MakeDirs(roots.data));
  RETURN_IF_ERROR(ReplaceFile(roots.device(), id + "\n", Durable::kYes));
  return id;
}

Result<std::string> DeviceKey(const Roots& roots) {
  const std::string path = roots.device_key();
  if (!Exists(path)) {
    std::string text;
    AppendBase64(text, NewSealKey());
    RETURN_IF_ERROR(MakeDirs(roots.data));
    ASSIGN_OR_RETURN(const std::string making, MakeTempDir(roots.data, kTempFilePrefix));
    Status made = ReplaceFile(making + "/key", text, Durable::kYes, 0600);
    // Of two processes that make it at once, the first one's counts for both.
    if (made) made = LinkOrCopy(making + "/key", path, Durable::kYes);
    (void)RemoveTree(making);  // The failure above is the one to tell.
    if (!made && made.error().code != Code::kConflict) return std::unexpected(made.error());
  }
  ASSIGN_OR_RETURN(const std::string kept, ReadPlainFile(path, kMaxDeviceBytes));
  const std::optional<std::string> key = DecodeBase64(kept);
  if (!key || key->size() != kSealKeyBytes)
    return Fail(Code::kCorrupt,
                fmt::format("the key of this device is damaged: remove {}, and what was allowed in "
                            "sessions is asked anew",
                            path));
  return std::string(key->data(), key->size());
}

std::string Roots::project_rules(const std::string& project) const {
  return fmt::format("{}/projects/{}/rules.toml", config, FastHashHex(project));
}

}  // namespace stet::config
