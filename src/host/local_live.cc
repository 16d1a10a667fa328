#include "host/local_live.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/loop_thread.h"
#include "base/random.h"
#include "host/attach.h"
#include "host/session_store.h"
#include "protocol/ids.h"

namespace stet::host {
namespace {

/// The thread that runs the lanes, and what they share.
class HostThread {
 public:
  HostThread() : models_(thread_.loop()) { thread_.Start(); }
  ~HostThread() { thread_.Stop(); }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  Loop& loop() { return thread_.loop(); }
  ModelAccess& models() { return models_; }

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
};

class LocalSession final : public client::LiveSession {
 public:
  LocalSession(HostThread& host, std::string client_id, std::unique_ptr<Lane> lane,
               log::Subscription subscription)
      : host_(host),
        client_id_(std::move(client_id)),
        lane_(std::move(lane)),
        subscription_(std::move(subscription)) {}
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
    host_.loop().Post([lane = lane_.get(), alive = std::weak_ptr<bool>(alive_)] {
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

  Status Close() override {
    if (!lane_) return {};
    Status closed = host_.Await<Status>([this] { return lane_->Close(); });
    host_.Call([this] {
      alive_.reset();
      subscription_ = log::Subscription();
      lane_.reset();
      return true;
    });
    return closed;
  }

 private:
  HostThread& host_;
  const std::string client_id_;
  std::unique_ptr<Lane> lane_;
  log::Subscription subscription_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class LocalLive final : public client::Live {
 public:
  LocalLive(config::Roots roots, std::string_view face)
      : roots_(std::move(roots)), client_id_(protocol::NewClientId(ProcessRandom(), face)) {}

  Result<std::unique_ptr<client::LiveSession>> Attach(
      const protocol::Attach& attach, client::Watcher watcher,
      std::shared_ptr<client::Services> services) override {
    if (attach.new_session_id)
      RETURN_IF_ERROR(SessionStore(roots_).CheckFree(*attach.new_session_id));
    if (!host_) host_ = std::make_unique<HostThread>();
    log::Subscription subscription;
    const auto environment = std::make_shared<const Environment>(Environment::OfProcess());
    const auto opened = [&](log::Log& log) {
      subscription = log.Subscribe([watcher = std::move(watcher)](const log::Published& what) {
        watcher(what.event, what.transient);
      });
    };
    ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, host_->Call([&] {
      Result<std::unique_ptr<Lane>> made = OpenLane({.roots = roots_,
                                                     .loop = host_->loop(),
                                                     .models = host_->models(),
                                                     .attach = attach,
                                                     .environment = environment},
                                                    opened);
      if (made) (*made)->UseServices(std::move(services));
      return made;
    }));
    return std::make_unique<LocalSession>(*host_, client_id_, std::move(lane),
                                          std::move(subscription));
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
