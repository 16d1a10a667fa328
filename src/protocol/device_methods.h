// The methods of a host that are about the device: the host itself, projects, models, settings.
#pragma once

#include "protocol/device.h"
#include "protocol/method.h"
#include "protocol/models.h"
#include "protocol/params.h"
#include "protocol/wire.h"

namespace stet::protocol::method {

using namespace right;

struct ConfigGet : Takes<Nothing, ConfigReport> {
  static constexpr MethodInfo kInfo = {.name = "config.get",
                                       .right = kView,
                                       .help = "The settings in force, and who made them.",
                                       .errors = {Code::kNotFound},
                                       .repeatable = true};
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
                                       .repeatable = true};
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

}  // namespace stet::protocol::method
