#include "client/remote/sessions.h"

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

protocol::SessionRef RefTo(const std::string& session_id) {
  protocol::SessionRef ref;
  ref.session_id = session_id;
  return ref;
}

protocol::TaskRef RefTo(const std::string& session_id, const std::string& task_id) {
  protocol::TaskRef ref;
  ref.session_id = session_id;
  ref.task_id = task_id;
  return ref;
}

protocol::MoveLeaf MoveIn(const std::string& session_id, const std::optional<std::string>& target,
                          const std::optional<std::string>& expected_leaf) {
  protocol::MoveLeaf move;
  move.session_id = session_id;
  move.target = target;
  move.expected_leaf = expected_leaf;
  return move;
}

Result<std::string> BytesOf(const protocol::Blob& blob) {
  std::optional<std::string> bytes = DecodeBase64(blob.base64);
  if (!bytes) return Fail(Code::kInvalid, "the host's answer is no base64");
  return *std::move(bytes);
}

/// The one session of the list whose id begins with `typed`; an id that stands there whole is
/// meant, though others begin with it.
Result<std::string> FindIn(const protocol::SessionList& list, const std::string& typed) {
  std::vector<std::string> found;
  for (const protocol::SessionSummary& one : list.sessions) {
    if (one.session_id == typed) return typed;
    if (one.session_id.starts_with(typed)) found.push_back(one.session_id);
  }
  if (found.empty()) return Fail(Code::kNotFound, fmt::format("the host has no session {}", typed));
  if (found.size() > 1)
    return Fail(Code::kConflict, fmt::format("{} and {} begin with {}: write more of the id",
                                             found[0], found[1], typed));
  return found[0];
}

class RemoteSessions final : public Sessions {
 public:
  RemoteSessions(RemoteLive& host, std::chrono::milliseconds within)
      : host_(host), within_(within) {}

  void List(bool all, Reply<std::vector<protocol::SessionSummary>> reply) override {
    Ask<method::SessionsList>(Listed(all), reply, [](protocol::SessionList list) {
      return Result<std::vector<protocol::SessionSummary>>(std::move(list.sessions));
    });
  }
  void Resolve(const std::string& typed, Reply<std::string> reply) override {
    Ask<method::SessionsList>(Listed(true), reply, [typed](const protocol::SessionList& list) {
      return FindIn(list, typed);
    });
  }
  void Describe(const std::string& session_id, Reply<protocol::SessionSummary> reply) override {
    Ask<method::SessionDescribe>(RefTo(session_id), reply);
  }
  void Blob(const std::string& session_id, const std::string& name,
            Reply<std::string> reply) override {
    protocol::BlobParams params;
    params.session_id = session_id;
    params.name = name;
    Ask<method::SessionBlob>(params, reply, BytesOf);
  }
  void Tree(const std::string& session_id, Reply<protocol::SessionTree> reply) override {
    Ask<method::SessionTree>(RefTo(session_id), reply);
  }
  void Cost(const std::string& session_id, Reply<protocol::CostReport> reply) override {
    Ask<method::SessionCost>(RefTo(session_id), reply);
  }
  void Context(const std::string& session_id, const protocol::ContextWanted& wanted,
               Reply<protocol::ContextReport> reply) override {
    if (wanted != protocol::ContextWanted()) return Refuse(reply);
    Ask<method::SessionContext>(RefTo(session_id), reply);
  }
  void Run(const std::string& session_id, Reply<protocol::RunReport> reply) override {
    Ask<method::SessionRun>(RefTo(session_id), reply);
  }
  void Tasks(const std::string& session_id, Reply<protocol::TaskRows> reply) override {
    Ask<method::SessionTasks>(RefTo(session_id), reply, [](protocol::TaskList list) {
      return Result<protocol::TaskRows>(std::move(list.tasks));
    });
  }
  void StopTask(const std::string& session_id, const std::string& task_id,
                Reply<void> reply) override {
    Ask<method::SessionTaskStop>(RefTo(session_id, task_id), reply);
  }
  void TaskOutput(const std::string& session_id, const std::string& task_id,
                  const protocol::TaskRange& range, Reply<protocol::TaskOutput> reply) override {
    protocol::TaskOutputParams params;
    params.session_id = session_id;
    params.task_id = task_id;
    params.offset = range.offset;
    params.limit = range.limit;
    Ask<method::SessionTaskOutput>(params, reply);
  }
  void Rewind(const std::string& session_id, const std::optional<std::string>& target,
              const std::optional<std::string>& expected_leaf, Reply<Moved> reply) override {
    Ask<method::SessionRewind>(MoveIn(session_id, target, expected_leaf), reply);
  }
  void Branch(const std::string& session_id, const std::string& leaf,
              const std::optional<std::string>& expected_leaf, Reply<Moved> reply) override {
    Ask<method::SessionBranch>(MoveIn(session_id, leaf, expected_leaf), reply);
  }
  void Clone(const std::string& session_id, const std::optional<std::string>& at,
             Reply<std::string> reply) override {
    protocol::CloneParams params;
    params.session_id = session_id;
    params.at = at;
    Ask<method::SessionClone>(params, reply, [](protocol::SessionRef made) {
      return Result<std::string>(std::move(made.session_id));
    });
  }
  void Remove(const std::string& session_id, Reply<void> reply) override {
    Ask<method::SessionDelete>(RefTo(session_id), reply);
  }

  void Events(const std::string&, const std::optional<std::string>&,
              const std::function<bool(const protocol::Event&)>&, Reply<void> reply) override {
    Refuse(reply);
  }
  void RawEvents(const std::string&, const std::optional<std::string>&,
                 const std::function<bool(const protocol::Event&)>&, Reply<void> reply) override {
    Refuse(reply);
  }
  void Transcript(const std::string&, const std::optional<std::string>&,
                  const std::function<bool(const protocol::DisplayRow&)>&,
                  Reply<void> reply) override {
    Refuse(reply);
  }
  void Replay(const std::string&, Reply<protocol::ReplayReport> reply) override { Refuse(reply); }
  void Capsule(const std::string&, Reply<protocol::CapsuleReport> reply) override { Refuse(reply); }
  void Verify(const std::string&, Reply<protocol::VerifyReport> reply) override { Refuse(reply); }
  void Repair(const std::string&, Reply<void> reply) override { Refuse(reply); }
  void Export(const ExportWanted&, Reply<void> reply) override { Refuse(reply); }
  void Import(const std::string&, bool, Reply<Imported> reply) override { Refuse(reply); }
  void Trash(Reply<std::vector<protocol::TrashRow>> reply) override { Refuse(reply); }
  void Restore(const std::string&, Reply<std::string> reply) override { Refuse(reply); }
  void DiskUse(Reply<protocol::DiskUseReport> reply) override { Refuse(reply); }
  void FindGarbage(bool, Reply<std::vector<protocol::GarbageItem>> reply) override {
    Refuse(reply);
  }
  void Collect(const std::vector<protocol::GarbageItem>&, Reply<std::uint64_t> reply) override {
    Refuse(reply);
  }

 private:
  static constexpr std::int64_t kMostListed = 1000;  // As the wire has it.

  static protocol::ListParams Listed(bool all) {
    protocol::ListParams params;
    params.all = all;
    params.limit = kMostListed;
    return params;
  }

  template <class T>
  static void Refuse(const Reply<T>& reply) {
    reply(Fail(Code::kUnsupported, "that is done on the device that has the session's files"));
  }

  /// Replies what `read` makes of the host's answer.
  template <protocol::IsMethod M, class T, class Read>
  void Ask(const typename M::Params& params, const Reply<T>& reply, Read read) {
    host_.Call<M>(params, {.within = within_}, [reply, read = std::move(read)](Replied<M> said) {
      if (!said) return reply(std::unexpected(std::move(said).error()));
      reply(read(*std::move(said)));
    });
  }
  /// The same for an answer that is the reply, or whose content does not matter.
  template <protocol::IsMethod M, class T>
  void Ask(const typename M::Params& params, const Reply<T>& reply) {
    Ask<M>(params, reply, [](typename M::Reply&& said) -> Result<T> {
      if constexpr (std::is_void_v<T>)
        return {};
      else
        return std::move(said);
    });
  }

  RemoteLive& host_;
  const std::chrono::milliseconds within_;
};

}  // namespace

std::unique_ptr<Sessions> MakeRemoteSessions(RemoteLive& host, std::chrono::milliseconds within) {
  return std::make_unique<RemoteSessions>(host, within);
}

}  // namespace stet::client
