// Clients of the agent that answer when the test says so: a host whose sessions can be held up, and
// stored sessions and models that answer at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acp/agent.h"

namespace stet::acp {

template <class T>
using Reply = client::Reply<T>;

/// What the test sees of one session, in a lane or out of one.
struct FakeLane {
  std::string id;
  bool silent = false;  // Nothing is answered but the closing.
  std::vector<Reply<protocol::LiveState>> states;
  std::vector<std::pair<protocol::Send, Reply<protocol::Accepted>>> sends;
  std::vector<protocol::AskAnswer> answers;
  int cancels = 0;
  bool closed = false;
  client::Watcher watcher;

  void Tell(protocol::TransientPayload payload) const {
    protocol::Transient transient;
    transient.transient = std::move(payload);
    watcher(nullptr, &transient);
  }
  void Tell(protocol::Payload payload) {
    protocol::Event event;
    event.seq = ++last_seq;
    event.id = "e" + std::to_string(last_seq);
    event.payload = std::move(payload);
    watcher(&event, nullptr);
  }
  std::uint64_t last_seq = 0;
};

/// What is not named here is given up: it is answered with kCancelled.
class FakeLiveSession final : public client::LiveSession {
 public:
  explicit FakeLiveSession(FakeLane& lane) : lane_(lane) {}

  void State(Reply<protocol::LiveState> reply) override {
    if (lane_.silent) return lane_.states.push_back(std::move(reply));
    protocol::LiveState state;
    state.session_id = lane_.id;
    state.state = "idle";
    reply(std::move(state));
  }
  void Send(const protocol::Send& send, Reply<protocol::Accepted> reply) override {
    lane_.sends.emplace_back(send, std::move(reply));
  }
  void Cancel() override { ++lane_.cancels; }
  void Answer(const protocol::AskAnswer& answer, Reply<void>) override {
    lane_.answers.push_back(answer);
  }
  void Close(Reply<void> reply) override {
    lane_.closed = true;
    lane_.states.clear();
    lane_.sends.clear();
    reply({});
  }

  void RewriteQueue(const std::string&, const protocol::QueueItems&, Reply<void>) override {}
  void Change(const protocol::Change&, Reply<void>) override {}
  void Rewind(const std::optional<std::string>&, Reply<client::Moved>) override {}
  void Branch(const std::string&, Reply<client::Moved>) override {}
  void FilesSince(const protocol::FilesParams&, Reply<protocol::FileRows>) override {}
  void Mark(const protocol::Mark&, Reply<std::string>) override {}
  void Command(const std::string&, const std::string&, Reply<std::string>) override {}
  void Run(Reply<protocol::RunReport>) override {}
  void Turns(Reply<protocol::TurnRows>) override {}
  void Permissions(Reply<protocol::PermissionReport>) override {}
  void Tasks(Reply<protocol::TaskRows>) override {}
  void StopTask(const std::string&, Reply<void>) override {}
  void TaskOutput(const std::string&, Reply<protocol::TaskOutput>) override {}
  void Recent(std::size_t, Reply<std::vector<protocol::Event>>) override {}
  void Report(const std::string&, Reply<protocol::TurnReport>) override {}

 private:
  FakeLane& lane_;
};

/// Attaches at once, unless it is held up.
class FakeLive final : public client::Live {
 public:
  void Attach(const protocol::Attach& attach, client::FaceSide face, AttachReply reply) override {
    FakeLane& lane = lanes[attach.session_id.value_or(attach.new_session_id.value_or(""))];
    lane.id = attach.session_id.value_or(attach.new_session_id.value_or(""));
    lane.watcher = std::move(face.watcher);
    if (held_up) return attaching.push_back(std::move(reply));
    reply(std::make_unique<FakeLiveSession>(lane));
  }
  void Abandon() override {
    abandoned = true;
    attaching.clear();
  }
  void Latest(const std::string&, Reply<std::string>) override {}

  std::map<std::string, FakeLane> lanes;
  bool held_up = false;
  bool abandoned = false;
  std::vector<AttachReply> attaching;
};

class FakeModelList final : public client::Models {
 public:
  void List(Reply<protocol::ModelList> reply) override { reply(protocol::ModelList()); }
  void Check(const std::string&, const std::function<void(const std::string&)>&,
             Reply<protocol::ModelCheck>) override {}
};

/// Without history; what is not named here is given up.
class FakeStored final : public client::Sessions {
 public:
  using Id = const std::string&;
  using At = const std::optional<std::string>&;

  void List(bool, Reply<std::vector<protocol::SessionSummary>> reply) override {
    reply(std::vector<protocol::SessionSummary>());
  }
  void Events(Id, At, const std::function<bool(const protocol::Event&)>&,
              Reply<void> reply) override {
    reply({});
  }

  void Resolve(Id, Reply<std::string>) override {}
  void Describe(Id, Reply<protocol::SessionSummary>) override {}
  void RawEvents(Id, At, const std::function<bool(const protocol::Event&)>&, Reply<void>) override {
  }
  void Transcript(Id, At, const std::function<bool(const protocol::DisplayRow&)>&,
                  Reply<void>) override {}
  void Blob(Id, Id, Reply<std::string>) override {}
  void Tree(Id, Reply<protocol::SessionTree>) override {}
  void Cost(Id, Reply<protocol::CostReport>) override {}
  void Replay(Id, Reply<protocol::ReplayReport>) override {}
  void Context(Id, const protocol::ContextWanted&, Reply<protocol::ContextReport>) override {}
  void Run(Id, Reply<protocol::RunReport>) override {}
  void Capsule(Id, Reply<protocol::CapsuleReport>) override {}
  void Tasks(Id, Reply<protocol::TaskRows>) override {}
  void StopTask(Id, Id, Reply<void>) override {}
  void TaskOutput(Id, Id, const protocol::TaskRange&, Reply<protocol::TaskOutput>) override {}
  void Rewind(Id, At, At, Reply<client::Moved>) override {}
  void Branch(Id, Id, At, Reply<client::Moved>) override {}
  void Clone(Id, At, Reply<std::string>) override {}
  void Verify(Id, Reply<protocol::VerifyReport>) override {}
  void Repair(Id, Reply<void>) override {}
  void Export(const client::ExportWanted&, Reply<void>) override {}
  void Import(Id, bool, Reply<client::Imported>) override {}
  void Remove(Id, Reply<void>) override {}
  void Trash(Reply<std::vector<protocol::TrashRow>>) override {}
  void Restore(Id, Reply<std::string>) override {}
  void DiskUse(Reply<protocol::DiskUseReport>) override {}
  void FindGarbage(bool, Reply<std::vector<protocol::GarbageItem>>) override {}
  void Collect(const std::vector<protocol::GarbageItem>&, Reply<std::uint64_t>) override {}
};

}  // namespace stet::acp
