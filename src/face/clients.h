// Clients: how a face gets at what it asks.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "client/device.h"
#include "client/host_control.h"
#include "client/live.h"
#include "client/models.h"
#include "client/remote/live.h"
#include "client/sessions.h"

namespace stet::face {

/// Each is made only when a command needs it, so that `--version` and `--help` touch nothing.
/// `face` is what the client is named for.
struct Clients {
  std::function<Result<std::unique_ptr<client::Sessions>>()> sessions;
  std::function<Result<std::unique_ptr<client::Models>>()> models;
  std::function<Result<std::unique_ptr<client::Live>>(client::Work, std::string_view face)> live;
  std::function<Result<std::unique_ptr<client::HostControl>>()> host;
  /// The background host, started when there is none.
  std::function<Result<std::unique_ptr<client::RemoteLive>>(std::string_view face)> remote;
  std::function<Result<std::unique_ptr<client::Device>>()> device;
};

}  // namespace stet::face
