#include "acp/agent.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "acp/listing.h"
#include "acp/params.h"
#include "base/random.h"
#include "client/await.h"
#include "protocol/ids.h"

namespace stet::acp {

struct Agent::Method {
  std::string_view name;
  /// An error is the answer; else the request is answered, or will be.
  Status (Agent::*perform)(Request request);
};

Agent::Agent(Clients clients, Output& output)
    : clients_(std::move(clients)),
      output_(output),
      line_({.max_line = kMaxLine, .id_prefix = "stet-"},
            {.asked = [this](Request request) { On(std::move(request)); },
             .told = [this](const Notification& notification) { On(notification); },
             .fault = [this](const Fault& fault, bool) { On(fault); }},
            [this](std::string line) { output_.Push(std::move(line)); }),
      lobby_([](client::News&) {}) {}

Agent::~Agent() {
  lobby_.End();
  // All at once: each takes as long as its turn needs to stop.
  for (const auto& [id, session] : sessions_) session->BeginEnd();
  sessions_.clear();
  lobby_.Join();
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
  const Raw id = request.id;
  const auto* method = std::ranges::find(kMethods, request.method, &Method::name);
  if (method == kMethods.end())
    return line_.Refuse(id, rpc::kNoMethod, fmt::format("method not found: {}", request.method));
  if (!initialized_ && method->name != "initialize")
    return line_.Refuse(id, rpc::kInvalidRequest, "initialize must come first");
  if (!JsonView(request.params.text).is_object())
    return line_.Refuse(id, rpc::kInvalidParams, "params must be an object");
  if (const Status done = (this->*method->perform)(std::move(request)); !done)
    RefuseWith(line_, id, done.error());
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
Status Agent::Initialize(Request request) {
  const Request asked = std::move(request);
  const JsonView params(asked.params.text);
  if (!params["protocolVersion"].Int())
    return Fail(Code::kInvalid, "protocolVersion must be an integer");
  client_ = ReadTraits(params);
  initialized_ = true;
  const bool terminal = params["clientCapabilities"]["auth"]["terminal"].Bool().value_or(false);
  line_.Reply(asked.id, InitializeResult(terminal));
  return {};
}

/// Keys come from outside: it is looked whether one is there now.
Status Agent::Authenticate(Request request) {
  const std::string method = JsonView(request.params.text)["methodId"].StringOr("");
  if (method != "key")
    return Fail(Code::kInvalid, fmt::format("methodId: there is no method {}", method));
  return Lobby(std::move(request), [this](const Request&) -> Result<std::string> {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> models, clients_.models());
    ASSIGN_OR_RETURN(const protocol::ModelList list, client::Await(*models, &client::Models::List));
    if (list.problem) return Fail(Code::kAuth, *list.problem);
    return "{}";
  });
}

Status Agent::New(Request request) {
  ASSIGN_OR_RETURN(protocol::Attach attach, ReadAttach(JsonView(request.params.text), true));
  const std::string id = protocol::NewSessionId(ProcessRandom());
  attach.new_session_id = id;
  ASSIGN_OR_RETURN(Session* const session, Make(id));
  session->Open(std::move(request), std::move(attach), Session::Opening::kNew);
  return {};
}

Status Agent::Load(Request request) { return Reopen(std::move(request), Session::Opening::kLoad); }
Status Agent::Resume(Request request) {
  return Reopen(std::move(request), Session::Opening::kResume);
}

Status Agent::Reopen(Request request, Session::Opening opening) {
  const JsonView params(request.params.text);
  ASSIGN_OR_RETURN(const std::string id, TextParam(params, "sessionId"));
  ASSIGN_OR_RETURN(protocol::Attach attach, ReadAttach(params, opening == Session::Opening::kLoad));
  if (!protocol::IsSessionId(id))
    return Fail(Code::kNotFound, fmt::format("there is no session {}", id));
  attach.session_id = id;
  const auto open = sessions_.find(id);
  Session* session = open == sessions_.end() ? nullptr : open->second.get();
  if (session == nullptr) {
    ASSIGN_OR_RETURN(session, Make(id));
  }
  session->Open(std::move(request), std::move(attach), opening);
  return {};
}

Status Agent::List(Request request) {
  return Lobby(std::move(request), [this](const Request& asked) -> Result<std::string> {
    const JsonView params(asked.params.text);
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients_.sessions());
    ASSIGN_OR_RETURN(std::vector<protocol::SessionSummary> all,
                     client::Await(*sessions, &client::Sessions::List, false));
    return ListPage(std::move(all),
                    {.cwd = params["cwd"].String(), .cursor = params["cursor"].String()});
  });
}

Status Agent::Delete(Request request) {
  ASSIGN_OR_RETURN(const std::string id, TextParam(JsonView(request.params.text), "sessionId"));
  if (const auto open = sessions_.find(id); open != sessions_.end()) {
    open->second->Delete(std::move(request));
    return {};
  }
  if (!protocol::IsSessionId(id))
    return Fail(Code::kNotFound, fmt::format("there is no session {}", id));
  return Lobby(std::move(request), [this, id](const Request&) -> Result<std::string> {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients_.sessions());
    RETURN_IF_ERROR(client::Await(*sessions, &client::Sessions::Remove, id));
    return "{}";
  });
}

Status Agent::Close(Request request) {
  ASSIGN_OR_RETURN(Session* const session, Find(request));
  session->Close(std::move(request));
  return {};
}

Status Agent::Prompt(Request request) {
  ASSIGN_OR_RETURN(Session* const session, Find(request));
  session->Prompt(std::move(request));
  return {};
}

Status Agent::SetMode(Request request) {
  ASSIGN_OR_RETURN(Session* const session, Find(request));
  RETURN_IF_ERROR(TextParam(JsonView(request.params.text), "modeId"));
  session->SetMode(std::move(request));
  return {};
}

Status Agent::SetOption(Request request) {
  ASSIGN_OR_RETURN(Session* const session, Find(request));
  RETURN_IF_ERROR(TextParam(JsonView(request.params.text), "configId"));
  session->SetOption(std::move(request));
  return {};
}

/// Done on a thread of its own, and answered with what it gives.
Status Agent::Lobby(Request request, std::function<Result<std::string>(const Request&)> perform) {
  const bool taken =
      lobby_.Post([this, request = std::move(request), perform = std::move(perform)](bool alive) {
        const Result<std::string> result =
            alive ? perform(request) : Fail(Code::kCancelled, "the connection has ended");
        if (result)
          line_.Reply(request.id, *result);
        else
          RefuseWith(line_, request.id, result.error());
      });
  return taken ? Status() : Fail(Code::kBusy, "too many requests wait");
}

Result<Session*> Agent::Make(const std::string& id) {
  if (sessions_.size() >= kMaxSessions)
    return Fail(Code::kBusy, fmt::format("{} sessions are open: close one", kMaxSessions));
  if (!live_) {
    ASSIGN_OR_RETURN(live_, clients_.live());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<client::Sessions> sessions, clients_.sessions());
  ASSIGN_OR_RETURN(std::unique_ptr<client::Sessions> history, clients_.sessions());
  ASSIGN_OR_RETURN(std::unique_ptr<client::Models> models, clients_.models());
  auto session = std::make_unique<Session>(SessionSetup{.session_id = id,
                                                        .client = client_,
                                                        .output = output_,
                                                        .line = line_,
                                                        .live = *live_,
                                                        .attaching = attaching_,
                                                        .sessions = std::move(sessions),
                                                        .history = std::move(history),
                                                        .models = std::move(models)});
  return sessions_.insert_or_assign(id, std::move(session)).first->second.get();
}

/// The session that a request is about.
Result<Session*> Agent::Find(const Request& request) {
  ASSIGN_OR_RETURN(const std::string id, TextParam(JsonView(request.params.text), "sessionId"));
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
