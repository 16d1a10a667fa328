#include "lane/lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/random.h"
#include "device/model_access.h"
#include "lane/lane.h"
#include "lane/open_lane.h"
#include "lane/opening_options.h"
#include "log/log.h"
#include "log/paths.h"
#include "protocol/ids.h"
#include "store/session_store.h"

namespace stet::lane {
namespace {

using protocol::Attach;

constexpr std::string_view kBypass = "bypass";

bool MakesSession(const Attach& attach) { return !attach.session_id || attach.fork; }

/// How a child is opened: under the rules and limits of its parent, which was opened by `attach`,
/// with no client that answers. One that there is keeps the rest as its log has it.
Attach AttachOfChild(Attach attach, const protocol::LiveState& parent, const ChildOpening& child) {
  const bool makes = child.header.has_value();
  attach.session_id = makes ? std::nullopt : protocol::OptionalText(child.child_id);
  attach.new_session_id = makes ? protocol::OptionalText(child.child_id) : std::nullopt;
  attach.cwd = makes && child.cwd.empty() ? parent.cwd : child.cwd;
  attach.model = child.model;
  attach.effort =
      makes && !parent.effort.empty() ? protocol::OptionalText(parent.effort) : std::nullopt;
  attach.mode = makes && child.mode.empty() ? parent.mode : child.mode;
  attach.tools = child.tools;
  attach.system_prompt.reset();
  attach.output_schema.reset();
  attach.answers = false;
  return attach;
}

/// The key of its model is not in an environment that no client handed over.
Error WithAdvice(Error error) {
  if (error.code == Code::kAuth)
    error.message +=
        "; the host was started without it: attach once from a terminal that has it (`stet "
        "attach`), or keep it in the vault (`stet vault set`, apiKeyVault), then send again";
  return error;
}

}  // namespace

/// What is known of a session here, and its lane while it has one.
struct Lanes::Session {
  Session(std::string name, Attach how) : id(std::move(name)), attach(std::move(how)) {}

  std::string id;
  Presence presence = Presence::kAsleep;
  Attach attach;                           // What is in force of how it was opened the last time.
  std::string opened_by;                   // The client that did.
  bool released = false;                   // No client holds it as it was opened.
  bool slept_in_bypass = false;            // Which the log does not keep.
  std::optional<protocol::Header> header;  // While it is made as a child.
  std::shared_ptr<Environment> environment =
      std::make_shared<Environment>(Environment::OfProcess());
  bool brought = false;                        // A client handed the environment over.
  std::shared_ptr<client::Services> services;  // Null: no client offers any.
  LaneListener* listener = nullptr;            // Null: none.
  std::unique_ptr<Lane> lane;
  std::vector<Pending<bool>> awaiting_close;
};

Lanes::Lanes(Loop& loop, const config::Roots& roots, device::ModelAccess& models)
    : loop_(loop), roots_(roots), models_(models) {}

Lanes::~Lanes() = default;

Result<std::string> Lanes::Name(Attach& attach) const {
  if (attach.session_id) {
    ASSIGN_OR_RETURN(attach.session_id, store::SessionStore(roots_).Resolve(*attach.session_id));
    if (!attach.fork) return *attach.session_id;
  }
  if (attach.new_session_id)
    RETURN_IF_ERROR(store::SessionStore(roots_).CheckFree(*attach.new_session_id));
  else
    attach.new_session_id = protocol::NewSessionId(ProcessRandom());
  return *attach.new_session_id;
}

Lanes::SessionPtr Lanes::Get(const std::string& id) {
  SessionPtr& session = sessions_[id];
  if (!session) {
    Attach attach;
    attach.session_id = id;
    session = std::make_shared<Session>(id, std::move(attach));
  }
  return session;
}

Lanes::Session* Lanes::Known(const std::string& id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

Async<Result<Lane*>> Lanes::Open(std::string id, Attach attach,
                                 std::optional<Environment> environment, Asking asking) {
  CO_RETURN_IF_ERROR(co_await EndDamaged(id));
  SessionPtr session = co_await AwaitClosed(id);
  if (session->lane && MakesSession(attach))
    co_return Fail(Code::kConflict, fmt::format("there is a session {} already", id));
  if (asking.others_hold) {
    if (!session->lane) CO_RETURN_IF_ERROR(OpenNow(*session, Opening::kWoken));
    CO_RETURN_IF_ERROR(TakeAsItIs(*session, attach));
  } else if (!asking.may_loosen) {
    attach.disallowed = BothDisallowed(session->attach.disallowed, attach.disallowed);
  }
  if (environment) SetEnvironment(id, *std::move(environment));
  if (session->lane && Serves(*session, attach)) {
    CO_RETURN_IF_ERROR(Join(*session, attach));
  } else {
    const Result<Lane*> opened = co_await OpenAnew(session, std::move(attach), asking.may_loosen);
    if (!opened) co_return std::unexpected(opened.error());
  }
  if (!asking.others_hold) session->opened_by = std::move(asking.client_id);
  co_return session->lane.get();
}

/// As `attach` says, whatever it was opened as before.
Async<Result<Lane*>> Lanes::OpenAnew(SessionPtr session, Attach attach, bool may_loosen) {
  if (session->lane) {
    CO_RETURN_IF_ERROR(co_await CloseResting(session->id));
    const SessionPtr closed = co_await AwaitClosed(session->id);
  }
  if (attach.cwd.empty()) attach.cwd = session->attach.cwd;
  Attach before = std::exchange(session->attach, std::move(attach));
  const Status opened =
      OpenNow(*session, may_loosen ? Opening::kAsked : Opening::kAskedWithoutLoosening);
  if (opened) co_return session->lane.get();
  session->attach = std::move(before);  // What was refused does not count when it is woken.
  co_return std::unexpected(opened.error());
}

/// Makes `attach` what other clients have opened, with what it forbids besides.
Status Lanes::TakeAsItIs(const Session& session, Attach& attach) {
  const protocol::LiveState state = session.lane->State();
  RETURN_IF_ERROR(MayJoin(attach, session.attach, state));
  Attach joined = session.attach;
  joined.answers = joined.answers || attach.answers;
  joined.disallowed = BothDisallowed(session.attach.disallowed, attach.disallowed);
  joined.mode = state.mode;
  attach = std::move(joined);
  return {};
}

/// Whether its lane is as `attach` wants it, but for what can change at once.
bool Lanes::Serves(const Session& session, const Attach& attach) {
  if (!SameOptions(attach, session.attach)) return false;
  if (!session.released) return true;
  // What the clients had that have left: their answers, and a mode that ends with them.
  return session.attach.answers == attach.answers &&
         (attach.mode == kBypass || session.lane->State().mode != kBypass);
}

/// So that it can be opened in another way.
Async<Status> Lanes::CloseResting(std::string id) {
  const Lane* lane = Find(id);
  if (lane != nullptr && !lane->resting())
    co_return Fail(Code::kBusy,
                   "work is under way in the session, with other options: it cannot be opened in "
                   "another way until that is done (`stet tasks` shows what runs)");
  co_return co_await Close(std::move(id), true);
}

void Lanes::Release(const std::string& id, const std::string& unless_opened_by) {
  Session* const session = Known(id);
  if (session == nullptr) return;
  if (unless_opened_by.empty() || session->opened_by != unless_opened_by) session->released = true;
}

Async<Status> Lanes::EndLeftOptions(std::string id) {
  const SessionPtr session = co_await AwaitClosed(id);
  if (!session->released || !session->lane) co_return Status();
  if (Serves(*session, WithoutOptions(session->attach))) co_return Status();
  co_return co_await CloseResting(std::move(id));
}

/// Applies to the lane, which is awake, what can change at once.
Status Lanes::Join(Session& session, const Attach& attach) const {
  Lane& lane = *session.lane;
  session.released = false;
  if (attach.answers) {
    session.attach.answers = true;
    lane.ExpectAnswers();
  }
  const protocol::LiveState state = lane.State();
  protocol::Change change;
  if (!attach.model.empty() && attach.model != state.model) change.model = attach.model;
  if (attach.effort && *attach.effort != state.effort) change.effort = attach.effort;
  if (!attach.mode.empty() && attach.mode != state.mode) change.mode = attach.mode;
  if (!change.model && !change.effort && !change.mode) return {};
  return lane.Change(change);
}

/// A lane whose log met damage that its index hid makes room for one that scans.
Async<Status> Lanes::EndDamaged(std::string id) {
  Lane* const lane = Find(id);
  if (lane == nullptr || !lane->resting() || !lane->log().met_damage()) co_return Status();
  co_return co_await Close(std::move(id), true);
}

Async<Result<Lane*>> Lanes::Wake(std::string id) {
  CO_RETURN_IF_ERROR(co_await EndDamaged(id));
  const SessionPtr session = co_await AwaitClosed(id);
  if (!session->lane) CO_RETURN_IF_ERROR(OpenNow(*session, Opening::kWoken));
  co_return session->lane.get();
}

Async<Result<Lane*>> Lanes::OpenChild(ChildOpening child) {
  const Result<Lane*> parent = co_await Wake(child.parent_id);
  if (!parent) co_return std::unexpected(parent.error());
  const SessionPtr from = Get(child.parent_id);
  const protocol::LiveState state = (*parent)->State();
  Attach attach = AttachOfChild(from->attach, state, child);
  const SessionPtr session = co_await AwaitClosed(child.child_id);
  if (session->lane && !child.header) co_return session->lane.get();
  session->environment = from->environment;
  session->brought = from->brought;
  session->header = std::move(child.header);
  if (session->header) {
    session->header->parent_session_id = child.parent_id;
    session->header->meta.model = state.model;
  }
  const Result<Lane*> lane =
      co_await Open(child.child_id, std::move(attach), std::optional<Environment>());
  session->header.reset();
  if (!lane) Forget(child.child_id);
  co_return lane;
}

/// Where the client named no folder, the session's own is used.
Status Lanes::OpenNow(Session& session, Opening how) const {
  const store::SessionStore store(roots_);
  const bool woken = how == Opening::kWoken;
  if (woken && session.released) session.attach = WithoutOptions(session.attach);
  if (woken && session.slept_in_bypass && !session.released) session.attach.mode = kBypass;
  session.slept_in_bypass = false;
  session.released = woken && session.released;
  if (session.attach.cwd.empty()) {
    // Of a copy: the session that is copied.
    ASSIGN_OR_RETURN(const protocol::SessionSummary summary,
                     store.Describe(session.attach.session_id.value_or(session.id)));
    session.attach.cwd = summary.cwd;
  }
  const auto began = SystemClock().Steady();
  bool told = false;
  session.presence = Presence::kOpening;
  Result<std::unique_ptr<Lane>> lane =
      OpenLane({.roots = roots_,
                .loop = loop_,
                .models = models_,
                .attach = session.attach,
                .environment = session.environment,
                .woken = woken,
                .keeps_denials = how != Opening::kAsked,
                .child = session.header ? &*session.header : nullptr},
               [&](log::Log& log) {
                 told = session.listener != nullptr;
                 if (told) session.listener->Opened(log);
               });
  if (!lane) {
    session.presence = Presence::kAsleep;
    if (told) session.listener->Closed();
    if (const Result<std::string> dir = store.Find(session.id))
      STET_LOG_IN(log::Paths(*dir).diagnostics(), kWarn, "not opened woken={} error=\"{}\"", woken,
                  lane.error().Text());
    Error error = std::move(lane).error();
    return std::unexpected(session.brought ? std::move(error) : WithAdvice(std::move(error)));
  }
  session.lane = *std::move(lane);
  session.presence = Presence::kAwake;
  session.lane->UseServices(session.services);
  session.attach = InForce(std::move(session.attach), session.id);
  session.attach.disallowed =
      session.lane->log().index().state().info.disallowed.value_or(std::string());
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began);
  const protocol::LiveState state = session.lane->State();
  STET_LOG_IN(session.lane->log().paths().diagnostics(), kInfo,
              "opened epoch={} woken={} model={} mode={} ms={}", session.lane->log().epoch(), woken,
              state.model, state.mode, took.count());
  return {};
}

Async<Status> Lanes::Close(std::string id, bool sleeps) {
  const SessionPtr session = co_await AwaitClosed(id);
  if (!session->lane) co_return Status();
  session->presence = Presence::kClosing;
  session->slept_in_bypass = sleeps && session->lane->State().mode == kBypass;
  const std::string diagnostics = session->lane->log().paths().diagnostics();
  const Status closed = co_await session->lane->Close(sleeps);
  STET_LOG_IN(diagnostics, kInfo, "closed sleeps={} error=\"{}\"", sleeps,
              closed ? "" : closed.error().Text());
  if (session->listener != nullptr) session->listener->Closed();
  session->lane.reset();
  session->presence = Presence::kAsleep;
  for (const Pending<bool>& waiting : std::exchange(session->awaiting_close, {})) waiting.Set(true);
  co_return closed;
}

Async<Lanes::SessionPtr> Lanes::AwaitClosed(std::string id) {
  while (true) {
    SessionPtr session = Get(id);
    if (session->presence != Presence::kClosing) co_return session;
    const Pending<bool> done(loop_);
    session->awaiting_close.push_back(done);
    co_await done;
  }
}

Async<void> Lanes::CloseAll() {
  std::vector<std::string> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  for (const std::string& id : ids) {
    const Status closed = co_await Close(id, false);
    if (!closed) STET_LOG(kWarn, "session {}: {}", id, closed.error().Text());
  }
}

Presence Lanes::presence(const std::string& id) const {
  const Session* session = Known(id);
  return session == nullptr ? Presence::kAsleep : session->presence;
}

Lane* Lanes::Find(const std::string& id) const {
  const Session* session = Known(id);
  return session == nullptr ? nullptr : session->lane.get();
}

bool Lanes::working(const std::string& id) const {
  const Lane* lane = Find(id);
  return lane != nullptr && !lane->resting();
}

std::size_t Lanes::awake_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [](const auto& entry) { return entry.second->lane != nullptr; }));
}

std::size_t Lanes::working_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sessions_, [&](const auto& entry) { return working(entry.first); }));
}

void Lanes::SetEnvironment(const std::string& id, Environment environment) {
  const SessionPtr session = Get(id);
  *session->environment = std::move(environment);
  session->brought = true;
  if (session->lane) session->lane->FindSecrets();
}

void Lanes::UseServices(const std::string& id, std::shared_ptr<client::Services> services) {
  const SessionPtr session = Get(id);
  session->services = std::move(services);
  if (session->lane) session->lane->UseServices(session->services);
}

void Lanes::DropServices(const std::string& id, const client::Services& services) {
  const Session* session = Known(id);
  if (session != nullptr && session->services.get() == &services) UseServices(id, nullptr);
}

void Lanes::Listen(const std::string& id, LaneListener& listener) {
  const SessionPtr session = Get(id);
  session->listener = &listener;
  if (session->lane) listener.Opened(session->lane->log());
}

void Lanes::Unlisten(const std::string& id, const LaneListener& listener) {
  Session* session = Known(id);
  if (session != nullptr && session->listener == &listener) session->listener = nullptr;
}

void Lanes::Forget(const std::string& id) {
  const Session* session = Known(id);
  if (session == nullptr || session->presence != Presence::kAsleep) return;
  if (session->listener == nullptr) sessions_.erase(id);
}

}  // namespace stet::lane
