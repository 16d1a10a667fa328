#include "tui/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "client/await.h"
#include "client/inbox.h"
#include "face/chosen_session.h"
#include "face/exit_codes.h"
#include "face/slow_notice.h"
#include "tui/interactive.h"
#include "tui/live_view/live_view.h"
#include "tui/transcript_rows.h"

namespace stet::tui {
namespace {

constexpr std::size_t kRows = 24;

/// Shows what happens in a session, until it is interrupted.
Result<int> Watch(const std::string& session_id, client::RemoteLive& host,
                  client::Transcript& transcript, face::Console& console) {
  const InterruptWatch interrupt;
  client::Inbox inbox;
  Screen screen(console.columns(), kRows);
  client::Scene scene;
  LiveView view(screen, console, SystemClock(), scene);
  const CancelRegistration wake = interrupt.token().OnCancel([&] {
    host.Abandon();
    inbox.Poke();
  });
  // The last event is where to go on from; the rest is asked for.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<client::LiveSession> session,
      client::Await(
          host, &client::RemoteLive::Watch,
          client::Watched{.session_id = session_id, .recent = 1, .watcher = inbox.Watcher()}));
  ASSIGN_OR_RETURN(std::vector<protocol::Event> path,
                   client::Await(*session, &client::LiveSession::Recent, kShownEvents));
  if (transcript.NeedsMore(path)) {
    ASSIGN_OR_RETURN(
        path, client::Await(*session, &client::LiveSession::Recent, client::Transcript::kMost));
  }
  ShowEvents(transcript.Reconcile(std::move(path), kShownEvents), scene, view);
  while (!interrupt.token().cancelled()) {
    if (!console.Print(screen.Take())) return face::kExitFailed;
    const std::optional<client::News> news = inbox.Wait();
    if (!news) continue;
    const auto* event = std::get_if<protocol::Event>(&*news);
    if (event != nullptr && transcript.Take(*event)) view.Apply(scene.Take(*event));
    if (const auto* transient = std::get_if<protocol::Transient>(&*news))
      view.Apply(scene.Take(*transient));
  }
  transcript.Keep();
  return face::kExitDone;
}

}  // namespace

Result<int> RunAttach(const face::WorkOptions& options, const face::Clients& clients,
                      face::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients.sessions());
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
  face::WorkOptions chosen = options;
  ASSIGN_OR_RETURN(chosen.resume,
                   face::ChosenSession(options.resume.value_or(""), options.cwd, *sessions));
  ASSIGN_OR_RETURN(const protocol::FaceSettings settings,
                   client::Await(*device, &client::Device::Face));
  client::Transcript transcript(client::Cache(settings.transcripts), settings.device_id,
                                *chosen.resume);
  if (::isatty(STDIN_FILENO) == 1 && console.stdout_is_terminal()) ShowKept(transcript, console);
  std::optional<face::SlowNotice> slow;
  slow.emplace(console, "the background host to answer");
  ASSIGN_OR_RETURN(const std::unique_ptr<client::RemoteLive> host, clients.remote("terminal"));
  slow.reset();
  Result<int> done = RunInteractive(chosen, {*host, *sessions, *device, &transcript}, console);
  if (done || done.error().code != Code::kBusy) return done;
  console.Say(fmt::format("stet: {}; it is only watched here", done.error().message));
  return Watch(*chosen.resume, *host, transcript, console);
}

}  // namespace stet::tui
