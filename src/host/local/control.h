// The device's host, as a process of the same user finds it: started, asked, stopped.
#pragma once

#include <memory>

#include "client/host_control.h"
#include "client/live.h"
#include "client/remote_live.h"
#include "config/roots.h"

namespace stet::host {

std::unique_ptr<client::HostControl> MakeHostControl(config::Roots roots);

// `face` begins the client's id, by which the log names the client that sent or approved something.

/// A client of the host that `state` describes, over its unix socket.
std::unique_ptr<client::RemoteLive> Reach(const protocol::HostState& state, std::string_view face);

/// The host that runs; one is started when there is none, also when it is gone later: at once when
/// it has died, and when something is asked of it if the user stopped it.
Result<std::unique_ptr<client::RemoteLive>> ReachOrStart(const config::Roots& roots,
                                                         std::string_view face);

/// A line to the host that runs, null when none does. While it is held, one that a client started
/// does not leave. When it is gone, the link says what starts one.
std::unique_ptr<client::RemoteLive> Hold(const config::Roots& roots, std::string_view face);

/// In the background host or in this process, as the work wants it and [host] join says.
Result<std::unique_ptr<client::Live>> OpenLive(const config::Roots& roots, client::Work work,
                                               std::string_view face);

}  // namespace stet::host
