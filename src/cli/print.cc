#include "cli/print.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/display_width.h"
#include "base/interrupt.h"
#include "cli/model_wait.h"
#include "client/await.h"
#include "client/inbox.h"
#include "face/exit_codes.h"
#include "face/result_json.h"
#include "face/run_text.h"
#include "face/slow_notice.h"
#include "face/work_options.h"

namespace stet::cli {
namespace {

/// Tells of tools and waits on stderr.
void Tell(face::Console& console, const protocol::Transient& transient) {
  if (const auto* start = std::get_if<protocol::ToolExecutionStart>(&transient.transient)) {
    console.Say(FitText(PrintableText(fmt::format("{} {}", start->tool_name, start->args.text)),
                        console.columns()));
  } else if (const auto* wait = std::get_if<protocol::Wait>(&transient.transient)) {
    console.Say(PrintableText(fmt::format("waiting for the {}: {}", wait->who, wait->what)));
  }
}

/// What hooks have to say is told in any case.
void TellNotice(face::Console& console, const protocol::Transient& transient) {
  if (const auto* notice = std::get_if<protocol::Notice>(&transient.transient))
    console.Say(PrintableText(fmt::format("stet: {}: {}", notice->by, notice->text)));
}

/// The queued message that begins a turn with this event; null for every other event.
const std::string* QueueItemOf(const protocol::Event& event) {
  const auto* user = std::get_if<protocol::UserMessage>(&event.payload);
  return user != nullptr && user->queue_item_id ? &*user->queue_item_id : nullptr;
}

/// Hears the ends of turns and what begins one out of the queue, and when the model is asked and
/// answers; of the rest only what is told. Waking for every word would cost.
client::Watcher Deaf(client::Watcher inner, bool tells) {
  return [inner = std::move(inner), tells](const protocol::Event* event,
                                           const protocol::Transient* transient) {
    if (event != nullptr && QueueItemOf(*event)) inner(event, nullptr);
    if (transient == nullptr) return;
    const bool told = std::holds_alternative<protocol::ToolExecutionStart>(transient->transient);
    const bool notice = std::holds_alternative<protocol::Notice>(transient->transient);
    if (ModelWait::Knows(*transient) || notice || (tells && told)) inner(nullptr, transient);
  };
}

/// A message that was accepted, and the turn that it begins: at once, or out of the queue behind
/// another client's turn.
class OwnTurn {
 public:
  OwnTurn(client::LiveSession& session, const protocol::Accepted& accepted)
      : session_(session),
        item_(accepted.item_id.value_or("")),
        turn_id_(accepted.turn_id.value_or("")) {}

  /// True when a turn has ended, this one or another.
  bool Take(const client::News& news) {
    if (const auto* event = std::get_if<protocol::Event>(&news)) {
      const std::string* item = QueueItemOf(*event);
      if (item != nullptr && *item == item_) turn_id_ = event->stamp.turn_id.value_or("");
    }
    const auto* transient = std::get_if<protocol::Transient>(&news);
    const auto* end =
        transient != nullptr ? std::get_if<protocol::RuntimeEnd>(&transient->transient) : nullptr;
    if (end != nullptr && end->turn_id == turn_id_)
      report_ = client::Await(session_, &client::LiveSession::Report, turn_id_);
    return end != nullptr;
  }

  [[nodiscard]] bool begun() const { return !turn_id_.empty(); }
  [[nodiscard]] const std::string& item() const { return item_; }
  [[nodiscard]] bool queued_in(const protocol::LiveState& state) const {
    return std::ranges::any_of(
        state.follow_ups, [&](const protocol::QueueItem& one) { return one.item_id == item_; });
  }
  /// How it went; nothing while it has not ended.
  [[nodiscard]] const std::optional<Result<protocol::TurnReport>>& report() const {
    return report_;
  }

 private:
  client::LiveSession& session_;
  const std::string item_;
  std::string turn_id_;  // Empty: it has not begun.
  std::optional<Result<protocol::TurnReport>> report_;
};

/// Takes the message back that no turn has begun with.
Status TakeBack(client::LiveSession& session, const std::string& item) {
  ASSIGN_OR_RETURN(protocol::LiveState state, client::Await(session, &client::LiveSession::State));
  std::erase_if(state.follow_ups,
                [&](const protocol::QueueItem& one) { return one.item_id == item; });
  return client::Await(session, &client::LiveSession::RewriteQueue, std::string("follow_up"),
                       state.follow_ups);
}

/// What is said while a turn goes on.
struct Tellers {
  std::function<void(const protocol::Transient&)> news;
  std::function<void(const std::string& word)> wait;
};

/// Until the turn and what is queued behind it have ended; how the turn went. An interrupt ends the
/// own turn, and no other client's.
Result<protocol::TurnReport> AwaitTurn(client::LiveSession& session, client::Inbox& inbox,
                                       const protocol::Accepted& accepted,
                                       const CancelToken& interrupt, const Tellers& tell) {
  OwnTurn turn(session, accepted);
  ModelWait model;
  bool cancelled = false;
  while (true) {
    const std::optional<client::News> news = inbox.Wait(model.UntilWord(SystemClock().Steady()));
    if (const std::string word = model.Word(SystemClock().Steady()); !word.empty()) tell.wait(word);
    if (interrupt.cancelled() && !std::exchange(cancelled, true)) {
      if (turn.begun()) {
        session.Cancel();
      } else {
        RETURN_IF_ERROR(TakeBack(session, turn.item()));
        return Fail(Code::kCancelled, "interrupted before its turn began; nothing was sent");
      }
    }
    if (!news) continue;
    if (const auto* transient = std::get_if<protocol::Transient>(&*news)) {
      model.Hear(*transient, SystemClock().Steady());
      tell.news(*transient);
    }
    if (!turn.Take(*news)) continue;
    ASSIGN_OR_RETURN(const protocol::LiveState state,
                     client::Await(session, &client::LiveSession::State));
    if (state.state != "idle") continue;
    if (turn.report()) return *turn.report();
    if (turn.queued_in(state)) {
      // The turn before did not end well, so the queue stands still. Ignoring the error on purpose:
      // another client may have had it go on.
      protocol::Send next;
      next.how = "next";
      (void)client::Await(session, &client::LiveSession::Send, next);
      continue;
    }
    // What the host said before it answered is in the inbox: the beginning, if there was one.
    while (const std::optional<client::News> more = inbox.Take()) turn.Take(*more);
    if (turn.report()) return *turn.report();
    if (!turn.begun())
      return Fail(Code::kCancelled, "another client took the message out of the queue");
  }
}

/// Whether the rule only wants a call to be asked about, so that another rule or mode may let it
/// run. What is forbidden stays so; "exclude" may be either, and is taken for that.
bool WasAsked(std::string_view rule) {
  constexpr std::array<std::string_view, 10> kAsking = {
      "command", "write",       "read outside", "network", "guarded",
      "secrets", "unsandboxed", "git programs", "caution", "mode:dontAsk"};
  return rule.starts_with("ask:") || std::ranges::find(kAsking, rule) != kAsking.end();
}

/// False when nobody reads it any more.
bool PrintAnswer(face::Console& console, const protocol::TurnReport& report) {
  if (report.output) return console.PrintJson(report.output->text + "\n");
  return report.text.empty() || console.PrintText(report.text + "\n");
}

void TellEnd(face::Console& console, const protocol::TurnReport& report,
             const std::optional<protocol::RunReport>& run) {
  if (report.error) console.Say(fmt::format("stet: {}", PrintableText(*report.error)));
  for (const protocol::DenialRow& denial : report.denials) {
    console.Say(PrintableText(fmt::format(
        "refused: {} {} (rule: {}){}", denial.tool_name, denial.args.text, denial.rule,
        WasAsked(denial.rule) ? "; allow it with --allowed-tools or --permission-mode" : "")));
  }
  if (!run) return;
  for (const std::string& line : face::RunLines(*run)) console.Say("stet: " + line);
}

}  // namespace

Result<int> RunPrint(const face::WorkOptions& options, const face::Clients& clients,
                     face::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Live> live,
                   face::OpenLive(options, clients, "print", console));
  const InterruptWatch interrupt;
  const Result<protocol::Send> send = face::SendOf(options);
  if (!send) {
    console.Say("stet: " + send.error().Text());
    return face::kExitUsage;
  }
  ASSIGN_OR_RETURN(const protocol::Attach attach, face::AttachOf(options, *live, console));
  client::Inbox inbox;
  std::optional<face::SlowNotice> slow;
  if (attach.session_id) slow.emplace(console, "the session to be opened");
  ASSIGN_OR_RETURN(const std::unique_ptr<client::LiveSession> session,
                   client::Await(*live, &client::Live::Attach, attach,
                                 client::FaceSide{Deaf(inbox.Watcher(), options.verbose)}));
  slow.reset();
  const CancelRegistration cancel = interrupt.token().OnCancel([&] { inbox.Poke(); });
  ASSIGN_OR_RETURN(const protocol::LiveState state,
                   client::Await(*session, &client::LiveSession::State));
  for (const std::string& note : state.notes) console.Say("stet: " + note);
  ASSIGN_OR_RETURN(const protocol::Accepted accepted,
                   client::Await(*session, &client::LiveSession::Send, *send));
  const Tellers tell{
      .news =
          [&](const protocol::Transient& transient) {
            if (options.verbose) Tell(console, transient);
            TellNotice(console, transient);
          },
      .wait = [&](const std::string& word) { console.Say(PrintableText("stet: " + word)); }};
  ASSIGN_OR_RETURN(const protocol::TurnReport report,
                   AwaitTurn(*session, inbox, accepted, interrupt.token(), tell));
  face::ResultMore more;
  if (Result<protocol::RunReport> run = client::Await(*session, &client::LiveSession::Run))
    more.run = *std::move(run);
  const Status closed = client::Await(*session, &client::LiveSession::Close);
  face::Spent spent;
  face::AddTo(spent, report);
  const bool told = options.output_format == "json"
                        ? console.PrintJson(face::ResultJson(report, spent, more) + "\n")
                        : PrintAnswer(console, report);
  if (!told) return face::kExitFailed;
  TellEnd(console, report, more.run);
  if (!closed) return std::unexpected(closed.error());
  return face::ExitCodeOf(report);
}

}  // namespace stet::cli
