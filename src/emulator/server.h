// Server: accepts connections on 127.0.0.1 and gives each a thread.
//
// Destroying it stops it: no connection is accepted any more, the sockets are shut down, and every
// thread is joined. At most kMaxConnections are open; one more is told 503 and closed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "emulator/connection.h"

namespace stet::emulator {

inline constexpr std::size_t kMaxConnections = 1024;

class Server {
 public:
  /// Called in the connection's own thread, from any number of them; the connection is closed when
  /// it returns.
  using Handler = std::function<void(const Connection&)>;

  /// Port 0: any that is free. Fails when the port cannot be opened.
  static Result<std::unique_ptr<Server>> Start(std::uint16_t port, Handler handler);

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  struct Worker {
    Fd socket;  // Closed by the thread, under the mutex.
    std::thread thread;
    bool done = false;
  };

  Server(Fd socket, std::uint16_t port, Handler handler)
      : socket_(std::move(socket)), port_(port), handler_(std::move(handler)) {}

  void Accept();
  void Admit(Fd socket);
  void Serve(Worker& worker);
  /// Joins the threads that are done and gives the number of the others. The listener's only.
  std::size_t Reap();

  Fd socket_;
  std::uint16_t port_;
  Handler handler_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // Guards workers_.
  std::list<Worker> workers_;
  std::thread listener_;
};

}  // namespace stet::emulator
