#include "client/remote/session.h"

#include <map>
#include <type_traits>
#include <utility>

#include "base/random.h"
#include "client/await.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

/// What hooks and extensions take their time for.
constexpr std::chrono::minutes kCommandTime{10};
/// A user who leaves waits no longer for a goodbye.
constexpr std::chrono::seconds kGoodbyeTime{2};
constexpr std::size_t kMessageIdLetters = 16;

/// Whether the host knows it again by its clientMessageId.
bool IsKnownAgain(const protocol::Send& send) {
  return send.how.empty() || send.how == "send" || send.how == "steer";
}

Result<std::vector<protocol::Event>> ReadEvents(const protocol::EventList& list) {
  std::vector<protocol::Event> events;
  for (const Raw& raw : list.events) {
    ASSIGN_OR_RETURN(protocol::Event event, protocol::DecodeEvent(raw.text));
    events.push_back(std::move(event));
  }
  return events;
}

protocol::TaskRef RefOf(const std::string& task_id) {
  protocol::TaskRef task;
  task.task_id = task_id;
  return task;
}

protocol::MoveLeaf MoveTo(const std::optional<std::string>& target) {
  protocol::MoveLeaf move;
  move.target = target;
  return move;
}

}  // namespace

/// What of a hold lives on the client's thread: the subscription, and the calls that are not
/// answered yet.
class RemoteSession::Line {
 public:
  Line(RemoteThread& thread, std::string session_id)
      : thread_(thread), session_id_(std::move(session_id)) {}

  void Subscribe(StreamOptions options, std::optional<protocol::Attach> reopen,
                 std::shared_ptr<Services> services) {
    subscription_ =
        std::make_unique<Subscription>(thread_.loop(), thread_.connection(), session_id_,
                                       std::move(options), std::move(reopen), std::move(services));
  }
  /// Null when it is closed.
  [[nodiscard]] Subscription* subscription() { return subscription_.get(); }

  /// The turn that runs, as far as is known here: what is meant by cancelling now, however late
  /// the host hears of it.
  [[nodiscard]] protocol::OptionalText running_turn() const {
    if (!subscription_) return std::nullopt;
    const std::vector<std::string> open = subscription_->stream().open_turns();
    if (open.empty()) return std::nullopt;
    return open.back();
  }

  /// Hears what the host says; kCancelled when the session is closed first.
  using Done = std::function<void(const Result<Raw>&, Line&)>;

  static void Ask(const std::shared_ptr<Line>& line, const Request& request, const Done& done) {
    if (line->closed_) return done(Fail(Code::kCancelled, "the session was closed"), *line);
    const std::uint64_t number = ++line->last_;
    line->open_[number] = done;
    line->thread_.connection().Ask(
        request, [held = std::weak_ptr<Line>(line), number](const Result<Raw>& said) {
          const std::shared_ptr<Line> open = held.lock();
          if (!open) return;
          const auto found = open->open_.find(number);
          if (found == open->open_.end()) return;  // Answered when it was closed.
          const Done answered = std::move(found->second);
          open->open_.erase(found);
          answered(said, *open);
        });
  }

  /// Ends what was asked. `reply` hears when the host knows that the session is let go of, or that
  /// it was not waited for.
  void Close(const Reply<void>& reply) {
    if (std::exchange(closed_, true)) return reply({});
    subscription_.reset();
    for (const auto& [number, done] : std::exchange(open_, {}))
      done(Fail(Code::kCancelled, "the session was closed"), *this);
    if (thread_.connection().state() != LinkState::kConnected) return reply({});
    protocol::SessionRef ref;
    ref.session_id = session_id_;
    // A host that does not hear it notices when the line ends.
    client::Call<method::SessionUnsubscribe>(
        thread_.connection(), ref, {.within = kGoodbyeTime},
        [reply](const Result<protocol::Nothing>&) { reply({}); });
  }

 private:
  RemoteThread& thread_;
  const std::string session_id_;
  std::unique_ptr<Subscription> subscription_;
  bool closed_ = false;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Done> open_;  // The calls that are not answered.
};

RemoteSession::RemoteSession(const RemoteLink& link, std::string session_id)
    : link_(link),
      session_id_(std::move(session_id)),
      line_(std::make_shared<Line>(link.thread, session_id_)) {}

RemoteSession::~RemoteSession() {
  if (closed_) return;
  // Ignoring the errors on purpose: a caller that wants to hear of them calls Close.
  if (link_.thread.is_current())
    line_->Close([](const Status&) {});
  else
    (void)Await(*this, &RemoteSession::Close);
}

void RemoteSession::Begin(StreamOptions options, std::optional<protocol::Attach> reopen,
                          std::shared_ptr<Services> services, Subscription::Ready ready) {
  line_->Subscribe(std::move(options), std::move(reopen), std::move(services));
  line_->subscription()->Start(link_.patience, std::move(ready));
}

template <protocol::IsMethod M, class T, class Read>
void RemoteSession::Ask(typename M::Params params, const CallOptions& options,
                        const Reply<T>& reply, Read read) {
  params.session_id = session_id_;
  Line::Done done = [reply, read](const Result<Raw>& answer, Line& line) {
    Replied<M> said = ReadReply<M>(answer);
    if (!said) return reply(std::unexpected(std::move(said).error()));
    reply(read(*std::move(said), line));
  };
  link_.thread.loop().Post([line = line_, request = RequestOf<M>(params, options),
                            done = std::move(done)] { Line::Ask(line, request, done); });
}

template <protocol::IsMethod M, class T>
void RemoteSession::Ask(typename M::Params params, const Reply<T>& reply) {
  Ask<M>(std::move(params), {.within = link_.patience}, reply,
         [](typename M::Reply&& said, Line&) -> Result<T> {
           if constexpr (!std::is_void_v<T>)
             return std::move(said);
           else
             return {};
         });
}

void RemoteSession::State(Reply<protocol::LiveState> reply) {
  Ask<method::SessionState>({}, reply);
}

void RemoteSession::Send(const protocol::Send& send, Reply<protocol::Accepted> reply) {
  protocol::Send sent = send;
  sent.environment = link_.environment;
  if (!sent.client_message_id)
    sent.client_message_id = "m_" + RandomName(ProcessRandom(), kMessageIdLetters);
  const bool repeatable = IsKnownAgain(sent);
  // Noted before anything that the host said after it is handed on.
  const auto note = [](protocol::Accepted accepted, Line& line) -> Result<protocol::Accepted> {
    if (accepted.turn_id) line.subscription()->stream().NoteTurn(*accepted.turn_id);
    return accepted;
  };
  Ask<method::SessionSend>(std::move(sent), {.within = link_.patience, .repeatable = repeatable},
                           reply, note);
}

void RemoteSession::Cancel() {
  link_.thread.loop().Post([line = line_, id = session_id_, patience = link_.patience] {
    protocol::CancelParams params;
    params.session_id = id;
    params.turn_id = line->running_turn();
    const CallOptions options{.within = patience, .repeatable = params.turn_id.has_value()};
    Line::Ask(line, RequestOf<method::SessionCancel>(params, options),
              [](const Result<Raw>&, Line&) {});
  });
}

void RemoteSession::Answer(const protocol::AskAnswer& answer, Reply<void> reply) {
  if (const auto* permission = std::get_if<protocol::PermissionAnswer>(&answer))
    return Ask<method::SessionAnswer>(*permission, reply);
  Ask<method::SessionAnswerQuestion>(std::get<protocol::QuestionAnswer>(answer), reply);
}

void RemoteSession::RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                                 Reply<void> reply) {
  protocol::QueueParams params;
  params.queue = queue;
  params.items = items;
  Ask<method::SessionRewriteQueue>(std::move(params), reply);
}

void RemoteSession::Change(const protocol::Change& change, Reply<void> reply) {
  Ask<method::SessionChange>(change, reply);
}

void RemoteSession::Rewind(const std::optional<std::string>& target, Reply<Moved> reply) {
  Ask<method::SessionRewind>(MoveTo(target), reply);
}

void RemoteSession::Branch(const std::string& leaf, Reply<Moved> reply) {
  Ask<method::SessionBranch>(MoveTo(leaf), reply);
}

void RemoteSession::FilesSince(const protocol::FilesParams& wanted,
                               Reply<protocol::FileRows> reply) {
  Ask<method::SessionFiles>(wanted, {.within = link_.patience, .repeatable = !wanted.restore},
                            reply,
                            [](const protocol::FileList& list,
                               Line&) -> Result<protocol::FileRows> { return list.files; });
}

void RemoteSession::Mark(const protocol::Mark& mark, Reply<std::string> reply) {
  Ask<method::SessionMark>(
      mark, {.within = link_.patience}, reply,
      [](protocol::Said said, Line&) -> Result<std::string> { return std::move(said.text); });
}

void RemoteSession::Command(const std::string& name, const std::string& text,
                            Reply<std::string> reply) {
  protocol::CommandParams params;
  params.name = name;
  params.text = text;
  Ask<method::SessionCommand>(
      std::move(params), {.within = kCommandTime}, reply,
      [](protocol::Said said, Line&) -> Result<std::string> { return std::move(said.text); });
}

void RemoteSession::Run(Reply<protocol::RunReport> reply) { Ask<method::SessionRun>({}, reply); }

void RemoteSession::Turns(Reply<protocol::TurnRows> reply) {
  Ask<method::SessionTurns>({}, {.within = link_.patience}, reply,
                            [](const protocol::TurnList& list,
                               Line&) -> Result<protocol::TurnRows> { return list.turns; });
}

void RemoteSession::Permissions(Reply<protocol::PermissionReport> reply) {
  Ask<method::SessionPermissions>({}, reply);
}

void RemoteSession::Tasks(Reply<protocol::TaskRows> reply) {
  Ask<method::SessionTasks>({}, {.within = link_.patience}, reply,
                            [](const protocol::TaskList& list,
                               Line&) -> Result<protocol::TaskRows> { return list.tasks; });
}

void RemoteSession::StopTask(const std::string& task_id, Reply<void> reply) {
  Ask<method::SessionTaskStop>(RefOf(task_id), reply);
}

void RemoteSession::TaskOutput(const std::string& task_id, Reply<protocol::TaskOutput> reply) {
  protocol::TaskOutputParams params;
  params.task_id = task_id;
  Ask<method::SessionTaskOutput>(std::move(params), reply);
}

void RemoteSession::Recent(std::size_t count, Reply<std::vector<protocol::Event>> reply) {
  protocol::RecentParams params;
  params.count = static_cast<std::int64_t>(count);
  Ask<method::SessionRecent>(
      std::move(params), {.within = link_.patience}, reply,
      [](const protocol::EventList& list, Line&) { return ReadEvents(list); });
}

void RemoteSession::Report(const std::string& turn_id, Reply<protocol::TurnReport> reply) {
  protocol::TurnRef params;
  params.turn_id = turn_id;
  Ask<method::SessionReport>(std::move(params), reply);
}

void RemoteSession::Close(Reply<void> reply) {
  closed_ = true;
  link_.thread.loop().Post([line = line_, reply = std::move(reply)] { line->Close(reply); });
}

}  // namespace stet::client
