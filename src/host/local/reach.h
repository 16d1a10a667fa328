// Lines to the device's host, for a process of the same user: to the one that runs, or to one that
// is started for it.
//
// `face` begins the client's id, by which the log names the client that sent or approved something.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "client/await.h"
#include "client/live.h"
#include "client/remote/live.h"
#include "config/roots.h"

namespace stet::host {

/// How long a host that runs may take for a short answer.
inline constexpr std::chrono::seconds kAnswerTime{2};
/// How long one that is leaving may take.
inline constexpr std::chrono::seconds kStopTime{5};

/// A client of the host that `state` describes, over its unix socket.
std::unique_ptr<client::RemoteLive> Reach(const protocol::HostState& state, std::string_view face);

/// What asks about the host itself.
inline constexpr std::string_view kControl = "control";

/// What the host says to M, if it does so soon.
template <protocol::IsMethod M>
client::Replied<M> AskBriefly(client::RemoteLive& line) {
  return client::Await(line, &client::RemoteLive::Call<M>, typename M::Params(),
                       client::CallOptions{.within = kAnswerTime});
}

/// The host that runs; one is started in the background when there is none. Ends when it listens.
Result<protocol::HostState> StartHost(const config::Roots& roots,
                                      const protocol::HostLaunch& launch);

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
