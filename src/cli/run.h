// Run: the command line face. Parses the arguments, asks the client, prints the answer.
#pragma once

#include <functional>
#include <memory>

#include "client/device.h"
#include "client/host_control.h"
#include "client/live.h"
#include "client/models.h"
#include "client/remote_live.h"
#include "client/sessions.h"

namespace stet::cli {

/// How to get at what the commands ask (`face` is what the client is named for); made only when a
/// command needs it, so `--version` and
/// `--help` touch nothing.
struct Clients {
  std::function<Result<std::unique_ptr<client::Sessions>>()> sessions;
  std::function<Result<std::unique_ptr<client::Models>>()> models;
  std::function<Result<std::unique_ptr<client::Live>>(client::Work, std::string_view face)> live;
  std::function<Result<std::unique_ptr<client::HostControl>>()> host;
  /// The background host, started when there is none.
  std::function<Result<std::unique_ptr<client::RemoteLive>>(std::string_view face)> remote;
  std::function<Result<std::unique_ptr<client::Device>>()> device;
};

/// The process's exit code.
int Run(int argc, const char* const* argv, const Clients& clients);

}  // namespace stet::cli
