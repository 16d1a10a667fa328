#include "host/local_sessions.h"

#include <unordered_set>

#include <fmt/format.h>

#include "agent/compaction.h"
#include "agent/run_view.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/text_width.h"
#include "base/utf8.h"
#include "context/display.h"
#include "host/context_report.h"
#include "host/garbage.h"
#include "host/local_host.h"
#include "host/model_access.h"
#include "host/requests.h"
#include "host/session_store.h"
#include "host/task_view.h"
#include "host/transfer.h"
#include "host/verify_tree.h"
#include "log/clone.h"
#include "log/log.h"
#include "log/tree.h"
#include "log/verify.h"
#include "protocol/ids.h"
#include "protocol/methods.h"
#include "run/ledger.h"

namespace stet::host {
namespace {

using log::Log;
using log::Ordinal;

/// What these commands are named for in the log.
constexpr std::string_view kFace = "cli";

/// How much of what an event says a tree shows.
constexpr std::size_t kTreeTextBytes = 160;

/// What an event says, and in brackets what it calls.
std::string TextOf(const protocol::Event& event) {
  std::string text;
  for (const protocol::DisplayPart& part : context::ToDisplay(event).parts) {
    if (part.kind == "call")
      text += fmt::format(" [{}]", part.text);
    else if (part.kind != "thinking")
      text += part.text;
  }
  return text;
}

class LocalSessions : public client::Sessions {
 public:
  explicit LocalSessions(config::Roots roots) : store_(std::move(roots)) {}

  Result<std::vector<protocol::SessionSummary>> List(bool all) override { return store_.List(all); }
  Result<std::string> Resolve(std::string_view typed) override { return store_.Resolve(typed); }
  Result<protocol::SessionSummary> Describe(const std::string& session_id) override {
    return store_.Describe(session_id);
  }

  Status Transcript(const std::string& session_id, const std::optional<std::string>& at,
                    const std::function<bool(const protocol::DisplayRow&)>& sink) override {
    return Events(session_id, at,
                  [&](const protocol::Event& event) { return sink(context::ToDisplay(event)); });
  }

  Status Events(const std::string& session_id, const std::optional<std::string>& at,
                const std::function<bool(const protocol::Event&)>& sink) override {
    return Reading(session_id, [&](Log& log) -> Status {
      Ordinal leaf = log.index().leaf();
      if (at) {
        ASSIGN_OR_RETURN(leaf, log.Find(*at));
      }
      for (const Ordinal event : PathTo(log.index(), leaf)) {
        ASSIGN_OR_RETURN(const protocol::Event decoded, log.EventAt(event));
        if (!sink(decoded)) break;
      }
      return {};
    });
  }

  Status RawEvents(const std::string& session_id, const std::optional<std::string>& at,
                   const std::function<bool(const protocol::Event&)>& sink) override {
    return Reading(session_id, [&](Log& log) -> Status {
      Ordinal leaf = log.index().leaf();
      if (at) {
        ASSIGN_OR_RETURN(leaf, log.Find(*at));
      }
      for (const Ordinal event : AllOn(log.index(), leaf)) {
        ASSIGN_OR_RETURN(const protocol::Event decoded, log.EventAt(event));
        if (!sink(decoded)) break;
      }
      return {};
    });
  }

  Result<std::string> Blob(const std::string& session_id, const std::string& name) override {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return log::Blobs(log::Paths{dir}.blobs()).Get(name);
  }

  Result<protocol::SessionTree> Tree(const std::string& session_id) override {
    protocol::SessionTree tree;
    tree.session_id = session_id;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) { return FillTree(log, tree); }));
    return tree;
  }

  Result<protocol::CostReport> Cost(const std::string& session_id) override {
    run::Ledger ledger;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      const std::vector<log::Entry>& entries = log.index().entries();
      for (Ordinal event = 0; event < entries.size(); ++event) {
        if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
        ASSIGN_OR_RETURN(const protocol::Event call, log.EventAt(event));
        ledger.Take(call);
      }
      return {};
    }));
    return ledger.Report(session_id);
  }

  Result<protocol::ReplayReport> Replay(const std::string& session_id) override {
    ASSIGN_OR_RETURN(const config::Settings settings,
                     config::ReadSettings(store_.roots().settings()));
    protocol::ReplayReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      ASSIGN_OR_RETURN(report, ReplayRequests(log, settings));
      return {};
    }));
    return report;
  }

  Result<protocol::ContextReport> Context(const std::string& session_id,
                                          const protocol::ContextWanted& wanted) override {
    ASSIGN_OR_RETURN(const config::Settings settings,
                     config::ReadSettings(store_.roots().settings()));
    protocol::ContextReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      ASSIGN_OR_RETURN(report, DescribeContext(log, settings, KeyLookup(store_.roots()), wanted));
      return {};
    }));
    return report;
  }

  Result<protocol::RunReport> Run(const std::string& session_id) override {
    agent::RunView view;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) { return view.Update(log); }));
    return view.state().Report();
  }

  Result<protocol::CapsuleReport> Capsule(const std::string& session_id) override {
    protocol::CapsuleReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) { return FillCapsule(log, report); }));
    return report;
  }

  Result<client::Moved> Rewind(const std::string& session_id,
                               const std::optional<std::string>& target,
                               const std::optional<std::string>& expected_leaf) override {
    if (const auto host = Hold(store_.roots(), kFace))
      return host->Call<protocol::method::SessionRewind>(MoveOf(session_id, target, expected_leaf));
    return Move(session_id, expected_leaf,
                [&](Log& log, const auto& leaf) { return log.Rewind(target, leaf); });
  }

  Result<client::Moved> Branch(const std::string& session_id, const std::string& leaf,
                               const std::optional<std::string>& expected_leaf) override {
    if (const auto host = Hold(store_.roots(), kFace))
      return host->Call<protocol::method::SessionBranch>(MoveOf(session_id, leaf, expected_leaf));
    return Move(session_id, expected_leaf,
                [&](Log& log, const auto& expected) { return log.Branch(leaf, expected); });
  }

  Result<std::string> Clone(const std::string& session_id,
                            const std::optional<std::string>& at) override {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    std::string new_id = protocol::NewSessionId(ProcessRandom());
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) {
      return log::Clone(log, at, {store_.NewDir(new_id), new_id, options.device_id}, options);
    }));
    return new_id;
  }

  Result<protocol::VerifyReport> Verify(const std::string& session_id) override {
    return VerifyTree(store_, session_id);
  }

  Status Repair(const std::string& session_id) override {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return log::Repair(dir, options);
  }

  Status Export(const std::string& session_id, client::ExportFormat format, const std::string& path,
                int fd, bool reveal) override {
    return host::Export(store_, session_id, format, path, fd, reveal);
  }
  Result<client::Imported> Import(const std::string& path, bool new_id) override {
    return host::Import(store_, path, new_id);
  }

  Result<protocol::TaskRows> Tasks(const std::string& session_id) override {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    const auto host = Hold(store_.roots(), kFace);
    if (!host) return TasksIn(dir);
    protocol::SessionRef ref;
    ref.session_id = session_id;
    ASSIGN_OR_RETURN(protocol::TaskList list, host->Call<protocol::method::SessionTasks>(ref));
    return std::move(list.tasks);
  }
  Status StopTask(const std::string& session_id, const std::string& task_id) override {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    const auto host = Hold(store_.roots(), kFace);
    if (!host) return std::unexpected(WhyNotStopped(dir, task_id));
    RETURN_IF_ERROR(host->Call<protocol::method::SessionTaskStop>(TaskOf(session_id, task_id)));
    return {};
  }
  Result<protocol::TaskOutput> TaskOutput(const std::string& session_id, const std::string& task_id,
                                          const protocol::TaskRange& range) override {
    protocol::TaskOutputParams params;
    params.session_id = session_id;
    params.task_id = task_id;
    params.offset = range.offset;
    params.limit = range.limit;
    const auto host = Hold(store_.roots(), kFace);
    if (!host) return TaskOutputIn(store_.roots(), params);
    return host->Call<protocol::method::SessionTaskOutput>(params);
  }

  Status Remove(const std::string& session_id) override {
    if (const auto host = Hold(store_.roots(), kFace)) {
      protocol::SessionRef ref;
      ref.session_id = session_id;
      RETURN_IF_ERROR(host->Call<protocol::method::SessionDelete>(ref));
      return {};
    }
    return store_.Remove(session_id);
  }
  Result<std::vector<protocol::TrashRow>> Trash() override { return store_.Trash(); }
  Result<std::string> Restore(std::string_view typed) override { return store_.Restore(typed); }

  Result<protocol::DiskUseReport> DiskUse() override { return store_.DiskUse(); }
  Result<std::vector<protocol::GarbageItem>> FindGarbage(bool with_trash) override {
    return host::FindGarbage(store_, with_trash);
  }
  Result<std::uint64_t> Collect(const std::vector<protocol::GarbageItem>& items) override {
    return host::Collect(store_, items);
  }

 private:
  static protocol::TaskRef TaskOf(const std::string& session_id, const std::string& task_id) {
    protocol::TaskRef task;
    task.session_id = session_id;
    task.task_id = task_id;
    return task;
  }

  Result<log::Options> Writing() {
    ASSIGN_OR_RETURN(std::string device, config::DeviceId(store_.roots()));
    return log::Options{
        .mode = log::Mode::kWrite, .device_id = std::move(device), .client_id = std::string(kFace)};
  }

  /// Opens the session for reading. An index that hides damage is found out when a damaged event is
  /// read: then once more without it.
  Status Reading(const std::string& session_id, const std::function<Status(Log&)>& work) {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    for (const bool use_index : {true, false}) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Log> log, Log::Open(dir, {.use_index = use_index}));
      Status done = work(*log);
      if (done || done.error().code != Code::kCorrupt || !use_index) return done;
    }
    return {};
  }

  /// For the host that runs.
  static protocol::MoveLeaf MoveOf(const std::string& session_id,
                                   const std::optional<std::string>& target,
                                   const std::optional<std::string>& expected_leaf) {
    protocol::MoveLeaf move;
    move.session_id = session_id;
    move.target = target;
    move.expected_leaf = expected_leaf;
    return move;
  }

  Result<client::Moved> Move(
      const std::string& session_id, const std::optional<std::string>& expected_leaf,
      const std::function<Result<log::Appended>(Log&, const std::optional<std::string>&)>& move) {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    ASSIGN_OR_RETURN(const std::unique_ptr<Log> log, Log::Open(dir, options));
    client::Moved moved;
    moved.old_leaf = log->leaf_id();
    RETURN_IF_ERROR(move(*log, expected_leaf ? expected_leaf : log->leaf_id()));
    moved.new_leaf = log->leaf_id();
    RETURN_IF_ERROR(log->Close());
    return moved;
  }

  static Status FillCapsule(Log& log, protocol::CapsuleReport& report) {
    agent::RunView view;
    RETURN_IF_ERROR(view.Update(log));
    std::string turn_id;
    if (log.leaf_id()) {
      ASSIGN_OR_RETURN(const protocol::Event leaf, log.EventAt(log.index().leaf()));
      turn_id = leaf.stamp.turn_id.value_or("");
    }
    const run::Capsule capsule = agent::CapsuleNow(log, view.state(), std::move(turn_id));
    report.capsule = Raw{Encode(capsule)};
    report.text = run::RenderCapsule(capsule) + run::RenderPins(capsule.pins);
    return {};
  }

  static Status FillTree(Log& log, protocol::SessionTree& tree) {
    tree.nodes.clear();
    tree.leaf_id = log.leaf_id();
    const log::Index& index = log.index();
    const std::vector<Ordinal> path = PathTo(index, index.leaf());
    const std::unordered_set<Ordinal> on_path(path.begin(), path.end());
    std::vector<std::string> ids(index.entries().size());
    return log.Read(0, [&](const log::Entry& entry, std::string_view line) {
      const auto ordinal = static_cast<Ordinal>(&entry - index.entries().data());
      const Result<protocol::Event> event = protocol::DecodeEvent(line);
      if (!event) return true;
      ids[ordinal] = event->id;
      if (!entry.in_tree()) return true;
      protocol::TreeNode node;
      node.id = event->id;
      if (entry.parent != log::kNone) node.parent_id = ids[entry.parent];
      node.seq = event->seq;
      node.ts = event->stamp.ts;
      node.type = TypeName(event->payload);
      node.role = RoleName(event->payload);
      const std::string text = TextOf(*event);
      node.text =
          OneLineText(std::string_view(text).substr(0, Utf8PrefixLength(text, kTreeTextBytes)));
      node.on_path = on_path.contains(ordinal);
      node.rest_point = IsRestPoint(index, ordinal);
      tree.nodes.push_back(std::move(node));
      return true;
    });
  }

  SessionStore store_;
};

}  // namespace

protocol::FaultReports ReportsOf(const std::vector<log::Fault>& faults) {
  protocol::FaultReports reports;
  for (const log::Fault& fault : faults) {
    protocol::FaultReport report;
    report.name = log::FaultName(fault.kind);
    report.title = log::FaultTitle(fault.kind);
    report.line = fault.line;
    report.offset = fault.offset;
    report.length = fault.length;
    report.id = fault.id;
    report.detail = fault.detail;
    report.recorded = fault.recorded;
    reports.push_back(std::move(report));
  }
  return reports;
}

std::unique_ptr<client::Sessions> MakeLocalSessions(config::Roots roots) {
  return std::make_unique<LocalSessions>(std::move(roots));
}

}  // namespace stet::host
