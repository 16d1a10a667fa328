#include "host/hosted.h"

#include <algorithm>

#include "agent/opening.h"
#include "base/diagnostics.h"
#include "base/fs.h"
#include "host/attach.h"
#include "host/session_store.h"
#include "host/turns.h"
#include "log/paths.h"
#include "protocol/ids.h"

namespace stet::host {
namespace {

using protocol::Attach;

/// Writes that come within this time are looked at together.
constexpr std::chrono::milliseconds kGatherWrites{50};
/// What is told at once of the end of a path.
constexpr std::size_t kMostRecent = 1000;
constexpr std::size_t kRecentBytes = std::size_t{4} << 20;

/// Whether `attach` asks for something that only opening a lane can give: not one that is awake.
bool NeedsOpening(const Attach& attach) {
  return attach.at || !attach.fallback_model.empty() || !attach.allowed.empty() ||
         !attach.disallowed.empty() || attach.tools || !attach.add_dirs.empty() ||
         !attach.append_system_prompt.empty() || attach.system_prompt || attach.output_schema ||
         attach.max_steps != 0 || attach.max_price != 0 || attach.max_tokens != 0 ||
         attach.max_ms != 0;
}

/// What to wake the session with later: `attach` without what counts only once.
Attach Kept(Attach attach, const std::string& session_id) {
  attach.session_id = session_id;
  attach.new_session_id.reset();
  attach.fork = false;
  attach.at.reset();
  attach.append_system_prompt.clear();
  return attach;
}

}  // namespace

Hosted::Hosted(HostShared& shared, std::string session_id, std::string dir)
    : shared_(shared),
      id_(std::move(session_id)),
      dir_(std::move(dir)),
      hub_(shared.loop, shared.kept, id_),
      environment_(std::make_shared<Environment>(Environment::OfProcess())),
      look_(shared.loop) {
  attach_.session_id = id_;
  Touch();
}

Hosted::~Hosted() = default;

Result<std::unique_ptr<Hosted>> Hosted::Make(HostShared& shared, const Attach& attach,
                                             const std::optional<Environment>& environment) {
  if (attach.new_session_id)
    RETURN_IF_ERROR(SessionStore(shared.roots).CheckFree(*attach.new_session_id));
  const std::string id = attach.new_session_id.value_or(protocol::NewSessionId(ProcessRandom()));
  auto made = std::make_unique<Hosted>(shared, id, SessionStore(shared.roots).NewDir(id));
  if (environment) made->SetEnvironment(*environment);
  made->attach_ = attach;
  made->attach_.new_session_id = id;
  RETURN_IF_ERROR(made->OpenNow(false));
  return made;
}

void Hosted::SetEnvironment(Environment environment) {
  *environment_ = std::move(environment);
  brought_ = true;
}

void Hosted::UseServices(std::shared_ptr<client::Services> services) {
  services_ = std::move(services);
  if (lane_) lane_->UseServices(services_);
}

void Hosted::DropServices(const client::Services& services) {
  if (services_.get() == &services) UseServices(nullptr);
}

void Hosted::Touch() { idle_since_ = SystemClock().Steady(); }

std::string Hosted::diagnostics() const { return log::Paths(dir_).diagnostics(); }

Async<Status> Hosted::Open(Attach attach, std::optional<Environment> environment) {
  Touch();
  co_await Closed();
  if (environment) SetEnvironment(*std::move(environment));
  if (lane_ && !NeedsOpening(attach)) co_return Join(attach);
  if (lane_) {
    if (!lane_->resting())
      co_return Fail(Code::kBusy,
                     "work is under way in the session: it cannot be opened in another "
                     "way until that is done");
    CO_RETURN_IF_ERROR(co_await Close(true));
  }
  if (attach.cwd.empty()) attach.cwd = attach_.cwd;
  attach_ = std::move(attach);
  co_return OpenNow(false);
}

/// Applies to the lane, which is awake, what can change at once.
Status Hosted::Join(const Attach& attach) {
  if (attach.answers) {
    attach_.answers = true;
    lane_->ExpectAnswers();
  }
  const protocol::LiveState state = lane_->State();
  protocol::Change change;
  if (!attach.model.empty() && attach.model != state.model) change.model = attach.model;
  if (attach.effort && *attach.effort != state.effort) change.effort = attach.effort;
  if (!attach.mode.empty() && attach.mode != state.mode) change.mode = attach.mode;
  if (!change.model && !change.effort && !change.mode) return {};
  return lane_->Change(change);
}

Async<Result<Lane*>> Hosted::Wake() {
  Touch();
  co_await Closed();
  if (!lane_) {
    const Status opened = OpenNow(true);
    if (!opened) co_return std::unexpected(opened.error());
  }
  co_return lane_.get();
}

/// Where the client named no folder, the session's own is used.
Status Hosted::OpenNow(bool woken) {
  if (attach_.cwd.empty()) {
    ASSIGN_OR_RETURN(const protocol::SessionSummary summary,
                     SessionStore(shared_.roots).Describe(id_));
    attach_.cwd = summary.cwd;
  }
  const auto began = SystemClock().Steady();
  Result<std::unique_ptr<Lane>> lane = OpenLane({.roots = shared_.roots,
                                                 .loop = shared_.loop,
                                                 .models = shared_.models,
                                                 .attach = attach_,
                                                 .environment = environment_,
                                                 .woken = woken},
                                                [this](log::Log& log) { Listen(log); });
  if (!lane) {
    subscription_ = log::Subscription();
    STET_LOG_IN(diagnostics(), kWarn, "not opened woken={} error=\"{}\"", woken,
                lane.error().Text());
    Error error = std::move(lane).error();
    if (error.code == Code::kAuth && !brought_)
      error.message +=
          "; the host was started without it: attach once from a terminal that has it (`stet "
          "attach`), or keep it in the vault (`stet vault set`, apiKeyVault), then send again";
    return std::unexpected(std::move(error));
  }
  lane_ = *std::move(lane);
  lane_->UseServices(services_);
  attach_ = Kept(std::move(attach_), id_);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began);
  const protocol::LiveState state = lane_->State();
  STET_LOG_IN(diagnostics(), kInfo, "opened epoch={} woken={} model={} mode={} ms={}", hub_.epoch(),
              woken, state.model, state.mode, took.count());
  return {};
}

/// From what the hub knows to what the log says now, and from there on live.
void Hosted::Listen(log::Log& log) {
  ForgetView();
  watch_.reset();
  CatchUp(log);
  subscription_ = log.Subscribe([this](const log::Published& what) {
    if (what.event != nullptr)
      hub_.AddEvent(what.event->id, what.seq, what.line);
    else
      hub_.AddTransient(*what.transient);
  });
}

void Hosted::CatchUp(log::Log& log) {
  const bool heard = begun_ && hub_.heard();
  if (!heard || log.epoch() != hub_.epoch())
    hub_.Begin(log.epoch(), heard ? hub_.persistent_seq() : log.last_seq());
  begun_ = true;
  // Ignoring the error on purpose: clients are told again from the log when it can be read.
  (void)log.Read(hub_.persistent_seq() + 1, [&](const log::Entry& entry, std::string_view line) {
    if (const Result<protocol::Event> event = protocol::DecodeEvent(line))
      hub_.AddEvent(event->id, entry.seq, line);
    return true;
  });
}

Async<Status> Hosted::Close(bool sleeps) {
  co_await Closed();
  if (!lane_) co_return Status();
  closing_ = true;
  const Status closed = co_await lane_->Close(sleeps);
  STET_LOG_IN(diagnostics(), kInfo, "closed sleeps={} error=\"{}\"", sleeps,
              closed ? "" : closed.error().Text());
  subscription_ = log::Subscription();
  lane_.reset();
  hub_.Forget();
  closing_ = false;
  if (hub_.heard()) Follow();
  for (const Pending<bool>& waiting : std::exchange(awaiting_close_, {})) waiting.Set(true);
  co_return closed;
}

Async<void> Hosted::Closed() {
  while (closing_) {
    const Pending<bool> done(shared_.loop);
    awaiting_close_.push_back(done);
    co_await done;
  }
}

Status Hosted::Look() {
  if (lane_) return {};
  RETURN_IF_ERROR(Reading());
  return {};
}

void Hosted::ForgetView() {
  view_.reset();
  viewed_bytes_ = 0;
  if (!hub_.heard()) watch_.reset();
}

/// Another process may work on it while it sleeps here.
void Hosted::Follow() {
  if (watch_) return;
  watch_ = shared_.files.Add(log::Paths(dir_).events(), [this] {
    look_.Start(kGatherWrites, [this] {
      // Ignoring the error on purpose: a session that is gone says nothing more.
      (void)Look();
    });
  });
}

Result<log::Log*> Hosted::Reading() {
  if (lane_) return &lane_->log();
  ASSIGN_OR_RETURN(const FileStat file, StatFile(log::Paths(dir_).events()));
  const std::uint64_t bytes = file.size;
  if (!view_ || bytes != viewed_bytes_) {
    ASSIGN_OR_RETURN(view_, log::Log::Open(dir_, {.mode = log::Mode::kRead}));
    viewed_bytes_ = bytes;
    CatchUp(*view_);
    Follow();
  }
  return view_.get();
}

Status Hosted::ReadAfter(std::uint64_t seq, const Visit& visit) {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  return log->Read(seq + 1, [&](const log::Entry& entry, std::string_view line) {
    return visit(entry.seq, line);
  });
}

Result<std::vector<std::string>> Hosted::Recent(std::size_t count) {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  const log::Index& index = log->index();
  for (log::Ordinal at = index.leaf();
       at != log::kNone && lines.size() < std::min(count, kMostRecent) && bytes < kRecentBytes;
       at = index.entries()[at].parent) {
    ASSIGN_OR_RETURN(std::string line, log->LineAt(at));
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  std::ranges::reverse(lines);
  return lines;
}

Result<protocol::LiveState> Hosted::StateAsleep() {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  ASSIGN_OR_RETURN(const agent::Opening opening, agent::ReadOpening(*log));
  const log::SessionState& folded = log->index().state();
  const protocol::InfoChanges& info = folded.info;
  protocol::LiveState state;
  state.session_id = id_;
  state.state = "idle";
  state.project = log->header().meta.project_id;
  state.cwd = info.cwd.value_or(log->header().meta.cwd);
  state.model = info.model.value_or(log->header().meta.model);
  state.effort = info.effort.value_or("");
  state.mode = info.mode.value_or("default");
  state.leaf_id = log->leaf_id();
  state.interrupted = opening.unanswered || opening.open_turn ||
                      (!opening.last_end.empty() && opening.last_end != agent::ended::kCompleted);
  state.follow_ups = folded.follow_ups;
  state.steers = folded.steers;
  return state;
}

Result<protocol::TurnRows> Hosted::Turns() {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  return ReadTurns(*log);
}

Result<bool> Hosted::Has(std::uint64_t seq, std::string_view event_id) {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  const Result<log::Ordinal> found = log->Find(event_id);
  return found && log->index().entries()[*found].seq == seq;
}

}  // namespace stet::host
