#include "sdk/stream_json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <memory>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/display_width.h"
#include "base/interrupt.h"
#include "base/line_cutter.h"
#include "base/random.h"
#include "client/await.h"
#include "client/inbox.h"
#include "face/exit_codes.h"
#include "face/work_options.h"
#include "protocol/ids.h"
#include "sdk/control.h"
#include "sdk/events.h"
#include "sdk/input.h"

namespace stet::sdk {
namespace {

/// Messages that wait for their turn. One more is refused.
constexpr std::size_t kMaxWaiting = 200;

class StreamJson {
 public:
  StreamJson(const face::WorkOptions& command, client::Live& live, face::Console& console,
             const CancelToken& interrupt);

  Result<int> Run();

 private:
  void Wait();
  void DenyOpen();
  void RefuseCommand(const Error& why);
  void ReadStdin();
  void Take(std::optional<std::string_view> line);
  void Misread(std::string what);
  void Stop();
  [[nodiscard]] bool Done();

  void On(UserInput input);
  void On(const ControlRequest& request);
  void On(const ControlResponse& response);
  void On(const OtherInput&) {}
  Result<std::string> Perform(const ControlRequest& request);
  Result<std::string> Initialize(const JsonView& request);
  Result<std::string> Interrupt(const JsonView& request);
  Result<std::string> Change(const protocol::Change& change);

  Status Open();
  void Submit(protocol::Send send);
  void Refuse(const Error& error);
  void EndWith(const Error& error);
  void Hear(const client::News& news);
  void HearEnd(const protocol::RuntimeEnd& end);
  void GoOn(const protocol::LiveState& state);
  /// The session as it is now; as it was last known when the host does not answer.
  const protocol::LiveState& Refresh();

  void Line(std::string line);
  void Say(std::string_view text) { console_.Say(PrintableText(fmt::format("stet: {}", text))); }

  const face::WorkOptions& command_;
  client::Live& live_;
  face::Console& console_;
  CancelToken interrupt_;
  StreamEvents events_;
  protocol::Attach attach_;  // How the session is opened.
  client::Inbox inbox_;
  std::unique_ptr<client::LiveSession> session_;
  protocol::LiveState state_;             // As it was last known.
  std::optional<Error> refused_command_;  // What is wrong with the command line.
  std::optional<Error> refused_;          // Why `initialize` failed.
  std::optional<Error> misread_;          // The first line of the input that made no sense.
  LineCutter cutter_{kMaxInputLine};
  std::string more_text_;            // Goes before the next message.
  std::deque<protocol::Send> held_;  // Sent when the session can take them.
  std::size_t awaited_ = 0;          // Turns that will end: one per message that was taken.
  int exit_code_ = face::kExitDone;
  bool input_open_ = false;
  bool stopping_ = false;  // Interrupted: nothing new begins.
  bool broken_ = false;    // Nothing more can be done.
};

StreamJson::StreamJson(const face::WorkOptions& command, client::Live& live, face::Console& console,
                       const CancelToken& interrupt)
    : command_(command),
      live_(live),
      console_(console),
      interrupt_(interrupt),
      events_({.partial_messages = command.partial_messages,
               .replay_user_messages = command.replay_user_messages},
              [this](std::string line) { Line(std::move(line)); }) {}

/// A reader that has gone away wants nothing more.
void StreamJson::Line(std::string line) {
  line += '\n';
  if (broken_ || console_.PrintJson(line)) return;
  broken_ = true;
  exit_code_ = face::kExitFailed;
}

Result<int> StreamJson::Run() {
  input_open_ = command_.input_format == "stream-json";
  std::optional<protocol::Send> first;
  if (!input_open_) {
    Result<protocol::Send> send = face::SendOf(command_);
    if (!send) {
      Say(send.error().message);
      return face::kExitUsage;
    }
    first = *std::move(send);
  }
  if (command_.refused.empty()) {
    Result<protocol::Attach> attach = face::AttachOf(command_, live_, console_);
    if (attach)
      attach_ = *std::move(attach);
    else if (input_open_)
      RefuseCommand(attach.error());
    else
      return std::unexpected(attach.error());
  } else {
    RefuseCommand({Code::kInvalid, command_.refused});
  }
  attach_.answers = command_.permission_prompt_tool == "stdio";
  const CancelRegistration wake = interrupt_.OnCancel([this] { inbox_.Poke(); });
  if (first) Submit(*std::move(first));
  while (!Done()) Wait();
  if (misread_ && !broken_ && !stopping_) EndWith(*misread_);
  if (!session_) return exit_code_;
  RETURN_IF_ERROR(client::Await(*session_, &client::LiveSession::Close));
  return exit_code_;
}

/// Said at once to people; the program reads it in the answer to what it asks first.
void StreamJson::RefuseCommand(const Error& why) {
  Say(why.message);
  refused_command_ = why;
  exit_code_ = face::kExitUsage;
}

const protocol::LiveState& StreamJson::Refresh() {
  if (Result<protocol::LiveState> state = client::Await(*session_, &client::LiveSession::State))
    state_ = *std::move(state);
  return state_;
}

bool StreamJson::Done() {
  if (broken_) return true;
  if (input_open_) return false;
  if (!session_) return true;
  const protocol::LiveState& state = Refresh();
  const std::size_t given_up = stopping_ ? state.follow_ups.size() : 0;
  return awaited_ <= given_up && held_.empty() && state.state == "idle";
}

/// What happened before what is said about it.
void StreamJson::Wait() {
  std::array<pollfd, 2> fds = {pollfd{.fd = inbox_.fd(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  if (::poll(fds.data(), input_open_ ? 2 : 1, -1) < 0) return;  // A signal: it is looked at again.
  while (const std::optional<client::News> news = inbox_.Take()) Hear(*news);
  if (interrupt_.cancelled() && !stopping_) Stop();
  if (input_open_ && fds[1].revents != 0) ReadStdin();
  if (!input_open_) DenyOpen();
}

/// The client that could answer has ended its input.
void StreamJson::DenyOpen() {
  while (const std::optional<std::string> id = events_.asks().first_open())
    On(ControlResponse{.id = *id, .response = {}, .error = "the input has ended"});
}

void StreamJson::Stop() {
  stopping_ = true;
  input_open_ = false;
  held_.clear();
  exit_code_ = face::kExitInterrupted;
  if (session_) session_->Cancel();
}

void StreamJson::ReadStdin() {
  std::array<char, 65536> buffer;
  const auto use = [this](std::optional<std::string_view> line) { Take(line); };
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0) return cutter_.Feed({buffer.data(), static_cast<std::size_t>(got)}, use);
  input_open_ = false;
  cutter_.Finish(use);
}

void StreamJson::Take(std::optional<std::string_view> line) {
  if (broken_ || stopping_) return;
  if (!line)
    return Misread(fmt::format("a line of the input is longer than {} MB: it was dropped",
                               kMaxInputLine >> 20));
  if (line->find_first_not_of(" \t\r") == std::string_view::npos) return;
  Result<Input> input = ReadInput(*line);
  if (!input)
    return Misread(fmt::format("a line of the input makes no sense: {}", input.error().message));
  std::visit([this](auto& one) { On(std::move(one)); }, *input);
}

/// What follows may make sense, so it is only told now; the last result is an error all the same.
void StreamJson::Misread(std::string what) {
  Say(what);
  if (!misread_) misread_ = Error(Code::kInvalid, std::move(what));
}

void StreamJson::On(UserInput input) {
  if (!input.problem.empty()) return Refuse(Error(Code::kInvalid, input.problem));
  if (!more_text_.empty()) input.send.text = more_text_ + "\n\n" + input.send.text;
  more_text_.clear();
  if (input.starts_turn)
    Submit(std::move(input.send));
  else
    more_text_ = std::move(input.send.text);
}

void StreamJson::On(const ControlRequest& request) {
  const Result<std::string> response = Perform(request);
  Line(response ? ControlSuccess(request.id, *response)
                : ControlError(request.id, response.error().message));
}

void StreamJson::On(const ControlResponse& response) {
  const std::optional<AskReply> reply = events_.asks().Answer(response);
  if (!reply || !session_) return;
  // The mode first: what is answered runs under it.
  if (reply->mode) {
    protocol::Change change;
    change.mode = reply->mode;
    if (const Status changed = client::Await(*session_, &client::LiveSession::Change, change);
        !changed)
      Say(changed.error().message);
  }
  // Ignoring the error on purpose: what was withdrawn meanwhile needs no answer.
  (void)client::Await(*session_, &client::LiveSession::Answer, reply->answer);
  if (reply->stop) session_->Cancel();
}

Result<std::string> StreamJson::Perform(const ControlRequest& request) {
  const JsonView json(request.request.text);
  if (request.subtype == "initialize") return Initialize(json);
  if (request.subtype == "interrupt") return Interrupt(json);
  if (request.subtype == "mcp_status") return std::string(R"({"mcpServers":[]})");
  protocol::Change change;
  if (request.subtype == "set_model") {
    const std::string model = json["model"].StringOr("");
    change.model = model == "default" ? "" : model;
    return Change(change);
  }
  if (request.subtype == "set_permission_mode") {
    change.mode = json["mode"].StringOr("");
    return Change(change);
  }
  return Fail(Code::kInvalid,
              fmt::format("the control request {} is not supported here", request.subtype));
}

Result<std::string> StreamJson::Initialize(const JsonView& request) {
  if (refused_command_) return std::unexpected(*refused_command_);
  if (session_ && ShapesSession(request))
    return Fail(Code::kConflict,
                "the session has begun: its prompt and its schema cannot be changed any more");
  const Status applied = ApplyInitialize(request, attach_);
  refused_ = applied ? std::nullopt : std::optional(applied.error());
  RETURN_IF_ERROR(applied);
  return InitializeResponse();
}

/// What is queued runs afterwards, unless it is to be cancelled as well.
Result<std::string> StreamJson::Interrupt(const JsonView& request) {
  protocol::QueueItems queued;
  if (session_) {
    queued = Refresh().follow_ups;
    session_->Cancel();
  }
  const bool drops = request["cancel_queued"].Bool().value_or(false);
  if (drops && session_) {
    RETURN_IF_ERROR(client::Await(*session_, &client::LiveSession::RewriteQueue, "follow_up",
                                  protocol::QueueItems()));
    awaited_ -= std::min(awaited_, queued.size());
    held_.clear();
  }
  std::string response;
  JsonWriter writer(response);
  writer.BeginObject().Key("still_queued").BeginArray();
  if (drops) writer.EndArray().Key("cancelled").BeginArray();
  for (const protocol::QueueItem& item : queued) {
    if (item.client_message_id) writer.String(*item.client_message_id);
  }
  writer.EndArray().EndObject();
  return response;
}

Result<std::string> StreamJson::Change(const protocol::Change& change) {
  if (session_) {
    RETURN_IF_ERROR(client::Await(*session_, &client::LiveSession::Change, change));
  } else {
    if (change.model) attach_.model = *change.model;
    if (change.mode) attach_.mode = *change.mode;
  }
  return std::string("{}");
}

/// Without what `initialize` was refused for (a hook may be a guard) nothing is begun.
Status StreamJson::Open() {
  if (refused_command_) return std::unexpected(*refused_command_);
  if (refused_) return std::unexpected(*refused_);
  if (session_) return {};
  ASSIGN_OR_RETURN(session_, client::Await(live_, &client::Live::Attach, attach_,
                                           client::FaceSide{inbox_.Watcher()}));
  const protocol::LiveState& state = Refresh();
  events_.Begin(state);
  for (const std::string& note : state.notes) Say(note);
  if (state.state != "idle") ++awaited_;  // A turn of before goes on.
  return {};
}

void StreamJson::Submit(protocol::Send send) {
  if (const Status open = Open(); !open) {
    Refuse(open.error());
    broken_ = true;
    return;
  }
  if (awaited_ + held_.size() >= kMaxWaiting)
    return Refuse(Error(Code::kBusy, fmt::format("{} messages wait already", kMaxWaiting)));
  const Result<protocol::Accepted> accepted =
      client::Await(*session_, &client::LiveSession::Send, send);
  if (accepted) {
    if (accepted->what != "known") ++awaited_;
  } else if (accepted.error().code == Code::kBusy) {
    held_.push_back(std::move(send));
  } else {
    Refuse(accepted.error());
  }
}

/// A message that becomes no turn has its result all the same.
void StreamJson::Refuse(const Error& error) {
  if (!refused_command_) Say(error.Text());
  EndWith(error);
}

/// A result without a turn.
void StreamJson::EndWith(const Error& error) {
  protocol::TurnReport report;
  report.session_id = session_ ? Refresh().session_id : attach_.session_id.value_or("");
  report.turn_id = protocol::NewTurnId(ProcessRandom());
  report.reason = "error";
  report.error = error.Text();
  events_.End(report, {.queued = static_cast<std::int64_t>(awaited_ + held_.size()), .run = {}});
  exit_code_ = refused_command_ ? face::kExitUsage : face::ExitCodeOf(error);
}

void StreamJson::Hear(const client::News& news) {
  if (broken_) return;
  if (const auto* event = std::get_if<protocol::Event>(&news)) return events_.Hear(*event);
  const auto* heard = std::get_if<protocol::Transient>(&news);
  if (heard == nullptr) return;  // Answers are waited for.
  const protocol::Transient& transient = *heard;
  events_.Hear(transient);
  const auto* wait = std::get_if<protocol::Wait>(&transient.transient);
  if (wait != nullptr && wait->who == "user") events_.AskOpen(Refresh());
  if (const auto* end = std::get_if<protocol::RuntimeEnd>(&transient.transient)) HearEnd(*end);
}

void StreamJson::HearEnd(const protocol::RuntimeEnd& end) {
  if (awaited_ > 0) --awaited_;
  const protocol::LiveState& state = Refresh();
  protocol::TurnReport report;
  if (Result<protocol::TurnReport> kept =
          client::Await(*session_, &client::LiveSession::Report, end.turn_id)) {
    report = *std::move(kept);
  } else {
    report.session_id = state.session_id;
    report.turn_id = end.turn_id;
    report.reason = end.reason;
    report.error = end.error;
  }
  face::ResultMore more;
  more.queued = static_cast<std::int64_t>(state.follow_ups.size() + held_.size());
  if (Result<protocol::RunReport> run = client::Await(*session_, &client::LiveSession::Run))
    more.run = *std::move(run);
  events_.End(report, more);
  exit_code_ = face::ExitCodeOf(report);
  if (state.state == "idle" && !stopping_) GoOn(state);
}

/// A turn that did not end well leaves the queue standing; here every message has its turn.
void StreamJson::GoOn(const protocol::LiveState& state) {
  if (!state.follow_ups.empty()) {
    protocol::Send next;
    next.how = "next";
    const Result<protocol::Accepted> begun =
        client::Await(*session_, &client::LiveSession::Send, next);
    if (begun || begun.error().code == Code::kBusy) return;
    Refuse(begun.error());
    broken_ = true;
  } else if (!held_.empty()) {
    protocol::Send send = std::move(held_.front());
    held_.pop_front();
    Submit(std::move(send));
  }
}

}  // namespace

Result<int> RunStreamJson(const face::WorkOptions& options, const face::Clients& clients,
                          face::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Live> live,
                   face::OpenLive(options, clients, "sdk", console));
  const InterruptWatch interrupt;
  return StreamJson(options, *live, console, interrupt.token()).Run();
}

}  // namespace stet::sdk
