#include "host/local/sessions.h"

#include <unordered_set>

#include <fmt/format.h>

#include "agent/compaction.h"
#include "agent/run/view.h"
#include "base/display_width.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/utf8.h"
#include "client/await.h"
#include "client/remote/sessions.h"
#include "context/display.h"
#include "device/model_access.h"
#include "host/host_state.h"
#include "host/local/beside.h"
#include "host/local/reach.h"
#include "lane/context_report.h"
#include "lane/requests.h"
#include "lane/task_view.h"
#include "log/clone.h"
#include "log/log.h"
#include "log/tree.h"
#include "log/verify.h"
#include "protocol/ids.h"
#include "run/ledger.h"
#include "store/garbage.h"
#include "store/own_mark.h"
#include "store/session_store.h"
#include "store/transfer.h"
#include "store/verify_tree.h"

namespace stet::host {
namespace {

using client::Reply;
using log::Log;
using log::Ordinal;

/// What these commands are named for in the log.
constexpr std::string_view kFace = "cli";

/// How much of what an event says a tree shows.
constexpr std::size_t kTreeTextBytes = 160;

/// What the log has as well is read from it when the host has not answered by then.
constexpr std::chrono::seconds kBrief{1};

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

/// Sessions as their files have them; blocks on the disk.
class StoredSessions {
 public:
  explicit StoredSessions(config::Roots roots) : store_(std::move(roots)) {}

  Result<std::vector<protocol::SessionSummary>> List(bool all) { return store_.List(all); }
  Result<std::string> Resolve(const std::string& typed) { return store_.Resolve(typed); }
  Result<protocol::SessionSummary> Describe(const std::string& session_id) {
    return store_.Describe(session_id);
  }

  Status Transcript(const std::string& session_id, const std::optional<std::string>& at,
                    const std::function<bool(const protocol::DisplayRow&)>& sink) {
    return Events(session_id, at,
                  [&](const protocol::Event& event) { return sink(context::ToDisplay(event)); });
  }

  Status Events(const std::string& session_id, const std::optional<std::string>& at,
                const std::function<bool(const protocol::Event&)>& sink) {
    return Tell(session_id, at, &log::PathTo, sink);
  }

  Status RawEvents(const std::string& session_id, const std::optional<std::string>& at,
                   const std::function<bool(const protocol::Event&)>& sink) {
    return Tell(session_id, at, &log::AllOn, sink);
  }

  Result<std::string> Blob(const std::string& session_id, const std::string& name) {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return log::Blobs(log::Paths{dir}.blobs()).Get(name);
  }

  Result<protocol::SessionTree> Tree(const std::string& session_id) {
    protocol::SessionTree tree;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) {
      tree = {};
      return FillTree(log, tree);
    }));
    tree.session_id = session_id;
    return tree;
  }

  Result<protocol::CostReport> Cost(const std::string& session_id) {
    run::Ledger ledger;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      ledger = run::Ledger();
      const std::vector<log::Entry>& entries = log.index().entries();
      for (Ordinal event = 0; event < entries.size(); ++event) {
        if (entries[event].type != protocol::kTypeNumber<protocol::ModelCall>) continue;
        ASSIGN_OR_RETURN(const protocol::Event call, log.EventAt(event));
        ledger.Fold(call);
      }
      return {};
    }));
    return ledger.Report(session_id);
  }

  Result<protocol::ReplayReport> Replay(const std::string& session_id) {
    ASSIGN_OR_RETURN(const config::Settings settings,
                     config::ReadSettings(store_.roots().settings()));
    protocol::ReplayReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      ASSIGN_OR_RETURN(report, lane::ReplayRequests(log, settings));
      return {};
    }));
    return report;
  }

  Result<protocol::ContextReport> Context(const std::string& session_id,
                                          const protocol::ContextWanted& wanted) {
    ASSIGN_OR_RETURN(const config::Settings settings,
                     config::ReadSettings(store_.roots().settings()));
    protocol::ContextReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      ASSIGN_OR_RETURN(
          report, lane::DescribeContext(log, settings, device::KeyLookup(store_.roots()), wanted));
      return {};
    }));
    return report;
  }

  Result<protocol::RunReport> Run(const std::string& session_id) {
    agent::RunView view;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) {
      view = agent::RunView();
      return view.Update(log);
    }));
    return view.state().Report();
  }

  Result<protocol::CapsuleReport> Capsule(const std::string& session_id) {
    protocol::CapsuleReport report;
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) {
      report = {};
      return FillCapsule(log, report);
    }));
    return report;
  }

  Result<client::Moved> Rewind(const std::string& session_id,
                               const std::optional<std::string>& target,
                               const std::optional<std::string>& expected_leaf) {
    return Move(session_id, expected_leaf,
                [&](Log& log, const auto& leaf) { return log.Rewind(target, leaf); });
  }

  Result<client::Moved> Branch(const std::string& session_id, const std::string& leaf,
                               const std::optional<std::string>& expected_leaf) {
    return Move(session_id, expected_leaf,
                [&](Log& log, const auto& expected) { return log.Branch(leaf, expected); });
  }

  Result<std::string> Clone(const std::string& session_id, const std::optional<std::string>& at) {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    std::string new_id = protocol::NewSessionId(ProcessRandom());
    ASSIGN_OR_RETURN(const std::string key, config::DeviceKey(store_.roots()));
    RETURN_IF_ERROR(Reading(session_id, [&](Log& log) -> Status {
      const log::Paths copy{store_.NewDir(new_id)};
      RETURN_IF_ERROR(log::Clone(log, at, {copy.dir, new_id, options.device_id}, options));
      return store::MarkCopy(log.paths(), copy, key);
    }));
    return new_id;
  }

  Result<protocol::VerifyReport> Verify(const std::string& session_id) {
    return store::VerifyTree(store_, session_id);
  }

  Status Repair(const std::string& session_id) {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return log::Repair(dir, options);
  }

  Status Export(const client::ExportWanted& wanted) {
    return store::Export(store_, wanted.session_id, wanted.format, wanted.path, wanted.fd,
                         wanted.reveal);
  }
  Result<client::Imported> Import(const std::string& path, bool new_id) {
    return store::Import(store_, path, new_id);
  }

  Result<protocol::TaskRows> Tasks(const std::string& session_id) {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return lane::TasksIn(dir);
  }
  Status StopTask(const std::string& session_id, const std::string& task_id) {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return std::unexpected(lane::WhyNotStopped(dir, task_id));
  }
  Result<protocol::TaskOutput> TaskOutput(const std::string& session_id, const std::string& task_id,
                                          const protocol::TaskRange& range) {
    protocol::TaskOutputParams params;
    params.session_id = session_id;
    params.task_id = task_id;
    params.offset = range.offset;
    params.limit = range.limit;
    return lane::TaskOutputIn(store_.roots(), params);
  }

  Status Remove(const std::string& session_id) { return store_.Remove(session_id); }
  Result<std::vector<protocol::TrashRow>> Trash() { return store_.Trash(); }
  Result<std::string> Restore(const std::string& typed) { return store_.Restore(typed); }

  Result<protocol::DiskUseReport> DiskUse() { return store_.DiskUse(); }
  Result<std::vector<protocol::GarbageItem>> FindGarbage(bool with_trash) {
    return store::FindGarbage(store_, with_trash);
  }
  Result<std::uint64_t> Collect(const std::vector<protocol::GarbageItem>& items) {
    return store::Collect(store_, items);
  }

 private:
  Result<log::Options> Writing() {
    ASSIGN_OR_RETURN(std::string device, config::DeviceId(store_.roots()));
    return log::Options{
        .mode = log::Mode::kWrite, .device_id = std::move(device), .client_id = std::string(kFace)};
  }

  /// Opens the session for reading. An index that hides damage is found out when a damaged event is
  /// read: then once more without it.
  /// Tells `sink` of the events that `chosen` finds for the leaf `at`, each once: what stands
  /// before damage that the index hid is the same in a second reading.
  template <class Chosen>
  Status Tell(const std::string& session_id, const std::optional<std::string>& at, Chosen chosen,
              const std::function<bool(const protocol::Event&)>& sink) {
    std::size_t told = 0;
    return Reading(session_id, [&](Log& log) -> Status {
      Ordinal leaf = log.index().leaf();
      if (at) {
        ASSIGN_OR_RETURN(leaf, log.Find(*at));
      }
      std::size_t number = 0;
      for (const Ordinal event : chosen(log.index(), leaf)) {
        ASSIGN_OR_RETURN(const protocol::Event decoded, log.EventAt(event));
        if (number++ < told) continue;
        ++told;
        if (!sink(decoded)) break;
      }
      return {};
    });
  }

  Status Reading(const std::string& session_id, const std::function<Status(Log&)>& work) {
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    return log::ReadLog(dir, work);
  }

  Result<client::Moved> Move(
      const std::string& session_id, const std::optional<std::string>& expected_leaf,
      const std::function<Result<log::Appended>(Log&, const std::optional<std::string>&)>& move) {
    ASSIGN_OR_RETURN(const log::Options options, Writing());
    ASSIGN_OR_RETURN(const std::string dir, store_.Find(session_id));
    Result<client::Moved> moved = MoveIn(dir, options, expected_leaf, move);
    if (moved || moved.error().code != Code::kCorrupt) return moved;
    // The index hid what is damaged, and was dropped for that.
    return MoveIn(dir, options, expected_leaf, move);
  }

  static Result<client::Moved> MoveIn(
      const std::string& dir, const log::Options& options,
      const std::optional<std::string>& expected_leaf,
      const std::function<Result<log::Appended>(Log&, const std::optional<std::string>&)>& move) {
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

  store::SessionStore store_;
};

/// The same where a host runs, which holds sessions: what changes them, and what runs, is asked of
/// it. Blocks on it as well, no longer than a call's deadline.
class JoinedSessions : public StoredSessions {
 private:
  template <class Call, class... Arguments>
  static auto Ask(client::RemoteLive& host, Call call, const Arguments&... arguments) {
    return client::Await(*client::MakeRemoteSessions(host), call, arguments...);
  }

  /// What the host that runs says; what `read` finds in the log when none does, or when it is held
  /// up, which is told.
  template <class Call, class Read, class... Arguments>
  auto AskBriefly(Call call, Read read, const Arguments&... arguments) {
    const std::optional<protocol::HostState> running = RunningHost(roots_);
    if (!running) return (this->*read)(arguments...);
    const std::unique_ptr<client::RemoteLive> host = Reach(*running, kFace);
    auto said = client::Await(*client::MakeRemoteSessions(*host, kBrief), call, arguments...);
    const bool silent =
        !said && (said.error().code == Code::kTimeout || said.error().code == Code::kUnavailable);
    if (!silent) return said;
    if (tell_ && RunningHost(roots_))
      tell_(fmt::format("the host (process {}) does not answer: this is what the log has",
                        running->pid));
    return (this->*read)(arguments...);
  }

 public:
  JoinedSessions(const config::Roots& roots, Teller tell)
      : StoredSessions(roots), roots_(roots), tell_(std::move(tell)) {}

  Result<client::Moved> Rewind(const std::string& session_id,
                               const std::optional<std::string>& target,
                               const std::optional<std::string>& expected_leaf) {
    if (const auto host = Hold(roots_, kFace))
      return Ask(*host, &client::Sessions::Rewind, session_id, target, expected_leaf);
    return StoredSessions::Rewind(session_id, target, expected_leaf);
  }
  Result<client::Moved> Branch(const std::string& session_id, const std::string& leaf,
                               const std::optional<std::string>& expected_leaf) {
    if (const auto host = Hold(roots_, kFace))
      return Ask(*host, &client::Sessions::Branch, session_id, leaf, expected_leaf);
    return StoredSessions::Branch(session_id, leaf, expected_leaf);
  }
  Status Remove(const std::string& session_id) {
    if (const auto host = Hold(roots_, kFace))
      return Ask(*host, &client::Sessions::Remove, session_id);
    return StoredSessions::Remove(session_id);
  }
  Status StopTask(const std::string& session_id, const std::string& task_id) {
    if (const auto host = Hold(roots_, kFace))
      return Ask(*host, &client::Sessions::StopTask, session_id, task_id);
    return StoredSessions::StopTask(session_id, task_id);
  }
  Result<protocol::TaskRows> Tasks(const std::string& session_id) {
    return AskBriefly(&client::Sessions::Tasks, &StoredSessions::Tasks, session_id);
  }
  Result<protocol::TaskOutput> TaskOutput(const std::string& session_id, const std::string& task_id,
                                          const protocol::TaskRange& range) {
    return AskBriefly(&client::Sessions::TaskOutput, &StoredSessions::TaskOutput, session_id,
                      task_id, range);
  }

 private:
  const config::Roots roots_;
  Teller tell_;
};

class LocalSessions final : public client::Sessions {
 public:
  LocalSessions(const config::Roots& roots, Teller tell)
      : stored_(JoinedSessions(roots, std::move(tell))) {}

  void List(bool all, Reply<std::vector<protocol::SessionSummary>> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::List, all);
  }
  void Resolve(const std::string& typed, Reply<std::string> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Resolve, typed);
  }
  void Describe(const std::string& session_id, Reply<protocol::SessionSummary> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Describe, session_id);
  }
  void Events(const std::string& session_id, const std::optional<std::string>& at,
              const std::function<bool(const protocol::Event&)>& sink, Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Events, session_id, at, sink);
  }
  void RawEvents(const std::string& session_id, const std::optional<std::string>& at,
                 const std::function<bool(const protocol::Event&)>& sink,
                 Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::RawEvents, session_id, at, sink);
  }
  void Transcript(const std::string& session_id, const std::optional<std::string>& at,
                  const std::function<bool(const protocol::DisplayRow&)>& sink,
                  Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Transcript, session_id, at, sink);
  }
  void Blob(const std::string& session_id, const std::string& name,
            Reply<std::string> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Blob, session_id, name);
  }
  void Tree(const std::string& session_id, Reply<protocol::SessionTree> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Tree, session_id);
  }
  void Cost(const std::string& session_id, Reply<protocol::CostReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Cost, session_id);
  }
  void Replay(const std::string& session_id, Reply<protocol::ReplayReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Replay, session_id);
  }
  void Context(const std::string& session_id, const protocol::ContextWanted& wanted,
               Reply<protocol::ContextReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Context, session_id, wanted);
  }
  void Run(const std::string& session_id, Reply<protocol::RunReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Run, session_id);
  }
  void Capsule(const std::string& session_id, Reply<protocol::CapsuleReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Capsule, session_id);
  }
  void Tasks(const std::string& session_id, Reply<protocol::TaskRows> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Tasks, session_id);
  }
  void StopTask(const std::string& session_id, const std::string& task_id,
                Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::StopTask, session_id, task_id);
  }
  void TaskOutput(const std::string& session_id, const std::string& task_id,
                  const protocol::TaskRange& range, Reply<protocol::TaskOutput> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::TaskOutput, session_id, task_id, range);
  }
  void Rewind(const std::string& session_id, const std::optional<std::string>& target,
              const std::optional<std::string>& expected_leaf,
              Reply<client::Moved> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Rewind, session_id, target, expected_leaf);
  }
  void Branch(const std::string& session_id, const std::string& leaf,
              const std::optional<std::string>& expected_leaf,
              Reply<client::Moved> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Branch, session_id, leaf, expected_leaf);
  }
  void Clone(const std::string& session_id, const std::optional<std::string>& at,
             Reply<std::string> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Clone, session_id, at);
  }
  void Verify(const std::string& session_id, Reply<protocol::VerifyReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Verify, session_id);
  }
  void Repair(const std::string& session_id, Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Repair, session_id);
  }
  void Export(const client::ExportWanted& wanted, Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Export, wanted);
  }
  void Import(const std::string& path, bool new_id, Reply<client::Imported> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Import, path, new_id);
  }
  void Remove(const std::string& session_id, Reply<void> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Remove, session_id);
  }
  void Trash(Reply<std::vector<protocol::TrashRow>> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Trash);
  }
  void Restore(const std::string& typed, Reply<std::string> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Restore, typed);
  }
  void DiskUse(Reply<protocol::DiskUseReport> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::DiskUse);
  }
  void FindGarbage(bool with_trash, Reply<std::vector<protocol::GarbageItem>> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::FindGarbage, with_trash);
  }
  void Collect(const std::vector<protocol::GarbageItem>& items,
               Reply<std::uint64_t> reply) override {
    stored_.Run(std::move(reply), &JoinedSessions::Collect, items);
  }

 private:
  Beside<JoinedSessions> stored_;
};

}  // namespace

std::unique_ptr<client::Sessions> MakeLocalSessions(const config::Roots& roots, Teller tell) {
  return std::make_unique<LocalSessions>(roots, std::move(tell));
}

}  // namespace stet::host
