#include "acp/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "acp/options.h"
#include "acp/prompt.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/utf8.h"
#include "client/await.h"

namespace stet::acp {
namespace {

/// A larger file is not shown as what it was before.
constexpr std::size_t kMaxFileText = std::size_t{1} << 20;

Error Gone(const std::string& session_id) {
  return {Code::kNotFound,
          fmt::format("session {} is not open: use session/load or session/resume", session_id)};
}

std::optional<std::string> FileText(const std::string& path) {
  const Result<FileStat> stat = StatFile(path);
  if (!stat || !stat->is_file) return std::nullopt;
  Result<std::string> text = ReadFile(path, kMaxFileText);
  if (!text || !IsValidUtf8(*text)) return std::nullopt;
  return *std::move(text);
}

}  // namespace

Session::Session(SessionSetup setup)
    : setup_(std::move(setup)),
      editor_(std::make_shared<Editor>(setup_.session_id, setup_.client.offers, setup_.line)),
      asks_(setup_.session_id),
      worker_([this](client::News& news) { Hear(news); }) {}

Session::~Session() {
  BeginEnd();
  worker_.Join();
  // On the thread that hears answers: none comes any more.
  for (const std::int64_t request : asks_.open_requests()) setup_.line.Drop(request);
}

void Session::BeginEnd() {
  // The client does nothing more for us: a tool that waits for it goes on.
  editor_->End();
  worker_.PostFirst([this](bool alive) {
    // Ignoring the error on purpose: the client is gone and cannot hear of it, and the log keeps
    // what it has.
    if (alive) (void)End();
  });
}

void Session::Post(Request request, void (Session::*perform)(const Request&)) {
  const auto shared = std::make_shared<const Request>(std::move(request));
  const bool taken = worker_.Post([this, shared, perform](bool alive) {
    if (alive && hold_)
      (this->*perform)(*shared);
    else
      Refuse(shared->id, Gone(setup_.session_id));
  });
  if (!taken) Refuse(shared->id, Error(Code::kBusy, "too many requests wait, or it has ended"));
}

void Session::Open(Request request, protocol::Attach attach, Opening opening) {
  const auto shared = std::make_shared<const Request>(std::move(request));
  const bool taken = worker_.Post([this, shared, attach = std::move(attach), opening](bool alive) {
    if (alive)
      DoOpen(*shared, attach, opening);
    else
      Refuse(shared->id, Gone(setup_.session_id));
  });
  if (!taken) Refuse(shared->id, Error(Code::kBusy, "too many requests wait, or it has ended"));
}

void Session::Prompt(Request request) { Post(std::move(request), &Session::DoPrompt); }
void Session::SetMode(Request request) { Post(std::move(request), &Session::DoSetMode); }
void Session::SetOption(Request request) { Post(std::move(request), &Session::DoSetOption); }
void Session::Close(Request request) { Post(std::move(request), &Session::DoClose); }
void Session::Delete(Request request) { Post(std::move(request), &Session::DoDelete); }

void Session::Cancel() {
  worker_.Post([this](bool alive) {
    if (alive && hold_) DoCancel();
  });
}

void Session::CancelRequest(Raw id) {
  worker_.Post([this, id = std::move(id)](bool alive) {
    if (alive && hold_ && std::ranges::find(waiting_, id, &Waiting::id) != waiting_.end())
      DoCancel();
  });
}

const protocol::LiveState& Session::Refresh() {
  if (Result<protocol::LiveState> state = client::Await(*hold_, &client::LiveSession::State))
    state_ = *std::move(state);
  return state_;
}

Status Session::Attach(const protocol::Attach& attach) {
  {
    const std::lock_guard lock(setup_.attaching);
    ASSIGN_OR_RETURN(hold_, client::Await(setup_.live, &client::Live::Attach, attach,
                                          client::FaceSide{worker_.inbox().Watcher(), editor_}));
  }
  made_ = !attach.session_id;
  const protocol::LiveState& state = Refresh();
  if (state.session_id != setup_.session_id) {  // The beginning of an id is none.
    hold_.reset();
    return Fail(Code::kNotFound, fmt::format("there is no session {}", setup_.session_id));
  }
  // Without the list only the model in use can be chosen.
  if (Result<protocol::ModelList> models = client::Await(*setup_.models, &client::Models::List))
    models_ = *std::move(models);
  cwd_ = state.cwd;
  window_ = state.context_window;
  if (!made_) {
    if (const Result<protocol::CostReport> cost =
            client::Await(*setup_.sessions, &client::Sessions::Cost, setup_.session_id))
      cost_ = cost->total.price;
  }
  updates_.emplace(MakeSources());
  return {};
}

Updates::Sources Session::MakeSources() {
  return {.cwd = cwd_,
          .compactions = setup_.client.compactions,
          .blob = [this](const std::string& name) -> std::optional<std::string> {
            Result<std::string> blob =
                client::Await(*setup_.sessions, &client::Sessions::Blob, setup_.session_id, name);
            if (!blob) return std::nullopt;
            return *std::move(blob);
          },
          .file_text = FileText};
}

void Session::DoOpen(const Request& request, const protocol::Attach& attach, Opening opening) {
  if (!hold_) {
    if (const Status attached = Attach(attach); !attached) {
      worker_.End();
      return Refuse(request.id, attached.error());
    }
  }
  if (opening == Opening::kLoad) {
    if (const Status told = Replay(); !told) return Refuse(request.id, told.error());
  }
  Respond(request.id, Described(Refresh(), opening == Opening::kNew));
  TellAfterOpening();
}

/// The history is told before anything else; what happens meanwhile waits in the inbox.
Status Session::Replay() {
  Updates history(MakeSources());
  bool heard = true;
  const auto tell = [&](const protocol::Event& event) {
    told_seq_ = std::max(told_seq_, event.seq);
    for (const std::string& update : history.Replay(event))
      heard = heard && setup_.output.PushPatiently(UpdateLine(setup_.session_id, update));
    return heard;
  };
  RETURN_IF_ERROR(client::Await(*setup_.history, &client::Sessions::Events, setup_.session_id,
                                std::nullopt, tell));
  if (!heard) return Fail(Code::kCancelled, "the client does not listen any more");
  updates_.emplace(std::move(history));
  return {};
}

void Session::TellAfterOpening() {
  const protocol::LiveState& state = Refresh();
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "available_commands_update");
  WriteCommands(writer.Key("availableCommands"), state.commands);
  writer.EndObject();
  Tell(update);
  for (const std::string& note : state.notes) TellNotice("warning", note);
  TellUsage();
  AskOpen(state);
}

std::string Session::Described(const protocol::LiveState& state, bool with_id) const {
  std::string result;
  JsonWriter writer(result);
  writer.BeginObject();
  if (with_id) writer.Member("sessionId", setup_.session_id);
  WriteModes(writer.Key("modes"), state);
  WriteOptions(writer.Key("configOptions"), state, models_);
  writer.EndObject();
  return result;
}

void Session::DoPrompt(const Request& request) {
  Result<protocol::Send> send = ReadPrompt(JsonView(request.params.text)["prompt"], cwd_);
  if (!send) return Refuse(request.id, send.error());
  if (send->images.empty() && send->text.starts_with('/')) {
    using Kind = client::ParsedLine::Kind;
    const client::ParsedLine line =
        client::ParseLine(send->text, client::Face::kAcp, Refresh().commands);
    if (line.kind == Kind::kCommand || line.kind == Kind::kExtension)
      return DoCommand(request, line);
  }
  Waiting prompt;
  prompt.id = request.id;
  prompt.message_id = "acp_" + RandomName(ProcessRandom(), 16);
  send->client_message_id = prompt.message_id;
  const Result<protocol::Accepted> accepted =
      client::Await(*hold_, &client::LiveSession::Send, *send);
  if (!accepted) return Refuse(request.id, accepted.error());
  cancelling_ = false;
  prompt.turn_id = accepted->turn_id.value_or("");
  prompt.item_id = accepted->item_id.value_or("");
  waiting_.push_back(std::move(prompt));
}

void Session::DoCommand(const Request& request, const client::ParsedLine& line) {
  const Result<CommandDone> done = RunCommand(line, *hold_);
  if (!done) return Refuse(request.id, done.error());
  if (done->turn_id) {
    Waiting& turn = waiting_.emplace_back();
    turn.id = request.id;
    turn.turn_id = *done->turn_id;
    return;
  }
  TellText(done->text);
  Respond(request.id, R"({"stopReason":"end_turn"})");
}

void Session::DoSetMode(const Request& request) {
  protocol::Change change;
  change.mode = JsonView(request.params.text)["modeId"].StringOr("");
  if (const Status changed = client::Await(*hold_, &client::LiveSession::Change, change); !changed)
    return Refuse(request.id, changed.error());
  Respond(request.id, "{}");
}

void Session::DoSetOption(const Request& request) {
  const JsonView params(request.params.text);
  const std::optional<std::string> value = params["value"].String();
  if (!value) return Refuse(request.id, Error(Code::kInvalid, "value must be a string"));
  const Result<protocol::Change> change =
      ReadChoice(params["configId"].StringOr(""), *value, Refresh());
  if (!change) return Refuse(request.id, change.error());
  if (*change != protocol::Change()) {
    if (const Status changed = client::Await(*hold_, &client::LiveSession::Change, *change);
        !changed)
      return Refuse(request.id, changed.error());
  }
  std::string result;
  JsonWriter writer(result);
  WriteOptions(writer.BeginObject().Key("configOptions"), Refresh(), models_);
  writer.EndObject();
  Respond(request.id, result);
}

void Session::DoClose(const Request& request) {
  const Status ended = End();
  if (!ended) return Refuse(request.id, ended.error());
  Respond(request.id, "{}");
}

void Session::DoDelete(const Request& request) {
  made_ = false;  // It is removed in any case.
  Status done = End();
  if (done) done = client::Await(*setup_.sessions, &client::Sessions::Remove, setup_.session_id);
  if (!done) return Refuse(request.id, done.error());
  Respond(request.id, "{}");
}

/// What waits in the queue shall not run either.
void Session::DoCancel() {
  cancelling_ = true;
  hold_->Cancel();
  protocol::QueueItems left = Refresh().follow_ups;
  bool rewritten = false;
  std::erase_if(waiting_, [&](Waiting& prompt) {
    prompt.cancelled = true;
    if (!prompt.turn_id.empty()) return false;
    rewritten = std::erase_if(left,
                              [&](const protocol::QueueItem& item) {
                                return item.item_id == prompt.item_id;
                              }) > 0 ||
                rewritten;
    Respond(prompt.id, R"({"stopReason":"cancelled"})");
    return true;
  });
  // Ignoring the error on purpose: what was taken meanwhile is the turn that is cancelled.
  if (rewritten) (void)client::Await(*hold_, &client::LiveSession::RewriteQueue, "follow_up", left);
}

/// Closes the session; what was asked of it is answered. It is over when all of that is done:
/// the agent, which sees that, need not wait any more.
Status Session::End() {
  Status ended = hold_ ? CloseHold() : Status();
  worker_.End();
  return ended;
}

Status Session::CloseHold() {
  Status closed = client::Await(*hold_, &client::LiveSession::Close);
  // What it did until then is still told; the hold is not to be asked any more.
  while (std::optional<client::News> news = worker_.inbox().Take()) {
    if (const auto* event = std::get_if<protocol::Event>(&*news)) {
      const auto* user = std::get_if<protocol::UserMessage>(&event->payload);
      if (event->seq > told_seq_ && (user == nullptr || !IsOwn(*event, *user)))
        TellAll(updates_->Take(*event));
    } else if (const auto* transient = std::get_if<protocol::Transient>(&*news)) {
      TellAll(updates_->Take(*transient));
    }
  }
  for (const Waiting& prompt : waiting_) Respond(prompt.id, R"({"stopReason":"cancelled"})");
  waiting_.clear();
  hold_.reset();
  const Result<protocol::SessionSummary> kept =
      client::Await(*setup_.sessions, &client::Sessions::Describe, setup_.session_id);
  // Nothing was said. Ignoring the error on purpose: then an empty one is listed.
  if (made_ && closed && kept && kept->user_messages == 0)
    (void)client::Await(*setup_.sessions, &client::Sessions::Remove, setup_.session_id);
  return closed;
}

void Session::Respond(const Raw& id, std::string_view result) { setup_.line.Reply(id, result); }

void Session::Refuse(const Raw& id, const Error& error) { RefuseWith(setup_.line, id, error); }

}  // namespace stet::acp
