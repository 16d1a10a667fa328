#include "cli/print.h"

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/text_width.h"
#include "cli/exit_codes.h"
#include "cli/result_json.h"
#include "cli/run_view.h"
#include "cli/work.h"
#include "client/await.h"
#include "client/inbox.h"

namespace stet::cli {
namespace {

/// Tells of tools and waits on stderr.
void Tell(Terminal& terminal, const protocol::Transient& transient) {
  if (const auto* start = std::get_if<protocol::ToolExecutionStart>(&transient.transient)) {
    terminal.Say(FitText(PrintableText(fmt::format("{} {}", start->tool_name, start->args.text)),
                         terminal.columns()));
  } else if (const auto* wait = std::get_if<protocol::Wait>(&transient.transient)) {
    terminal.Say(PrintableText(fmt::format("waiting for the {}: {}", wait->who, wait->what)));
  }
}

/// What hooks have to say is told in any case.
void TellNotice(Terminal& terminal, const protocol::Transient& transient) {
  if (const auto* notice = std::get_if<protocol::Notice>(&transient.transient))
    terminal.Say(PrintableText(fmt::format("stet: {}: {}", notice->by, notice->text)));
}

/// Hears the ends of turns; of the rest only what is told. Waking for more would cost every step.
client::Watcher Deaf(client::Watcher inner, bool tells) {
  return [inner = std::move(inner), tells](const protocol::Event*,
                                           const protocol::Transient* transient) {
    if (transient == nullptr) return;
    const bool ends = std::holds_alternative<protocol::RuntimeEnd>(transient->transient);
    const bool told = std::holds_alternative<protocol::ToolExecutionStart>(transient->transient) ||
                      std::holds_alternative<protocol::Wait>(transient->transient);
    const bool notice = std::holds_alternative<protocol::Notice>(transient->transient);
    if (ends || notice || (tells && told)) inner(nullptr, transient);
  };
}

/// Until the turn and what is queued behind it have ended; how the turn went.
Result<protocol::TurnReport> AwaitTurn(
    client::LiveSession& session, client::Inbox& inbox, const std::string& turn_id,
    const std::function<void(const protocol::Transient&)>& tell) {
  Result<protocol::TurnReport> report = Fail(Code::kIo, "the turn left no report");
  while (true) {
    const std::optional<client::News> news = inbox.Wait();
    const auto* transient = news ? std::get_if<protocol::Transient>(&*news) : nullptr;
    if (transient == nullptr) continue;
    tell(*transient);
    const auto* end = std::get_if<protocol::RuntimeEnd>(&transient->transient);
    if (end == nullptr) continue;
    if (end->turn_id == turn_id)
      report = client::Await(session, &client::LiveSession::Report, turn_id);
    ASSIGN_OR_RETURN(const protocol::LiveState state,
                     client::Await(session, &client::LiveSession::State));
    if (state.state == "idle") return report;
  }
}

void TellEnd(Terminal& terminal, const protocol::TurnReport& report,
             const std::optional<protocol::RunReport>& run) {
  if (report.error) terminal.Say(fmt::format("stet: {}", PrintableText(*report.error)));
  for (const protocol::DenialRow& denial : report.denials) {
    terminal.Say(
        PrintableText(fmt::format("refused: {} {} (rule: {}); allow it with --allowed-tools "
                                  "or --permission-mode",
                                  denial.tool_name, denial.args.text, denial.rule)));
  }
  if (!run) return;
  for (const std::string& line : RunLines(*run)) terminal.Say("stet: " + line);
}

}  // namespace

Result<int> RunPrint(const WorkCommand& command, client::Live& live, Terminal& terminal) {
  const InterruptWatch interrupt;
  const Result<protocol::Send> send = SendOf(command);
  if (!send) {
    terminal.Say("stet: " + send.error().Text());
    return kExitUsage;
  }
  ASSIGN_OR_RETURN(const protocol::Attach attach, AttachOf(command, live));
  client::Inbox inbox;
  ASSIGN_OR_RETURN(const std::unique_ptr<client::LiveSession> session,
                   client::Await(live, &client::Live::Attach, attach,
                                 client::FaceSide{Deaf(inbox.Watcher(), command.verbose)}));
  const CancelRegistration cancel = interrupt.token().OnCancel([&] { session->Cancel(); });
  ASSIGN_OR_RETURN(const protocol::LiveState state,
                   client::Await(*session, &client::LiveSession::State));
  for (const std::string& note : state.notes) terminal.Say("stet: " + note);
  ASSIGN_OR_RETURN(const protocol::Accepted accepted,
                   client::Await(*session, &client::LiveSession::Send, *send));
  const auto tell = [&](const protocol::Transient& transient) {
    if (command.verbose) Tell(terminal, transient);
    TellNotice(terminal, transient);
  };
  ASSIGN_OR_RETURN(const protocol::TurnReport report,
                   AwaitTurn(*session, inbox, accepted.turn_id.value_or(""), tell));
  ResultMore more;
  if (Result<protocol::RunReport> run = client::Await(*session, &client::LiveSession::Run))
    more.run = *std::move(run);
  const Status closed = client::Await(*session, &client::LiveSession::Close);
  Spent spent;
  AddTo(spent, report);
  std::string out;
  if (command.output_format == "json")
    out = ResultJson(report, spent, more) + "\n";
  else if (report.output)
    out = report.output->text + "\n";
  else if (!report.text.empty())
    out = report.text + "\n";
  if (!terminal.Print(out)) return kExitFailed;
  TellEnd(terminal, report, more.run);
  if (!closed) return std::unexpected(closed.error());
  return ExitCodeOf(report);
}

}  // namespace stet::cli
