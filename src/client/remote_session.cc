#include "client/remote_session.h"

#include <utility>

#include "base/random.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

/// What hooks and extensions take their time for.
constexpr std::chrono::minutes kCommandTime{10};
/// Nobody wants to wait for a goodbye.
constexpr std::chrono::seconds kGoodbyeTime{2};
constexpr std::size_t kMessageIdLetters = 16;

/// Whether the host knows it again by its clientMessageId.
bool IsKnownAgain(const protocol::Send& send) {
  return send.how.empty() || send.how == "send" || send.how == "steer";
}

}  // namespace

RemoteSession::RemoteSession(const RemoteLink& link, std::string session_id)
    : link_(link), session_id_(std::move(session_id)) {
  last_state_.session_id = session_id_;
}

RemoteSession::~RemoteSession() {
  // Ignoring the error on purpose: whoever wants to hear of it closes.
  (void)Close();
}

Status RemoteSession::Begin(StreamOptions options, std::optional<protocol::Attach> reopen,
                            std::shared_ptr<Services> services) {
  std::promise<Status> promise;
  std::future<Status> future = promise.get_future();
  link_.thread.loop().Post([&] {
    subscription_ =
        std::make_unique<Subscription>(link_.thread.loop(), link_.thread.connection(), session_id_,
                                       std::move(options), std::move(reopen), std::move(services));
    subscription_->Start(link_.patience,
                         [&](Status status) { promise.set_value(std::move(status)); });
  });
  return future.get();
}

template <protocol::IsMethod M>
typename M::Params RemoteSession::ParamsOf() const {
  typename M::Params params;
  params.session_id = session_id_;
  return params;
}

template <protocol::IsMethod M>
Replied<M> RemoteSession::Call(typename M::Params params, std::optional<bool> repeatable) {
  params.session_id = session_id_;
  return link_.thread.Call<M>(params, {.within = link_.patience, .repeatable = repeatable});
}

/// The last one known when the host does not answer, with the reason as its only note; at rest when
/// it never will.
protocol::LiveState RemoteSession::State() {
  Result<protocol::LiveState> state = Call<method::SessionState>({});
  if (state) {
    last_state_ = *std::move(state);
    return last_state_;
  }
  protocol::LiveState known = last_state_;
  known.notes = {state.error().Text()};
  const bool gone =
      link_.thread.Run([&] { return link_.thread.connection().state() == LinkState::kGone; });
  if (gone || known.state.empty()) known.state = "idle";
  return known;
}

Result<protocol::Accepted> RemoteSession::Send(const protocol::Send& send) {
  protocol::Send sent = send;
  sent.session_id = session_id_;
  sent.environment = link_.environment;
  if (!sent.client_message_id)
    sent.client_message_id = "m_" + RandomName(ProcessRandom(), kMessageIdLetters);
  const auto note = [&](const Result<protocol::Accepted>& accepted) {
    if (accepted && accepted->turn_id) subscription_->stream().NoteTurn(*accepted->turn_id);
  };
  return link_.thread.Call<method::SessionSend>(
      sent, {.within = link_.patience, .repeatable = IsKnownAgain(sent)}, note);
}

void RemoteSession::Cancel() {
  link_.thread.loop().Post(
      [&thread = link_.thread, ref = ParamsOf<method::SessionCancel>(), patience = link_.patience] {
        client::Call<method::SessionCancel>(thread.connection(), ref, {.within = patience},
                                            [](const Result<protocol::Nothing>&) {});
      });
}

Status RemoteSession::Answer(const protocol::PermissionAnswer& answer) {
  RETURN_IF_ERROR(Call<method::SessionAnswer>(answer));
  return {};
}

Status RemoteSession::Answer(const protocol::QuestionAnswer& answer) {
  RETURN_IF_ERROR(Call<method::SessionAnswerQuestion>(answer));
  return {};
}

Status RemoteSession::RewriteQueue(const std::string& queue, const protocol::QueueItems& items) {
  protocol::QueueParams params;
  params.queue = queue;
  params.items = items;
  RETURN_IF_ERROR(Call<method::SessionRewriteQueue>(std::move(params)));
  return {};
}

Status RemoteSession::Change(const protocol::Change& change) {
  RETURN_IF_ERROR(Call<method::SessionChange>(change));
  return {};
}

Result<Moved> RemoteSession::Rewind(const std::optional<std::string>& target) {
  protocol::MoveLeaf move;
  move.target = target;
  return Call<method::SessionRewind>(std::move(move));
}

Result<Moved> RemoteSession::Branch(const std::string& leaf) {
  protocol::MoveLeaf move;
  move.target = leaf;
  return Call<method::SessionBranch>(std::move(move));
}

Result<protocol::FileRows> RemoteSession::FilesSince(const std::optional<std::string>& target,
                                                     bool restore) {
  protocol::FilesParams params;
  params.target = target;
  params.restore = restore;
  ASSIGN_OR_RETURN(protocol::FileList list,
                   Call<method::SessionFiles>(std::move(params), !restore));
  return std::move(list.files);
}

Result<std::string> RemoteSession::Mark(const protocol::Mark& mark) {
  ASSIGN_OR_RETURN(protocol::Said said, Call<method::SessionMark>(mark));
  return std::move(said.text);
}

Result<std::string> RemoteSession::Command(const std::string& name, const std::string& text) {
  auto params = ParamsOf<method::SessionCommand>();
  params.name = name;
  params.text = text;
  ASSIGN_OR_RETURN(protocol::Said said,
                   link_.thread.Call<method::SessionCommand>(params, {.within = kCommandTime}));
  return std::move(said.text);
}

Result<protocol::RunReport> RemoteSession::Run() { return Call<method::SessionRun>({}); }

Result<protocol::TurnRows> RemoteSession::Turns() {
  ASSIGN_OR_RETURN(protocol::TurnList list, Call<method::SessionTurns>({}));
  return std::move(list.turns);
}

Result<protocol::PermissionReport> RemoteSession::Permissions() {
  return Call<method::SessionPermissions>({});
}

Result<protocol::TaskRows> RemoteSession::Tasks() {
  ASSIGN_OR_RETURN(protocol::TaskList list, Call<method::SessionTasks>({}));
  return std::move(list.tasks);
}

Status RemoteSession::StopTask(const std::string& task_id) {
  protocol::TaskRef task;
  task.task_id = task_id;
  const auto stopped = Call<method::SessionTaskStop>(std::move(task));
  return stopped ? Status() : std::unexpected(stopped.error());
}

Result<protocol::TaskOutput> RemoteSession::TaskOutput(const std::string& task_id) {
  protocol::TaskOutputParams task;
  task.task_id = task_id;
  return Call<method::SessionTaskOutput>(std::move(task));
}

Result<std::vector<protocol::Event>> RemoteSession::Recent(std::size_t count) {
  protocol::RecentParams params;
  params.count = static_cast<std::int64_t>(count);
  ASSIGN_OR_RETURN(const protocol::EventList list, Call<method::SessionRecent>(std::move(params)));
  std::vector<protocol::Event> events;
  for (const Raw& raw : list.events) {
    ASSIGN_OR_RETURN(protocol::Event event, protocol::DecodeEvent(raw.text));
    events.push_back(std::move(event));
  }
  return events;
}

std::optional<protocol::TurnReport> RemoteSession::Report(const std::string& turn_id) {
  protocol::TurnRef params;
  params.turn_id = turn_id;
  Result<protocol::TurnReport> report = Call<method::SessionReport>(std::move(params));
  if (!report) return std::nullopt;
  return *std::move(report);
}

Status RemoteSession::Close() {
  if (!subscription_) return {};
  const bool connected = link_.thread.Run([this] {
    subscription_.reset();
    return link_.thread.connection().state() == LinkState::kConnected;
  });
  if (!connected) return {};
  // Ignoring the error on purpose: a host that does not hear it notices when the line ends.
  (void)link_.thread.Call<method::SessionUnsubscribe>(ParamsOf<method::SessionUnsubscribe>(),
                                                      {.within = kGoodbyeTime});
  return {};
}

}  // namespace stet::client
