#include "cli/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "cli/chosen_session.h"
#include "cli/exit_codes.h"
#include "cli/interactive.h"
#include "cli/live_view.h"
#include "cli/transcript_rows.h"
#include "client/await.h"
#include "client/inbox.h"

namespace stet::cli {
namespace {

constexpr std::size_t kRows = 24;

/// Shows what happens in a session, until it is interrupted.
Result<int> Watch(const std::string& session_id, client::RemoteLive& host,
                  client::Transcript& transcript, Terminal& terminal) {
  const InterruptWatch interrupt;
  client::Inbox inbox;
  Screen screen(terminal.columns(), kRows);
  LiveView view(screen, terminal, SystemClock());
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
  ShowEvents(transcript.Reconcile(std::move(path), kShownEvents), view);
  while (!interrupt.token().cancelled()) {
    if (!terminal.Print(screen.Take())) return kExitFailed;
    const std::optional<client::News> news = inbox.Wait();
    if (!news) continue;
    const auto* event = std::get_if<protocol::Event>(&*news);
    if (event != nullptr && transcript.Take(*event)) view.Take(*event);
    if (const auto* transient = std::get_if<protocol::Transient>(&*news)) view.Take(*transient);
  }
  transcript.Keep();
  return kExitDone;
}

}  // namespace

Result<int> RunAttach(const AttachCommand& command, const AttachClients& clients,
                      Terminal& terminal) {
  ASSIGN_OR_RETURN(const std::string session_id,
                   ChosenSession(command.session_id, command.cwd, clients.sessions));
  ASSIGN_OR_RETURN(const protocol::FaceSettings face,
                   client::Await(clients.device, &client::Device::Face));
  client::Transcript transcript(client::Cache(face.transcripts), face.device_id, session_id);
  if (::isatty(STDIN_FILENO) == 1 && terminal.stdout_is_terminal()) ShowKept(transcript, terminal);
  ASSIGN_OR_RETURN(const std::unique_ptr<client::RemoteLive> host, clients.host());
  WorkCommand work;
  work.resume = session_id;
  work.cwd = command.cwd;
  Result<int> done =
      RunInteractive(work, {*host, clients.sessions, clients.device, &transcript}, terminal);
  if (done || done.error().code != Code::kBusy) return done;
  terminal.Say(fmt::format("stet: {}; it is only watched here", done.error().message));
  return Watch(session_id, *host, transcript, terminal);
}

}  // namespace stet::cli
