#include "host/local_live.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/loop_thread.h"
#include "base/random.h"
#include "host/lane.h"
#include "host/lanes.h"
#include "host/model_access.h"
#include "host/session_store.h"
#include "log/log.h"
#include "protocol/ids.h"

namespace stet::host {
namespace {

/// The thread that runs the lanes, and what they share.
class HostThread {
 public:
  explicit HostThread(const config::Roots& roots)
      : models_(thread_.loop()), lanes_(thread_.loop(), roots, models_) {
    thread_.Start();
  }
  ~HostThread() { thread_.Stop(); }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  Loop& loop() { return thread_.loop(); }
  Lanes& lanes() { return lanes_; }

  template <class Work>
  auto Call(Work work) {
    return thread_.Call(std::move(work));
  }
  template <class T>
  T Await(std::function<Async<T>()> start) {
    return thread_.Await<T>(std::move(start));
  }

 private:
  LoopThread thread_;
  ModelAccess models_;
  Lanes lanes_;
};

/// Hands what a session's lane appends and publishes to the face that attached to it.
class Watching final : public LaneListener {
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

class LocalSession final : public client::LiveSession {
 public:
  LocalSession(HostThread& host, std::string client_id, std::string session_id,
               client::Watcher watcher)
      : host_(host),
        client_id_(std::move(client_id)),
        session_id_(std::move(session_id)),
        watching_(std::move(watcher)) {}
  ~LocalSession() override {
    // Ignoring the error on purpose: a caller that wants to hear of it calls Close.
    (void)Close();
  }

  protocol::LiveState State() override {
    return host_.Call([&] { return lane_->State(); });
  }
  Result<protocol::Accepted> Send(const protocol::Send& send) override {
    return host_.Call([&] { return lane_->Send(send, client_id_); });
  }
  void Cancel() override {
    host_.loop().Post([lane = lane_, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) lane->Cancel();
    });
  }
  Status Answer(const protocol::PermissionAnswer& answer) override {
    return host_.Call([&] { return lane_->Answer(answer, client_id_); });
  }
  Status Answer(const protocol::QuestionAnswer& answer) override {
    return host_.Call([&] { return lane_->Answer(answer, client_id_); });
  }
  Status RewriteQueue(const std::string& queue, const protocol::QueueItems& items) override {
    return host_.Call([&] { return lane_->RewriteQueue(queue, items); });
  }
  Status Change(const protocol::Change& change) override {
    return host_.Call([&] { return lane_->Change(change); });
  }
  Result<client::Moved> Rewind(const std::optional<std::string>& target) override {
    return host_.Call([&] { return lane_->Rewind(target); });
  }
  Result<client::Moved> Branch(const std::string& leaf) override {
    return host_.Call([&] { return lane_->Branch(leaf); });
  }
  Result<protocol::FileRows> FilesSince(const std::optional<std::string>& target,
                                        bool restore) override {
    return host_.Call([&] { return lane_->FilesSince(target, restore); });
  }
  Result<protocol::TaskRows> Tasks() override {
    return host_.Call([&] { return lane_->Tasks(); });
  }
  Status StopTask(const std::string& task_id) override {
    return host_.Call([&] { return lane_->StopTask(task_id); });
  }
  Result<protocol::TaskOutput> TaskOutput(const std::string& task_id) override {
    return host_.Call([&] { return lane_->TaskOutput(task_id); });
  }
  Result<std::vector<protocol::Event>> Recent(std::size_t count) override {
    return host_.Call([&] { return lane_->Recent(count); });
  }
  Result<std::string> Mark(const protocol::Mark& mark) override {
    return host_.Call([&] { return lane_->Mark(mark, client_id_); });
  }
  Result<std::string> Command(const std::string& name, const std::string& text) override {
    return host_.Await<Result<std::string>>(
        [&] { return lane_->RunCommand(name, text, client_id_); });
  }
  Result<protocol::RunReport> Run() override {
    return host_.Call([&] { return lane_->Run(); });
  }
  Result<protocol::PermissionReport> Permissions() override {
    return host_.Call([&] { return lane_->Permissions(); });
  }
  Result<protocol::TurnRows> Turns() override {
    return host_.Call([&] { return lane_->Turns(); });
  }
  std::optional<protocol::TurnReport> Report(const std::string& turn_id) override {
    return host_.Call([&] { return lane_->Report(turn_id); });
  }

  /// Before anything else is called.
  Status Open(protocol::Attach attach, std::shared_ptr<client::Services> services) {
    Lanes& lanes = host_.lanes();
    Status opened = host_.Await<Status>([&]() -> Async<Status> {
      // One face at a time: a session of this process is not joined.
      if (lanes.presence(session_id_) != Presence::kAsleep)
        co_return Fail(Code::kBusy, fmt::format("{} is open in this process", session_id_));
      lanes.Listen(session_id_, watching_);
      lanes.UseServices(session_id_, std::move(services));
      const Result<Lane*> lane =
          co_await lanes.Open(session_id_, std::move(attach), Environment::OfProcess());
      if (!lane) {
        Forget();
        co_return std::unexpected(lane.error());
      }
      lane_ = *lane;
      co_return Status();
    });
    return opened;
  }

  Status Close() override {
    if (lane_ == nullptr) return {};
    Status closed = host_.Await<Status>([this]() -> Async<Status> {
      Status ended = co_await host_.lanes().Close(session_id_, false);
      alive_.reset();
      lane_ = nullptr;
      Forget();
      co_return ended;
    });
    return closed;
  }

 private:
  void Forget() {
    host_.lanes().Unlisten(session_id_, watching_);
    host_.lanes().UseServices(session_id_, nullptr);
    host_.lanes().Forget(session_id_);
  }

  HostThread& host_;
  const std::string client_id_;
  const std::string session_id_;
  Watching watching_;
  Lane* lane_ = nullptr;  // From Open to Close.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class LocalLive final : public client::Live {
 public:
  LocalLive(config::Roots roots, std::string_view face)
      : roots_(std::move(roots)), client_id_(protocol::NewClientId(ProcessRandom(), face)) {}

  Result<std::unique_ptr<client::LiveSession>> Attach(
      const protocol::Attach& attach, client::Watcher watcher,
      std::shared_ptr<client::Services> services) override {
    if (!host_) host_ = std::make_unique<HostThread>(roots_);
    protocol::Attach wanted = attach;
    ASSIGN_OR_RETURN(std::string session_id, host_->lanes().Name(wanted));
    auto session = std::make_unique<LocalSession>(*host_, client_id_, std::move(session_id),
                                                  std::move(watcher));
    RETURN_IF_ERROR(session->Open(std::move(wanted), std::move(services)));
    return session;
  }

  Result<std::string> Latest(const std::string& cwd) override {
    ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> sessions,
                     SessionStore(roots_).List());
    const auto found = std::ranges::find(sessions, cwd, &protocol::SessionSummary::cwd);
    if (found == sessions.end())
      return Fail(Code::kNotFound, fmt::format("there is no session of {} to continue", cwd));
    return found->session_id;
  }

 private:
  config::Roots roots_;
  const std::string client_id_;
  std::unique_ptr<HostThread> host_;
};

}  // namespace

std::unique_ptr<client::Live> MakeLocalLive(config::Roots roots, std::string_view face) {
  return std::make_unique<LocalLive>(std::move(roots), face);
}

}  // namespace stet::host
