#include "host/hosted.h"

#include <algorithm>

#include "agent/turn.h"
#include "agent/unfinished.h"
#include "base/fs.h"
#include "lane/lane.h"
#include "lane/turns.h"
#include "log/log.h"
#include "log/paths.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

/// Writes that come within this time are looked at together.
constexpr std::chrono::milliseconds kGatherWrites{50};
/// What is told at once of the end of a path.
constexpr std::size_t kMostRecent = 1000;
constexpr std::size_t kRecentBytes = std::size_t{4} << 20;

}  // namespace

Hosted::Hosted(HostShared& shared, std::string session_id, std::string dir)
    : shared_(shared),
      id_(std::move(session_id)),
      dir_(std::move(dir)),
      hub_(shared.loop, shared.kept, id_),
      look_(shared.loop) {
  Touch();
  shared_.lanes.Listen(id_, *this);
}

Hosted::~Hosted() {
  shared_.lanes.Unlisten(id_, *this);
  shared_.lanes.Forget(id_);
}

void Hosted::Touch() { idle_since_ = SystemClock().Steady(); }

std::string Hosted::diagnostics() const { return log::Paths(dir_).diagnostics(); }

Async<Result<lane::Lane*>> Hosted::Open(protocol::Attach attach,
                                        std::optional<Environment> environment,
                                        lane::Asking asking) {
  Touch();
  return shared_.lanes.Open(id_, std::move(attach), std::move(environment), std::move(asking));
}

Async<Result<lane::Lane*>> Hosted::Wake() {
  Touch();
  return shared_.lanes.Wake(id_);
}

/// From what the hub knows to what the log says now, and from there on live.
void Hosted::Opened(log::Log& log) {
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

void Hosted::Closed() {
  subscription_ = log::Subscription();
  hub_.Forget();
  if (hub_.heard()) Follow();
}

Status Hosted::Look() {
  if (awake()) return {};
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
  if (lane::Lane* own = lane()) return &own->log();
  ASSIGN_OR_RETURN(const FileStat file, StatFile(log::Paths(dir_).events()));
  const std::uint64_t bytes = file.size;
  const bool damaged = view_ && view_->met_damage();  // Its index hides that.
  if (!view_ || bytes != viewed_bytes_ || damaged) {
    ASSIGN_OR_RETURN(view_,
                     log::Log::Open(dir_, {.mode = log::Mode::kRead, .use_index = !damaged}));
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
  ASSIGN_OR_RETURN(const agent::Unfinished opening, agent::ReadUnfinished(*log));
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
  return lane::ReadTurns(*log);
}

Result<bool> Hosted::Has(std::uint64_t seq, std::string_view event_id) {
  ASSIGN_OR_RETURN(const log::Log* log, Reading());
  const Result<log::Ordinal> found = log->Find(event_id);
  return found && log->index().entries()[*found].seq == seq;
}

}  // namespace stet::host
