#include "host/host.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/random.h"
#include "base/version.h"
#include "host/admission.h"
#include "host/http_api.h"
#include "log/paths.h"
#include "protocol/ids.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

constexpr std::chrono::seconds kSweep{30};
constexpr std::chrono::milliseconds kLastWords{20};
/// How long one that was started for a client waits for it.
constexpr std::chrono::seconds kLonely{10};

/// "127.0.0.1:7777" -> "127.0.0.1"; "[::1]:80" -> "[::1]".
std::string_view NameIn(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return host;
  return host.substr(0, colon);
}

bool IsLoopback(std::string_view name) {
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

}  // namespace

Host::Host(Loop& loop, HostOptions options)
    : options_(std::move(options)),
      models_(loop),
      lanes_(loop, options_.roots, models_),
      files_(loop),
      shared_{
          .loop = loop, .roots = options_.roots, .lanes = lanes_, .kept = kept_, .files = files_},
      host_id_("h_" + RandomName(ProcessRandom(), 16)),
      started_(SystemClock().Steady()),
      sweep_(loop),
      lonely_(loop) {}

Host::~Host() {
  // In this order: connections and streams refer to sessions, the server's callbacks to the host.
  connections_.clear();
  streams_.clear();
  server_.reset();
}

Result<std::unique_ptr<Host>> Host::Start(Loop& loop, HostOptions options) {
  std::unique_ptr<Host> host(new Host(loop, std::move(options)));
  ASSIGN_OR_RETURN(host->device_id_, config::DeviceId(host->options_.roots));
  RETURN_IF_ERROR(host->Listen());
  // The client that started it may be gone before it listens: then it leaves as well.
  host->lonely_.Start(kLonely, [self = host.get()] {
    self->had_clients_ = true;
    self->LeaveIfAlone();
  });
  return host;
}

Status Host::Listen() {
  rpc::ServerEvents events{
      .admit = [this](const rpc::HttpRequest& request) { return Admit(request); },
      .channel = [this](std::unique_ptr<rpc::Channel> channel,
                        const rpc::Peer& peer) { Accept(std::move(channel), peer); },
      .request =
          [this](rpc::HttpRequest request, std::unique_ptr<rpc::HttpReply> reply) {
            AnswerHttp(*this, std::move(request), std::move(reply));
          }};
  ASSIGN_OR_RETURN(server_, rpc::Server::Listen(loop(), options_.listen, std::move(events)));
  return {};
}

/// A request over the network must mean this host: one from a page of another site (Origin), or by
/// a foreign DNS name that leads here (Host), is refused.
Status Host::Admit(const rpc::HttpRequest& request) const {
  if (request.peer.local) return {};
  const std::string_view name = NameIn(request.Header("host"));
  const bool bound = name == NameIn(server_ ? server_->address() : "");
  const auto is = [](const std::vector<std::string>& list, std::string_view one) {
    return std::ranges::find(list, one) != list.end();
  };
  if (!IsLoopback(name) && !bound && !is(options_.names, name))
    return Fail(Code::kDenied, "this host is not asked by that name");
  // Before its body is read, which may be large.
  const std::string_view length = request.Header("content-length");
  const bool has_body =
      (!length.empty() && length != "0") || !request.Header("transfer-encoding").empty();
  if (has_body) {
    if (const Result<Caller> caller = Authenticate(*this, request.peer, TokenIn(request)); !caller)
      return std::unexpected(caller.error());
  }
  const std::string_view origin = request.Header("origin");
  if (origin.empty() || is(options_.origins, origin)) return {};
  const std::string own =
      fmt::format("{}://{}", request.peer.encrypted ? "https" : "http", request.Header("host"));
  if (origin == own) return {};
  return Fail(Code::kDenied, "pages of that origin may not ask this host");
}

void Host::Accept(std::unique_ptr<rpc::Channel> channel, const rpc::Peer& peer) {
  ++metrics_.connections;
  auto connection = std::make_shared<Connection>(*this, std::move(channel), peer);
  connections_.push_back(connection);
  had_clients_ = true;
  connection->Start();
}

void Host::Drop(Connection& connection) {
  const auto found =
      std::ranges::find_if(connections_, [&](const auto& one) { return one.get() == &connection; });
  if (found == connections_.end()) return;
  FreeLater(*found);
  connections_.erase(found);
  LeaveIfAlone();
}

void Host::KeepStream(std::uint64_t number, std::shared_ptr<Outlet> stream) {
  streams_.emplace(number, std::move(stream));
}

void Host::DropStream(std::uint64_t number) {
  const auto found = streams_.find(number);
  if (found == streams_.end()) return;
  FreeLater(std::move(found->second));
  streams_.erase(found);
}

/// Destroys `gone` from the loop, not inside a call of its own; at the latest with the host, which
/// it refers to.
void Host::FreeLater(std::shared_ptr<void> gone) {
  buried_.push_back(std::move(gone));
  loop().Post([this] { (void)std::exchange(buried_, {}); });
}

/// A host that a client started ends with its last client, unless a session still works.
void Host::LeaveIfAlone() {
  if (options_.launched != "client" || !connections_.empty() || !had_clients_ || stopping_) return;
  if (lanes_.working_count() == 0) return options_.stop();
  sweeping_ = true;
  sweep_.Start(std::chrono::seconds(1), [this] { Sweep(); });
}

Result<std::shared_ptr<Hosted>> Host::Find(const std::string& session_id) {
  if (!protocol::IsSessionId(session_id)) return Fail(Code::kInvalid, "that cannot name a session");
  ArmSweep();
  if (const auto known = sessions_.find(session_id); known != sessions_.end()) {
    known->second->Touch();
    return known->second;
  }
  ASSIGN_OR_RETURN(std::string dir, store::SessionStore(options_.roots).Find(session_id));
  auto session = std::make_shared<Hosted>(shared_, session_id, std::move(dir));
  sessions_.emplace(session_id, session);
  return session;
}

std::optional<std::int64_t> Host::HeldBy(const std::string& session_id) const {
  if (!protocol::IsSessionId(session_id) || lanes_.Find(session_id) != nullptr) return std::nullopt;
  const Result<std::string> dir = store::SessionStore(options_.roots).Find(session_id);
  if (!dir) return std::nullopt;
  const std::optional<LockHolder> holder = FileLock::Holder(log::Paths{*dir}.lock());
  if (!holder || holder->pid <= 0) return std::nullopt;
  return holder->pid;
}

Async<Result<std::shared_ptr<Hosted>>> Host::Open(protocol::Attach attach,
                                                  std::optional<Environment> environment,
                                                  Caller asking) {
  CO_ASSIGN_OR_RETURN(const std::string id, lanes_.Name(attach));
  ArmSweep();
  const bool makes = !attach.session_id || attach.fork;
  if (makes && sessions_.contains(id))
    co_return Fail(Code::kConflict, fmt::format("there is a session {} already", id));
  CO_ASSIGN_OR_RETURN(
      std::shared_ptr<Hosted> session,
      makes ? std::make_shared<Hosted>(shared_, id, store::SessionStore(options_.roots).NewDir(id))
            : Find(id));
  const bool others_hold = IsHeld(id, asking.client_id);
  // Over HTTP no client holds what it has opened.
  if (!others_hold) lanes_.Release(id, asking.client_id);
  lane::Asking wanted{.client_id = asking.client_id,
                      .others_hold = others_hold,
                      .may_loosen = asking.May(protocol::right::kApprove)};
  const Result<lane::Lane*> lane =
      co_await session->Open(std::move(attach), std::move(environment), std::move(wanted));
  if (!lane) co_return std::unexpected(lane.error());
  sessions_[id] = session;
  co_return session;
}

Async<Status> Host::EndLeftOptions(std::string session_id, std::string client_id) {
  if (!IsHeld(session_id, "")) lanes_.Release(session_id, client_id);
  return lanes_.EndLeftOptions(std::move(session_id));
}

bool Host::IsHeld(const std::string& session_id, const std::string& except) const {
  return std::ranges::any_of(connections_, [&](const std::shared_ptr<Connection>& connection) {
    return connection->Holds(session_id) && connection->client_id() != except;
  });
}

void Host::LetGo(const std::string& session_id) {
  if (!IsHeld(session_id, "")) lanes_.Release(session_id);
}

std::optional<std::string> Host::HeardBy(const std::string& session_id,
                                         const std::string& asking) const {
  const auto session = sessions_.find(session_id);
  if (session == sessions_.end() || !session->second->hub().heard()) return std::nullopt;
  bool by_asking = false;
  for (const std::shared_ptr<Connection>& connection : connections_) {
    const std::optional<std::string> client = connection->HearerOf(session_id);
    if (client && *client != asking) return client;
    by_asking = by_asking || client;
  }
  return by_asking ? std::nullopt : std::optional<std::string>("a client over HTTP");
}

Async<Status> Host::Release(std::string session_id) {
  CO_ASSIGN_OR_RETURN(const std::shared_ptr<Hosted> session, Find(session_id));
  if (session->working())
    co_return Fail(Code::kBusy, "work is under way in the session: cancel it first");
  CO_RETURN_IF_ERROR(co_await session->Close(false));
  for (const std::shared_ptr<Connection>& connection : connections_) connection->Forget(session_id);
  sessions_.erase(session_id);
  co_return Status();
}

void Host::ArmSweep() {
  if (stopping_ || std::exchange(sweeping_, true)) return;
  sweep_.Start(std::min<std::chrono::milliseconds>(kSweep, options_.sleep_after),
               [this] { Sweep(); });
}

/// Puts sessions to sleep that have rested long enough, and forgets those that no client hears.
void Host::Sweep() {
  sweeping_ = false;
  const auto now = SystemClock().Steady();
  bool awake = false;
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    const std::shared_ptr<Hosted>& session = entry->second;
    if (session->working()) session->Touch();
    const bool idle = now - session->idle_since() >= options_.sleep_after;
    if (idle && session->awake()) {
      auto sleep = [](std::shared_ptr<Hosted> sleeper) -> Async<void> {
        const Status closed = co_await sleeper->Close(true);
        if (!closed) STET_LOG(kWarn, "session {}: {}", sleeper->id(), closed.error().Text());
      };
      loop().Spawn(sleep(session));
    }
    awake = awake || session->awake();
    if (idle && !session->awake()) session->ForgetView();
    const bool forgotten = idle && !session->awake() && !session->hub().heard();
    entry = forgotten ? sessions_.erase(entry) : std::next(entry);
  }
  if (awake) ArmSweep();
  LeaveIfAlone();
}

Async<void> Host::Shutdown() {
  stopping_ = true;
  sweep_.Cancel();
  for (const std::shared_ptr<Connection>& connection : connections_)
    connection->SendAway({Code::kUnavailable, "the host stops"});
  co_await lanes_.CloseAll();
  // What was said to them last should reach them.
  const CancelToken never;
  for (int tries = 0; tries < 50 && !connections_.empty(); ++tries) {
    const Status slept = co_await Sleep(loop(), kLastWords, never);
    if (!slept) break;
  }
}

std::string Host::MetricsText() const {
  const protocol::HostStatus status = Describe();
  std::string out;
  const auto add = [&](std::string_view name, std::string_view type, auto value) {
    out += fmt::format("# TYPE stet_{0} {1}\nstet_{0} {2}\n", name, type, value);
  };
  add("sessions_awake", "gauge", status.sessions);
  add("sessions_working", "gauge", status.working);
  add("clients", "gauge", status.clients);
  add("memory_bytes", "gauge", status.memory_bytes);
  add("kept_bytes", "gauge", kept_.bytes());
  add("uptime_seconds", "gauge", status.uptime_ms / 1000);
  add("connections_total", "counter", metrics_.connections);
  add("refused_total", "counter", metrics_.refused);
  add("requests_total", "counter", metrics_.requests);
  add("failed_requests_total", "counter", metrics_.failed_requests);
  add("frames_in_total", "counter", metrics_.frames_in);
  add("frames_out_total", "counter", metrics_.frames_out);
  add("bytes_out_total", "counter", metrics_.bytes_out);
  add("clients_sent_away_total", "counter", metrics_.sent_away);
  return out;
}

protocol::HostStatus Host::Describe() const {
  protocol::HostStatus status;
  status.pid = ::getpid();
  status.host_id = host_id_;
  status.device_id = device_id_;
  status.program = ProgramVersion();
  status.socket = options_.listen.unix_path;
  status.address = server_->address();
  status.launched = options_.launched;
  status.uptime_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - started_)
          .count();
  status.sessions = static_cast<std::int64_t>(lanes_.awake_count());
  status.working = static_cast<std::int64_t>(lanes_.working_count());
  status.clients = static_cast<std::int64_t>(std::ranges::count_if(
      connections_, [](const auto& connection) { return connection->greeted(); }));
  status.memory_bytes = ResidentBytes();
  return status;
}

}  // namespace stet::host
