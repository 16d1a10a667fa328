#include "tui/interactive.h"

#include <algorithm>

#include <unistd.h>

#include "client/await.h"
#include "face/exit_codes.h"
#include "face/work_options.h"
#include "tui/interactive_session.h"
#include "tui/picker.h"

namespace stet::tui {
namespace {

/// The session that the user picks; nothing when none is.
Result<std::optional<std::string>> Pick(client::Sessions& sessions, Tty& tty) {
  ASSIGN_OR_RETURN(std::vector<protocol::SessionSummary> all,
                   client::Await(sessions, &client::Sessions::List, false));
  std::erase_if(all, [](const protocol::SessionSummary& one) { return one.user_messages == 0; });
  if (all.empty())
    return Fail(Code::kNotFound, "there are no sessions to pick from yet: `stet` starts one");
  return PickSession(all, tty);
}

}  // namespace

Result<int> RunInteractive(const face::WorkOptions& options, const InteractiveClients& clients,
                           face::Console& console) {
  if (::isatty(STDIN_FILENO) != 1 || !console.stdout_is_terminal()) {
    console.Say(
        "stet: a conversation needs a terminal; for scripts and pipes use `stet -p PROMPT`");
    return face::kExitUsage;
  }
  ASSIGN_OR_RETURN(const protocol::FaceSettings face,
                   client::Await(clients.device, &client::Device::Face));
  // While the terminal is the user's: a host that does not answer can be left with Ctrl-C.
  ASSIGN_OR_RETURN(protocol::Attach attach, face::AttachOf(options, clients.live, console));
  attach.answers = true;
  ASSIGN_OR_RETURN(const std::unique_ptr<Tty> tty, Tty::Open());
  if (options.resume && options.resume->empty()) {
    ASSIGN_OR_RETURN(attach.session_id, Pick(clients.sessions, *tty));
    if (!attach.session_id) return face::kExitDone;
  }
  History history(face.history_file);
  const InteractiveSetup setup{clients.live, clients.sessions, clients.device,    *tty,
                               console,      history,          face.bell_after_ms};
  std::string prompt = options.prompt;
  client::Transcript* transcript = clients.transcript;
  while (true) {
    client::Transcript fresh;
    InteractiveSession session(setup, transcript != nullptr ? *transcript : fresh);
    ASSIGN_OR_RETURN(const Leaving leaving, session.Run(attach, prompt));
    if (!leaving.next_session) return leaving.exit_code;
    const std::string cwd = attach.cwd;
    attach = protocol::Attach();
    attach.cwd = cwd;
    attach.session_id = leaving.next_session;
    attach.answers = true;
    prompt.clear();
    transcript = nullptr;
  }
}

Result<int> RunConversation(const face::WorkOptions& options, const face::Clients& clients,
                            face::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Live> live,
                   face::OpenLive(options, clients, "terminal", console));
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients.sessions());
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
  return RunInteractive(options, {*live, *sessions, *device}, console);
}

}  // namespace stet::tui
