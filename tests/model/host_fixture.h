// A host in this process, on a thread of its own, with real sockets; and a client that speaks the
// wire word by word, for tests of what the usual one never says.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "base/json_view.h"
#include "base/loop_thread.h"
#include "client/remote_live.h"
#include "host/host.h"
#include "rpc/dial.h"

namespace stet::test {

class RunningHost {
 public:
  explicit RunningHost(host::HostOptions options) {
    options.listen.unix_path = options.roots.data + "/host.sock";
    options.listen.address = "127.0.0.1";
    options.token = kToken;
    if (!options.stop) options.stop = [] {};
    EXPECT_TRUE(MakeDirs(options.roots.data));
    socket_ = options.listen.unix_path;
    auto started = host::Host::Start(thread_.loop(), std::move(options));
    EXPECT_TRUE(started) << started.error().Text();
    if (started) host_ = *std::move(started);
    address_ = host_ ? host_->address() : "";
    thread_.Start();
  }
  ~RunningHost() { Stop(); }

  void Stop() {
    if (!host_) return;
    thread_.Await<bool>([this]() -> Task<bool> {
      co_await host_->Shutdown();
      co_return true;
    });
    thread_.Stop();
    thread_.loop().Abandon();
    host_.reset();
  }

  [[nodiscard]] std::unique_ptr<client::RemoteLive> Client(
      std::optional<std::vector<std::string>> environment = {}) const {
    client::RemoteOptions options;
    options.endpoint.unix_path = socket_;
    options.environment = std::move(environment);
    return client::MakeRemoteLive(options);
  }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  /// "127.0.0.1:PORT".
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
  }
  protocol::HostStatus Describe() {
    return thread_.Call([this] { return host_->Describe(); });
  }

  static constexpr const char* kToken = "stet_test";

 private:
  LoopThread thread_;
  std::unique_ptr<host::Host> host_;
  std::string socket_;
  std::string address_;
};

/// Says what it is told to say, and keeps what it hears.
class WireClient {
 public:
  explicit WireClient(rpc::Endpoint endpoint) {
    thread_.Start();
    auto dialled = thread_.Await<Result<std::unique_ptr<rpc::Channel>>>([&] {
      const CancelToken never;
      return rpc::Dial(thread_.loop(), endpoint, never);
    });
    if (!dialled) {
      refused_ = dialled.error();
      return;
    }
    channel_ = *std::move(dialled);
    thread_.Call([this] {
      channel_->Start({.frame = [this](std::string_view frame) { Hear(frame); },
                       .drained = [] {},
                       .closed = [this](const Error&) { Closed(); }});
      return true;
    });
  }
  ~WireClient() {
    thread_.Call([this] {
      channel_.reset();
      return true;
    });
  }

  [[nodiscard]] const std::optional<Error>& refused() const { return refused_; }

  void Say(const std::string& message) {
    thread_.Call([&] {
      if (channel_) channel_->Send(message);
      return true;
    });
  }
  void Hello(const std::string& token = "") {
    protocol::Hello hello;
    hello.version = protocol::kWireVersion;
    if (!token.empty()) hello.token = token;
    hello.client_id = "test";
    Say(Encode(hello));
  }
  /// The reply to a request: its text, as it came.
  std::string Ask(const std::string& method, const std::string& params = "{}") {
    const std::string id = std::to_string(++last_);
    protocol::WireRequest request;
    request.request_id = id;
    request.method = method;
    request.params = Raw{params};
    Say(Encode(request));
    return Await([&](const JsonView& message) {
             return message["type"].StringOr("") == "reply" &&
                    message["requestId"].StringOr("") == id;
           })
        .value_or("");
  }
  /// The first message of this type, now or within a long time.
  std::optional<std::string> AwaitType(const std::string& type) {
    return Await([&](const JsonView& message) { return message["type"].StringOr("") == type; });
  }
  std::optional<std::string> Await(const std::function<bool(const JsonView&)>& fits) {
    std::unique_lock lock(mutex_);
    std::optional<std::string> found;
    std::size_t looked = 0;
    changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      for (; looked < heard_.size() && !found; ++looked) {
        if (fits(JsonView(heard_[looked]))) found = heard_[looked];
      }
      return found || (closed_ && looked == heard_.size());
    });
    return found;
  }
  std::vector<std::string> Heard() {
    const std::lock_guard lock(mutex_);
    return {heard_.begin(), heard_.end()};
  }
  bool AwaitClosed() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return closed_; });
  }

 private:
  void Hear(std::string_view frame) {
    const std::lock_guard lock(mutex_);
    while (!frame.empty()) {
      const std::size_t end = std::min(frame.find('\n'), frame.size());
      heard_.emplace_back(frame.substr(0, end));
      frame.remove_prefix(std::min(end + 1, frame.size()));
    }
    changed_.notify_all();
  }
  void Closed() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  LoopThread thread_;
  std::unique_ptr<rpc::Channel> channel_;
  std::optional<Error> refused_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> heard_;
  bool closed_ = false;
  int last_ = 0;
};

}  // namespace stet::test
