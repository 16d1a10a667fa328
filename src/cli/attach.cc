#include "cli/attach.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/exit_codes.h"
#include "cli/live_view.h"
#include "client/inbox.h"

namespace stet::cli {
namespace {

/// How much of a session is shown before what happens.
constexpr std::int64_t kRecent = 200;
constexpr std::size_t kRows = 24;

Result<std::string> SessionOf(const AttachCommand& command, client::RemoteLive& host) {
  if (!command.session_id.empty()) return command.session_id;
  std::error_code error;
  const std::filesystem::path here = command.cwd.empty()
                                         ? std::filesystem::current_path(error)
                                         : std::filesystem::absolute(command.cwd, error);
  if (error) return Fail(Code::kNotFound, "this folder has no name any more");
  return host.Latest(here.string());
}

/// Shows what happens in a session, until it is interrupted.
Result<int> Watch(const std::string& session_id, client::RemoteLive& host, Terminal& terminal) {
  const InterruptWatch interrupt;
  client::Inbox inbox;
  Screen screen(terminal.columns(), kRows);
  LiveView view(screen, terminal, SystemClock());
  const CancelRegistration wake = interrupt.token().OnCancel([&] { inbox.Poke(); });
  ASSIGN_OR_RETURN(
      const std::unique_ptr<client::LiveSession> session,
      host.Watch({.session_id = session_id, .recent = kRecent, .watcher = inbox.Watcher()}));
  while (!interrupt.token().cancelled()) {
    const std::optional<client::News> news = inbox.Wait();
    if (news) std::visit([&](const auto& one) { view.Take(one); }, *news);
    if (!terminal.Print(screen.Take())) return kExitFailed;
  }
  RETURN_IF_ERROR(session->Close());
  return kExitDone;
}

}  // namespace

Result<int> RunAttach(const AttachCommand& command, client::RemoteLive& host,
                      const InteractiveClients& clients, Terminal& terminal) {
  ASSIGN_OR_RETURN(const std::string session_id, SessionOf(command, host));
  WorkCommand work;
  work.resume = session_id;
  work.cwd = command.cwd;
  Result<int> done = RunInteractive(work, clients, terminal);
  if (done || done.error().code != Code::kBusy) return done;
  terminal.Say(fmt::format("stet: {}; it is only watched here", done.error().message));
  return Watch(session_id, host, terminal);
}

}  // namespace stet::cli
