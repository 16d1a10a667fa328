// The methods of a host that are about the device: the host itself, projects, models, settings, and
// what is installed and allowed on it. None of their answers has a secret in it.
#pragma once

#include "protocol/device.h"
#include "protocol/method.h"
#include "protocol/models.h"
#include "protocol/params.h"
#include "protocol/wire.h"

namespace stet::protocol::method {

using namespace right;

/// What is about a folder, or reads the configuration.
inline constexpr Errors kDeviceErrors = {Code::kNotFound, Code::kCorrupt};

struct ConfigGet : Takes<Nothing, ConfigReport> {
  static constexpr MethodInfo kInfo = {.name = "config.get",
                                       .right = kApprove,
                                       .help = "The settings in force, and where each comes from.",
                                       .errors = kDeviceErrors,
                                       .repeatable = true,
                                       .http = {"GET", "/config"}};
};
struct DeviceExamine : Takes<Nothing, DoctorReport> {
  static constexpr MethodInfo kInfo = {
      .name = "device.examine",
      .right = kView,
      .help = "Looks at everything that stet needs, in the host's environment.",
      .repeatable = true,
      .http = {"GET", "/doctor"}};
};
struct ExtensionsList : Takes<FolderParams, ExtensionReport> {
  static constexpr MethodInfo kInfo = {
      .name = "extensions.list",
      .right = kApprove,
      .help = "The extensions of the user, and of the project of a folder.",
      .errors = kDeviceErrors,
      .repeatable = true,
      .http = {"GET", "/extensions"}};
};
struct HooksList : Takes<FolderParams, HookReport> {
  static constexpr MethodInfo kInfo = {
      .name = "hooks.list",
      .right = kApprove,
      .help = "What is configured to run when something happens in a folder's sessions.",
      .errors = kDeviceErrors,
      .repeatable = true,
      .http = {"GET", "/hooks"}};
};
struct HostKeep : Takes<Nothing, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "host.keep",
      .right = kAdmin,
      .help = "A host that a client started no longer leaves with its last client.",
      .repeatable = true};
};
struct HostStatus : Takes<Nothing, protocol::HostStatus> {
  static constexpr MethodInfo kInfo = {.name = "host.status",
                                       .right = kView,
                                       .help = "What the host does.",
                                       .repeatable = true,
                                       .http = {"GET", "/status"}};
};
struct HostStop : Takes<Nothing, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "host.stop", .right = kAdmin, .help = "The host stops once it has answered."};
};
struct ModelsList : Takes<Nothing, ModelList> {
  static constexpr MethodInfo kInfo = {.name = "models.list",
                                       .right = kView,
                                       .help = "The providers and models that are known.",
                                       .errors = {Code::kNotFound},
                                       .repeatable = true,
                                       .http = {"GET", "/models"}};
};
struct ProjectsBrowse : Takes<PathParams, Browsed> {
  static constexpr MethodInfo kInfo = {.name = "projects.browse",
                                       .right = kAdmin,
                                       .help = "The folders in a folder, to pick a project from.",
                                       .errors = {Code::kNotFound},
                                       .repeatable = true};
};
struct ProjectsList : Takes<Nothing, ProjectList> {
  static constexpr MethodInfo kInfo = {.name = "projects.list",
                                       .right = kView,
                                       .help = "The folders that the host knows as projects.",
                                       .errors = {Code::kCorrupt},
                                       .repeatable = true};
};
struct ProjectsRegister : Takes<PathParams, Project> {
  static constexpr MethodInfo kInfo = {
      .name = "projects.register",
      .right = kAdmin,
      .help = "Makes a folder a project; the same folder is the same project.",
      .errors = {Code::kNotFound, Code::kCorrupt},
      .repeatable = true};
};
struct ProjectsRemove : Takes<ProjectRef, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "projects.remove",
      .right = kAdmin,
      .help = "Forgets a project; nothing of the folder is touched.",
      .errors = {Code::kNotFound, Code::kCorrupt}};
};
struct TrustGet : Takes<FolderParams, TrustReport> {
  static constexpr MethodInfo kInfo = {
      .name = "trust.get",
      .right = kApprove,
      .help = "What the project of a folder brings that acts, and what of it is trusted.",
      .errors = kDeviceErrors,
      .repeatable = true,
      .http = {"GET", "/trust"}};
};
struct VaultList : Takes<Nothing, VaultReport> {
  static constexpr MethodInfo kInfo = {
      .name = "vault.list",
      .right = kAdmin,
      .help = "The names of the secrets in the vault, never their values.",
      .errors = kDeviceErrors,
      .repeatable = true,
      .http = {"GET", "/vault"}};
};

}  // namespace stet::protocol::method
