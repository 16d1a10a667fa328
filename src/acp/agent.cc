#include "acp/agent.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "acp/listing.h"
#include "acp/params.h"
#include "acp/with_value.h"
#include "base/random.h"
#include "protocol/ids.h"

namespace stet::acp {

struct Agent::Method {
  std::string_view name;
  /// Answers the request, now or later.
  void (Agent::*perform)(Asked asked);
};

Agent::Agent(Clients clients, Output& output)
    : clients_(std::move(clients)),
      output_(output),
      line_({.max_line = kMaxLine, .id_prefix = "stet-"},
            {.asked = [this](Request request) { On(std::move(request)); },
             .told = [this](const Notification& notification) { On(notification); },
             .fault = [this](const Fault& fault, bool) { On(fault); }},
            [this](std::string line) { output_.Push(std::move(line)); }) {}

Agent::~Agent() = default;

void Agent::AddDescriptors(std::vector<int>& fds) const {
  fds.push_back(inbox_.fd());
  for (const auto& [id, session] : sessions_) session->AddDescriptors(fds);
}

void Agent::Hear() {
  while (std::optional<client::News> news = inbox_.Take())
    if (auto* answered = std::get_if<client::Answered>(&*news)) (*answered)();
  for (const auto& [id, session] : sessions_) session->Hear();
  DropEnded();
  // The others are closed: these are waited for only as long as a host that is there needs.
  const auto attaching = [](const auto& entry) { return entry.second->attaching(); };
  if (ending_ && live_ && std::ranges::all_of(sessions_, attaching)) live_->Abandon();
}

void Agent::End() {
  ending_ = true;
  for (const auto& [id, session] : sessions_) session->End();
  for (const Attaching& waits : std::exchange(attaching_, {}))
    waits.reply(Fail(Code::kCancelled, "the connection has ended"));
  Hear();
}

void Agent::On(Request request) {
  constexpr std::array kMethods = {
      Method{"initialize", &Agent::Initialize},
      Method{"authenticate", &Agent::Authenticate},
      Method{"session/new", &Agent::New},
      Method{"session/load", &Agent::Load},
      Method{"session/resume", &Agent::Resume},
      Method{"session/list", &Agent::List},
      Method{"session/delete", &Agent::Delete},
      Method{"session/close", &Agent::Close},
      Method{"session/prompt", &Agent::Prompt},
      Method{"session/set_mode", &Agent::SetMode},
      Method{"session/set_config_option", &Agent::SetOption},
  };
  DropEnded();
  const Raw& id = request.id;
  const auto* method = std::ranges::find(kMethods, request.method, &Method::name);
  if (method == kMethods.end())
    return line_.Refuse(id, rpc::kNoMethod, fmt::format("method not found: {}", request.method));
  if (!initialized_ && method->name != "initialize")
    return line_.Refuse(id, rpc::kInvalidRequest, "initialize must come first");
  if (!JsonView(request.params.text).is_object())
    return line_.Refuse(id, rpc::kInvalidParams, "params must be an object");
  (this->*method->perform)(Asked(line_, std::move(request)));
}

/// Notifications have no answer, so what makes no sense is passed over.
void Agent::On(const Notification& notification) {
  DropEnded();
  const JsonView params(notification.params.text);
  if (notification.method == "session/cancel") {
    const auto session = sessions_.find(params["sessionId"].StringOr(""));
    if (session != sessions_.end()) session->second->Cancel();
  } else if (notification.method == "$/cancel_request") {
    const JsonView id = params["requestId"];
    for (const auto& [name, session] : sessions_)
      session->CancelRequest(Raw{std::string(id.text())});
  }
}

void Agent::On(const Fault& fault) { line_.Refuse(fault.id, fault.code, fault.message); }

/// Any version is answered with ours: a client that cannot speak it goes away.
void Agent::Initialize(Asked asked) {
  const JsonView params = asked.params();
  if (!params["protocolVersion"].Int())
    return asked.Refuse({Code::kInvalid, "protocolVersion must be an integer"});
  client_ = ReadTraits(params);
  initialized_ = true;
  const bool terminal = params["clientCapabilities"]["auth"]["terminal"].Bool().value_or(false);
  asked.Answer(InitializeResult(terminal));
}

template <class F>
auto Agent::InLobby(Asked asked, F next) {
  ++lobby_;
  return inbox_.Then([this, asked = std::move(asked), next](auto answer) mutable {
    --lobby_;
    if (!answer) return asked.Refuse(answer.error());
    const Result<std::string> result = WithValue(next, std::move(answer), asked);
    if (result)
      asked.Answer(*result);
    else
      asked.Refuse(result.error());
  });
}

/// Keys come from outside: it is looked whether one is there now.
void Agent::Authenticate(Asked asked) {
  const std::string method = asked.params()["methodId"].StringOr("");
  if (method != "key")
    return asked.Refuse({Code::kInvalid, fmt::format("methodId: there is no method {}", method)});
  const Result<client::Models*> models = LobbyModels();
  if (!models) return asked.Refuse(models.error());
  (*models)->List(InLobby(std::move(asked),
                          [](const Asked&, const protocol::ModelList& list) -> Result<std::string> {
                            if (list.problem) return Fail(Code::kAuth, *list.problem);
                            return "{}";
                          }));
}

void Agent::New(Asked asked) {
  Result<protocol::Attach> attach = ReadAttach(asked.params(), true);
  if (!attach) return asked.Refuse(attach.error());
  const std::string id = protocol::NewSessionId(ProcessRandom());
  attach->new_session_id = id;
  const Result<Session*> session = Make(id);
  if (!session) return asked.Refuse(session.error());
  (*session)->Open(std::move(asked), *attach, Session::Opening::kNew);
}

void Agent::Load(Asked asked) { Reopen(std::move(asked), Session::Opening::kLoad); }
void Agent::Resume(Asked asked) { Reopen(std::move(asked), Session::Opening::kResume); }

void Agent::Reopen(Asked asked, Session::Opening opening) {
  const Result<std::string> id = TextParam(asked.params(), "sessionId");
  if (!id) return asked.Refuse(id.error());
  Result<protocol::Attach> attach = ReadAttach(asked.params(), opening == Session::Opening::kLoad);
  if (!attach) return asked.Refuse(attach.error());
  if (!protocol::IsSessionId(*id))
    return asked.Refuse({Code::kNotFound, fmt::format("there is no session {}", *id)});
  attach->session_id = *id;
  const auto open = sessions_.find(*id);
  if (open != sessions_.end()) return open->second->Open(std::move(asked), *attach, opening);
  const Result<Session*> session = Make(*id);
  if (!session) return asked.Refuse(session.error());
  (*session)->Open(std::move(asked), *attach, opening);
}

void Agent::List(Asked asked) {
  const Result<client::Sessions*> sessions = LobbySessions();
  if (!sessions) return asked.Refuse(sessions.error());
  (*sessions)->List(
      false,
      InLobby(std::move(asked), [](const Asked& list, std::vector<protocol::SessionSummary> all) {
        const JsonView params = list.params();
        return ListPage(std::move(all),
                        {.cwd = params["cwd"].String(), .cursor = params["cursor"].String()});
      }));
}

void Agent::Delete(Asked asked) {
  const Result<std::string> id = TextParam(asked.params(), "sessionId");
  if (!id) return asked.Refuse(id.error());
  if (const auto open = sessions_.find(*id); open != sessions_.end())
    return open->second->Delete(std::move(asked));
  if (!protocol::IsSessionId(*id))
    return asked.Refuse({Code::kNotFound, fmt::format("there is no session {}", *id)});
  const Result<client::Sessions*> sessions = LobbySessions();
  if (!sessions) return asked.Refuse(sessions.error());
  (*sessions)->Remove(
      *id, InLobby(std::move(asked), [](const Asked&) { return Result<std::string>("{}"); }));
}

void Agent::Close(Asked asked) {
  const Result<Session*> session = Find(asked);
  if (!session) return asked.Refuse(session.error());
  (*session)->Close(std::move(asked));
}

void Agent::Prompt(Asked asked) {
  const Result<Session*> session = Find(asked);
  if (!session) return asked.Refuse(session.error());
  (*session)->Prompt(std::move(asked));
}

void Agent::SetMode(Asked asked) {
  const Result<Session*> session = Find(asked);
  if (!session) return asked.Refuse(session.error());
  if (const Result<std::string> mode = TextParam(asked.params(), "modeId"); !mode)
    return asked.Refuse(mode.error());
  (*session)->SetMode(std::move(asked));
}

void Agent::SetOption(Asked asked) {
  const Result<Session*> session = Find(asked);
  if (!session) return asked.Refuse(session.error());
  if (const Result<std::string> option = TextParam(asked.params(), "configId"); !option)
    return asked.Refuse(option.error());
  (*session)->SetOption(std::move(asked));
}

Result<client::Sessions*> Agent::LobbySessions() {
  if (lobby_ >= kMaxLobby) return Fail(Code::kBusy, "too many requests wait: try again");
  if (!stored_) {
    ASSIGN_OR_RETURN(stored_, clients_.sessions());
  }
  return stored_.get();
}

Result<client::Models*> Agent::LobbyModels() {
  if (lobby_ >= kMaxLobby) return Fail(Code::kBusy, "too many requests wait: try again");
  if (!models_) {
    ASSIGN_OR_RETURN(models_, clients_.models());
  }
  return models_.get();
}

/// Finding the host may take as long as one needs that is just leaving.
void Agent::Attach(Attaching attaching) {
  if (live_)
    return live_->Attach(attaching.attach, std::move(attaching.face), std::move(attaching.reply));
  attaching_.push_back(std::move(attaching));
  if (finder_) return;
  client::Reply<std::unique_ptr<client::Live>> found = inbox_.Then(
      [this](Result<std::unique_ptr<client::Live>> live) { FoundHost(std::move(live)); });
  finder_.emplace();
  finder_->Start();
  finder_->loop().Post([find = clients_.live, found = std::move(found)] { found(find()); });
}

void Agent::FoundHost(Result<std::unique_ptr<client::Live>> live) {
  finder_.reset();
  const std::deque<Attaching> waiting = std::exchange(attaching_, {});
  if (!live) {
    for (const Attaching& waits : waiting) waits.reply(std::unexpected(live.error()));
    return;
  }
  live_ = *std::move(live);
  for (const Attaching& waits : waiting) live_->Attach(waits.attach, waits.face, waits.reply);
}

Result<Session*> Agent::Make(const std::string& id) {
  if (sessions_.size() >= kMaxSessions)
    return Fail(Code::kBusy, fmt::format("{} sessions are open: close one", kMaxSessions));
  ASSIGN_OR_RETURN(client::Models* const models, LobbyModels());
  ASSIGN_OR_RETURN(std::unique_ptr<client::Sessions> sessions, clients_.sessions());
  ASSIGN_OR_RETURN(std::unique_ptr<client::Sessions> history, clients_.sessions());
  auto session = std::make_unique<Session>(SessionSetup{
      .session_id = id,
      .client = client_,
      .output = output_,
      .line = line_,
      .attach =
          [this](const protocol::Attach& attach, client::FaceSide face, AttachReply reply) {
            Attach({.attach = attach, .face = std::move(face), .reply = std::move(reply)});
          },
      .models = *models,
      .sessions = std::move(sessions),
      .history = std::move(history)});
  return sessions_.insert_or_assign(id, std::move(session)).first->second.get();
}

/// The session that a request is about.
Result<Session*> Agent::Find(const Asked& asked) {
  ASSIGN_OR_RETURN(const std::string id, TextParam(asked.params(), "sessionId"));
  const auto open = sessions_.find(id);
  if (open == sessions_.end())
    return Fail(Code::kNotFound,
                fmt::format("session {} is not open: use session/load or session/resume", id));
  return open->second.get();
}

void Agent::DropEnded() {
  std::erase_if(sessions_, [](const auto& entry) { return entry.second->over(); });
}

}  // namespace stet::acp
