#include "host/local/live.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/loop_thread.h"
#include "base/random.h"
#include "client/await.h"
#include "device/model_access.h"
#include "lane/lane.h"
#include "lane/lanes.h"
#include "log/log.h"
#include "protocol/ids.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

using client::Reply;

/// The thread that runs the lanes, and what they share.
class HostThread {
 public:
  explicit HostThread(const config::Roots& roots)
      : models_(thread_.loop()), lanes_(thread_.loop(), roots, models_) {
    thread_.Start();
  }
  ~HostThread() {
    thread_.Stop();
    thread_.loop().Abandon();  // What still runs uses the lanes.
  }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  Loop& loop() { return thread_.loop(); }
  lane::Lanes& lanes() { return lanes_; }

  [[nodiscard]] bool is_current() const { return thread_.is_current(); }

 private:
  LoopThread thread_;
  device::ModelAccess models_;
  lane::Lanes lanes_;
};

/// Hands what a session's lane appends and publishes to the face that attached to it.
class Watching final : public lane::LaneListener {
 public:
  explicit Watching(client::Watcher watcher) : watcher_(std::move(watcher)) {}

  void Opened(log::Log& log) override {
    subscription_ =
        log.Subscribe([this](const log::Published& what) { watcher_(what.event, what.transient); });
  }
  void Closed() override { subscription_ = log::Subscription(); }

 private:
  client::Watcher watcher_;
  log::Subscription subscription_;
};

/// What the loop knows of one hold.
struct Holding {
  Holding(lane::Lanes& owner, std::string id, client::Watcher watcher)
      : lanes(owner), session_id(std::move(id)), watching(std::move(watcher)) {}

  /// The face neither hears the session nor does anything for it any more.
  void LetGo() {
    lanes.Unlisten(session_id, watching);
    lanes.UseServices(session_id, nullptr);
    lanes.Forget(session_id);
  }

  lane::Lanes& lanes;
  const std::string session_id;
  Watching watching;
  lane::Lane* lane = nullptr;  // From the opening to the beginning of the end.
};

class LocalSession final : public client::LiveSession {
 public:
  LocalSession(HostThread& host, std::string client_id, std::shared_ptr<Holding> holding)
      : host_(host), client_id_(std::move(client_id)), holding_(std::move(holding)) {}
  /// On the loop, where an answer is dropped that no face takes, it cannot wait for the end.
  ~LocalSession() override {
    if (closed_) return;
    // Ignoring the error on purpose: a caller that wants to hear of it calls Close.
    if (host_.is_current())
      Close([](const Status&) {});
    else
      (void)client::Await(*this, &LocalSession::Close);
  }

  void State(Reply<protocol::LiveState> reply) override {
    Ask(reply, [](lane::Lane& lane) -> Result<protocol::LiveState> { return lane.State(); });
  }
  void Send(const protocol::Send& send, Reply<protocol::Accepted> reply) override {
    Ask(reply, [send, client = client_id_](lane::Lane& lane) { return lane.Send(send, client); });
  }
  void Cancel() override {
    Ask(Reply<void>([](const Status&) {}), [](lane::Lane& lane) -> Status {
      lane.Cancel();
      return {};
    });
  }
  void Answer(const protocol::AskAnswer& answer, Reply<void> reply) override {
    Ask(reply, [answer, client = client_id_](lane::Lane& lane) {
      return std::visit([&](const auto& one) { return lane.Answer(one, client); }, answer);
    });
  }
  void RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                    Reply<void> reply) override {
    Ask(reply, [queue, items, client = client_id_](lane::Lane& lane) {
      return lane.RewriteQueue(queue, items, client);
    });
  }
  void Change(const protocol::Change& change, Reply<void> reply) override {
    Ask(reply, [change](lane::Lane& lane) { return lane.Change(change); });
  }
  void Rewind(const std::optional<std::string>& target, Reply<client::Moved> reply) override {
    Ask(reply, [target](lane::Lane& lane) { return lane.Rewind(target); });
  }
  void Branch(const std::string& leaf, Reply<client::Moved> reply) override {
    Ask(reply, [leaf](lane::Lane& lane) { return lane.Branch(leaf); });
  }
  /// The end of the lane waits for it.
  void FilesSince(const protocol::FilesParams& wanted, Reply<protocol::FileRows> reply) override {
    const auto run = [](lane::Lane& lane, protocol::FilesParams params,
                        Reply<protocol::FileRows> done) -> Async<void> {
      done(co_await lane.FilesSince(std::move(params)));
    };
    host_.loop().Post([holding = holding_, wanted, reply, run, &loop = host_.loop()] {
      if (holding->lane == nullptr) return reply(Closed());
      loop.Spawn(run(*holding->lane, wanted, reply));
    });
  }
  void Tasks(Reply<protocol::TaskRows> reply) override {
    Ask(reply, [](lane::Lane& lane) -> Result<protocol::TaskRows> { return lane.Tasks(); });
  }
  void StopTask(const std::string& task_id, Reply<void> reply) override {
    Ask(reply, [task_id](lane::Lane& lane) { return lane.StopTask(task_id); });
  }
  void TaskOutput(const std::string& task_id, Reply<protocol::TaskOutput> reply) override {
    Ask(reply, [task_id](lane::Lane& lane) { return lane.TaskOutput(task_id); });
  }
  void Recent(std::size_t count, Reply<std::vector<protocol::Event>> reply) override {
    Ask(reply, [count](lane::Lane& lane) { return lane.Recent(count); });
  }
  void Mark(const protocol::Mark& mark, Reply<std::string> reply) override {
    Ask(reply, [mark, client = client_id_](lane::Lane& lane) { return lane.Mark(mark, client); });
  }
  /// An extension takes its time; the end of the lane ends the command first.
  void Command(const std::string& name, const std::string& text,
               Reply<std::string> reply) override {
    const auto run = [](lane::Lane& lane, std::string command, std::string argument,
                        std::string client, Reply<std::string> done) -> Async<void> {
      done(co_await lane.RunCommand(command, argument, client));
    };
    host_.loop().Post(
        [holding = holding_, name, text, client = client_id_, reply, run, &loop = host_.loop()] {
          if (holding->lane == nullptr) return reply(Closed());
          loop.Spawn(run(*holding->lane, name, text, client, reply));
        });
  }
  void Run(Reply<protocol::RunReport> reply) override {
    Ask(reply, [](lane::Lane& lane) { return lane.Run(); });
  }
  void Permissions(Reply<protocol::PermissionReport> reply) override {
    Ask(reply,
        [](lane::Lane& lane) -> Result<protocol::PermissionReport> { return lane.Permissions(); });
  }
  void Turns(Reply<protocol::TurnRows> reply) override {
    Ask(reply, [](lane::Lane& lane) { return lane.Turns(); });
  }
  void Report(const std::string& turn_id, Reply<protocol::TurnReport> reply) override {
    Ask(reply, [turn_id](lane::Lane& lane) -> Result<protocol::TurnReport> {
      std::optional<protocol::TurnReport> report = lane.Report(turn_id);
      if (!report) return Fail(Code::kNotFound, "nothing is known of how that turn went");
      return *std::move(report);
    });
  }

  void Close(Reply<void> reply) override {
    closed_ = true;
    const auto run = [](std::shared_ptr<Holding> holding, Reply<void> done) -> Async<void> {
      Status closed;
      if (std::exchange(holding->lane, nullptr) != nullptr) {
        closed = co_await holding->lanes.Close(holding->session_id, false);
        holding->LetGo();
      }
      done(std::move(closed));
    };
    host_.loop().Post([holding = holding_, reply = std::move(reply), run, &loop = host_.loop()] {
      loop.Spawn(run(holding, reply));
    });
  }

 private:
  static std::unexpected<Error> Closed() {
    return Fail(Code::kCancelled, "the session was closed");
  }

  /// Has the lane asked, on the loop, and what it says replied.
  template <class T, class Question>
  void Ask(const Reply<T>& reply, Question question) {
    host_.loop().Post([holding = holding_, reply, question = std::move(question)] {
      if (holding->lane == nullptr) return reply(Closed());
      reply(question(*holding->lane));
    });
  }

  HostThread& host_;
  const std::string client_id_;
  const std::shared_ptr<Holding> holding_;  // The loop's.
  bool closed_ = false;
};

class LocalLive final : public client::Live {
 public:
  LocalLive(config::Roots roots, std::string_view face)
      : roots_(std::move(roots)), client_id_(protocol::NewClientId(ProcessRandom(), face)) {}

  void Attach(const protocol::Attach& attach, client::FaceSide face,
              Reply<std::unique_ptr<client::LiveSession>> reply) override {
    Host().loop().Post([this, attach, face = std::move(face), reply = std::move(reply)] {
      host_->loop().Spawn(Open(attach, face, reply));
    });
  }

  void Latest(const std::string& cwd, Reply<std::string> reply) override {
    Host().loop().Post(
        [this, cwd, reply = std::move(reply)] { reply(store::SessionStore(roots_).Newest(cwd)); });
  }

 private:
  HostThread& Host() {
    if (!host_) host_ = std::make_unique<HostThread>(roots_);
    return *host_;
  }

  Async<void> Open(protocol::Attach attach, client::FaceSide face,
                   Reply<std::unique_ptr<client::LiveSession>> reply) {
    lane::Lanes& lanes = host_->lanes();
    const Result<std::string> id = lanes.Name(attach);
    if (!id) co_return reply(std::unexpected(id.error()));
    // One face at a time: a session of this process is not joined.
    if (lanes.presence(*id) != lane::Presence::kAsleep)
      co_return reply(Fail(Code::kBusy, fmt::format("{} is open in this process", *id)));
    const auto holding = std::make_shared<Holding>(lanes, *id, std::move(face.watcher));
    lanes.Listen(*id, holding->watching);
    lanes.UseServices(*id, std::move(face.services));
    const Result<lane::Lane*> lane =
        co_await lanes.Open(*id, std::move(attach), Environment::OfProcess());
    if (!lane) {
      holding->LetGo();
      co_return reply(std::unexpected(lane.error()));
    }
    holding->lane = *lane;
    reply(std::make_unique<LocalSession>(*host_, client_id_, holding));
  }

  config::Roots roots_;
  const std::string client_id_;
  std::unique_ptr<HostThread> host_;
};

}  // namespace

std::unique_ptr<client::Live> MakeLocalLive(config::Roots roots, std::string_view face) {
  return std::make_unique<LocalLive>(std::move(roots), face);
}

}  // namespace stet::host
