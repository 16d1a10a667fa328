// A host in this process, on a thread of its own, with real sockets; and a client that speaks the
// wire word by word, for tests of what the usual one never says.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/loop_thread.h"
#include "client/remote/live.h"
#include "host/host.h"
#include "json/view.h"
#include "rpc/dial.h"

namespace stet::test {

class RunningHost {
 public:
  explicit RunningHost(host::HostOptions options);
  ~RunningHost() { Stop(); }

  void Stop();

  [[nodiscard]] std::unique_ptr<client::RemoteLive> Client(
      std::optional<std::vector<std::string>> environment = {}) const;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  /// "127.0.0.1:PORT".
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint16_t port() const;
  protocol::HostStatus Describe();

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
  explicit WireClient(rpc::Endpoint endpoint);
  ~WireClient();

  [[nodiscard]] const std::optional<Error>& refused() const { return refused_; }

  void Say(const std::string& message);
  void Hello(const std::string& token = "", const std::string& client_id = "test");
  /// The reply to a request: its text, as it came.
  std::string Ask(const std::string& method, const std::string& params = "{}");
  /// The first message of this type, now or within a long time.
  std::optional<std::string> AwaitType(const std::string& type);
  std::optional<std::string> Await(const std::function<bool(const JsonView&)>& fits);
  std::vector<std::string> Heard();
  bool AwaitClosed();

 private:
  void Hear(std::string_view frame);
  void Closed();

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
