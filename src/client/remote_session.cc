#include "client/remote_session.h"

#include <utility>

#include "base/random.h"

namespace stet::client {
namespace {

using protocol::OptionalText;
using protocol::Text;

/// What hooks and extensions take their time for.
constexpr std::chrono::minutes kCommandTime{10};
/// Nobody wants to wait for a goodbye.
constexpr std::chrono::seconds kGoodbyeTime{2};
constexpr std::size_t kMessageIdLetters = 16;

struct Target {
  STET_FIELDS(Target, (OptionalText, target), (bool, restore))
};
struct Queue {
  STET_FIELDS(Queue, (Text, queue), (protocol::QueueItems, items))
};
struct SlashCommand {
  STET_FIELDS(SlashCommand, (Text, name), (Text, text))
};
struct Count {
  STET_FIELDS(Count, (std::int64_t, count))
};
struct TurnRef {
  STET_FIELDS(TurnRef, (Text, turn_id))
};
struct Said {
  STET_FIELDS(Said, (Text, text))
};
struct Leaves {
  STET_FIELDS(Leaves, (OptionalText, old_leaf), (OptionalText, new_leaf))
};
struct Files {
  STET_FIELDS(Files, (protocol::FileRows, files))
};
struct Turned {
  STET_FIELDS(Turned, (protocol::TurnRows, turns))
};
struct InBackground {
  STET_FIELDS(InBackground, (protocol::TaskRows, tasks))
};
struct Events {
  STET_FIELDS(Events, (protocol::Raws, events))
};

/// Whether the host knows it again by its clientMessageId.
bool IsKnownAgain(const protocol::Send& send) {
  return send.how.empty() || send.how == "send" || send.how == "steer";
}

}  // namespace

std::string RemoteLink::WithEnvironment(std::string object) const {
  if (!environment) return object;
  protocol::Environment more;
  more.environment = environment;
  const std::string members = Encode(more).substr(1);
  object.pop_back();
  if (object.size() > 1) object += ',';
  return object += members;
}

RemoteSession::RemoteSession(const RemoteLink& link, std::string session_id)
    : link_(link), session_id_(std::move(session_id)) {
  last_state_.session_id = session_id_;
}

RemoteSession::~RemoteSession() {
  // Ignoring the error on purpose: whoever wants to hear of it closes.
  (void)Close();
}

Status RemoteSession::Begin(StreamOptions options, std::string reopen,
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

Request RemoteSession::RequestFor(std::string method, const std::string& object,
                                  bool repeatable) const {
  return {.method = std::move(method),
          .params = protocol::ForSession(session_id_, object),
          .repeatable = repeatable,
          .within = link_.patience};
}

Status RemoteSession::Do(std::string method, const std::string& object, bool repeatable) {
  RETURN_IF_ERROR(link_.thread.Ask(RequestFor(std::move(method), object, repeatable)));
  return {};
}

/// The last one known when the host does not answer, with the reason as its only note; at rest when
/// it never will.
protocol::LiveState RemoteSession::State() {
  Result<protocol::LiveState> state =
      link_.thread.AskFor<protocol::LiveState>(RequestFor("session.state", "{}", true));
  if (state) {
    last_state_ = *std::move(state);
    return last_state_;
  }
  protocol::LiveState known = last_state_;
  known.notes = {state.error().Text()};
  const bool gone =
      link_.thread.Call([&] { return link_.thread.connection().state() == LinkState::kGone; });
  if (gone || known.state.empty()) known.state = "idle";
  return known;
}

Result<protocol::Accepted> RemoteSession::Send(const protocol::Send& send) {
  protocol::Send sent = send;
  if (!sent.client_message_id)
    sent.client_message_id = "m_" + RandomName(ProcessRandom(), kMessageIdLetters);
  const std::string object = link_.WithEnvironment(Encode(sent));
  const auto note = [&](const Result<Raw>& answer) {
    if (!answer) return;
    const Result<protocol::Accepted> accepted = Decode<protocol::Accepted>(answer->text);
    if (accepted && accepted->turn_id) subscription_->stream().NoteTurn(*accepted->turn_id);
  };
  ASSIGN_OR_RETURN(const Raw answer,
                   link_.thread.Ask(RequestFor("session.send", object, IsKnownAgain(sent)), note));
  return Decode<protocol::Accepted>(answer.text);
}

void RemoteSession::Cancel() {
  link_.thread.loop().Post(
      [&thread = link_.thread, request = RequestFor("session.cancel", "{}", false)] {
        thread.connection().Ask(request, [](const Result<Raw>&) {});
      });
}

Status RemoteSession::Answer(const protocol::PermissionAnswer& answer) {
  return Do("session.answer", Encode(answer), true);
}

Status RemoteSession::Answer(const protocol::QuestionAnswer& answer) {
  return Do("session.answerQuestion", Encode(answer), true);
}

Status RemoteSession::RewriteQueue(const std::string& queue, const protocol::QueueItems& items) {
  Queue params;
  params.queue = queue;
  params.items = items;
  return Do("session.rewriteQueue", Encode(params), false);
}

Status RemoteSession::Change(const protocol::Change& change) {
  return Do("session.change", Encode(change), false);
}

Result<Moved> RemoteSession::Move(std::string method, const std::optional<std::string>& target) {
  Target params;
  params.target = target;
  ASSIGN_OR_RETURN(Leaves leaves, link_.thread.AskFor<Leaves>(
                                      RequestFor(std::move(method), Encode(params), false)));
  Moved moved;
  moved.old_leaf = std::move(leaves.old_leaf);
  moved.new_leaf = std::move(leaves.new_leaf);
  return moved;
}

Result<Moved> RemoteSession::Rewind(const std::optional<std::string>& target) {
  return Move("session.rewind", target);
}

Result<Moved> RemoteSession::Branch(const std::string& leaf) {
  return Move("session.branch", leaf);
}

Result<protocol::FileRows> RemoteSession::FilesSince(const std::optional<std::string>& target,
                                                     bool restore) {
  Target params;
  params.target = target;
  params.restore = restore;
  ASSIGN_OR_RETURN(Files files, link_.thread.AskFor<Files>(
                                    RequestFor("session.files", Encode(params), !restore)));
  return std::move(files.files);
}

Result<std::string> RemoteSession::Mark(const protocol::Mark& mark) {
  ASSIGN_OR_RETURN(Said said,
                   link_.thread.AskFor<Said>(RequestFor("session.mark", Encode(mark), false)));
  return std::move(said.text);
}

Result<std::string> RemoteSession::Command(const std::string& name, const std::string& text) {
  SlashCommand params;
  params.name = name;
  params.text = text;
  Request request = RequestFor("session.command", Encode(params), false);
  request.within = kCommandTime;
  ASSIGN_OR_RETURN(Said said, link_.thread.AskFor<Said>(std::move(request)));
  return std::move(said.text);
}

Result<protocol::RunReport> RemoteSession::Run() {
  return link_.thread.AskFor<protocol::RunReport>(RequestFor("session.run", "{}", true));
}

Result<protocol::TurnRows> RemoteSession::Turns() {
  ASSIGN_OR_RETURN(Turned turned,
                   link_.thread.AskFor<Turned>(RequestFor("session.turns", "{}", true)));
  return std::move(turned.turns);
}

Result<protocol::PermissionReport> RemoteSession::Permissions() {
  return link_.thread.AskFor<protocol::PermissionReport>(
      RequestFor("session.permissions", "{}", true));
}

Result<protocol::TaskRows> RemoteSession::Tasks() {
  ASSIGN_OR_RETURN(InBackground all,
                   link_.thread.AskFor<InBackground>(RequestFor("session.tasks", "{}", true)));
  return std::move(all.tasks);
}

Status RemoteSession::StopTask(const std::string& task_id) {
  protocol::TaskRef task;
  task.task_id = task_id;
  return Do("session.task.stop", Encode(task), false);
}

Result<protocol::TaskOutput> RemoteSession::TaskOutput(const std::string& task_id) {
  protocol::TaskRef task;
  task.task_id = task_id;
  return link_.thread.AskFor<protocol::TaskOutput>(
      RequestFor("session.task.output", Encode(task), true));
}

Result<std::vector<protocol::Event>> RemoteSession::Recent(std::size_t count) {
  Count params;
  params.count = static_cast<std::int64_t>(count);
  ASSIGN_OR_RETURN(const Events read,
                   link_.thread.AskFor<Events>(RequestFor("session.recent", Encode(params), true)));
  std::vector<protocol::Event> events;
  for (const Raw& raw : read.events) {
    ASSIGN_OR_RETURN(protocol::Event event, protocol::DecodeEvent(raw.text));
    events.push_back(std::move(event));
  }
  return events;
}

std::optional<protocol::TurnReport> RemoteSession::Report(const std::string& turn_id) {
  TurnRef params;
  params.turn_id = turn_id;
  Result<protocol::TurnReport> report =
      link_.thread.AskFor<protocol::TurnReport>(RequestFor("session.report", Encode(params), true));
  if (!report) return std::nullopt;
  return *std::move(report);
}

Status RemoteSession::Close() {
  if (!subscription_) return {};
  const bool connected = link_.thread.Call([this] {
    subscription_.reset();
    return link_.thread.connection().state() == LinkState::kConnected;
  });
  if (!connected) return {};
  Request goodbye = RequestFor("session.unsubscribe", "{}", false);
  goodbye.within = kGoodbyeTime;
  // Ignoring the error on purpose: a host that does not hear it notices when the line ends.
  (void)link_.thread.Ask(std::move(goodbye));
  return {};
}

}  // namespace stet::client
