#include "emulator/server.h"

#include <cerrno>
#include <chrono>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/thread.h"

namespace stet::emulator {
namespace {

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Descriptors come back when connections end.
constexpr std::chrono::milliseconds kNoDescriptorWait{10};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Result<Fd> Listen(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return FailSystem(errno, "make a socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = Loopback(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return FailSystem(errno, fmt::format("listen on port {} of 127.0.0.1", port));
  }
  return socket;
}

Result<std::uint16_t> PortOf(const Fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return FailSystem(errno, "read the port");
  }
  return ntohs(address.sin_port);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(std::uint16_t port, Handler handler) {
  ASSIGN_OR_RETURN(Fd socket, Listen(port));
  ASSIGN_OR_RETURN(const std::uint16_t real_port, PortOf(socket));
  std::unique_ptr<Server> server(new Server(std::move(socket), real_port, std::move(handler)));
  ASSIGN_OR_RETURN(server->listener_, StartThread([self = server.get()] { self->Accept(); }));
  return server;
}

Server::~Server() {
  stopping_ = true;
  ::shutdown(socket_.get(), SHUT_RDWR);  // Wakes accept.
  if (listener_.joinable()) listener_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const Worker& worker : workers_) {
      if (worker.socket) ::shutdown(worker.socket.get(), SHUT_RDWR);
    }
  }
  for (Worker& worker : workers_) worker.thread.join();
}

void Server::Accept() {
  while (!stopping_) {
    Fd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const int problem = errno;
    if (socket) {
      Admit(std::move(socket));
    } else if (problem == EMFILE || problem == ENFILE || problem == ENOBUFS || problem == ENOMEM) {
      std::this_thread::sleep_for(kNoDescriptorWait);
    } else if (problem != EINTR && problem != ECONNABORTED && problem != EPROTO) {
      return;
    }
  }
}

void Server::Admit(Fd socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (Reap() >= kMaxConnections) {
    (void)::send(socket.get(), kFull.data(), kFull.size(), MSG_NOSIGNAL);
    return;
  }
  const std::lock_guard lock(mutex_);
  Worker& worker = workers_.emplace_back();
  worker.socket = std::move(socket);
  Result<std::thread> serving = StartThread([this, &worker] { Serve(worker); });
  if (serving)
    worker.thread = *std::move(serving);
  else
    workers_.pop_back();
}

void Server::Serve(Worker& worker) {
  int fd = -1;
  {
    const std::lock_guard lock(mutex_);
    fd = worker.socket.get();
  }
  handler_(Connection(fd));
  // Under the mutex, so that the destructor never shuts down a number that is another's by now.
  const std::lock_guard lock(mutex_);
  worker.socket.reset();
  worker.done = true;
}

std::size_t Server::Reap() {
  std::list<Worker> done;
  std::size_t open = 0;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = workers_.begin(); at != workers_.end();) {
      const auto next = std::next(at);
      if (at->done) done.splice(done.end(), workers_, at);
      at = next;
    }
    open = workers_.size();
  }
  for (Worker& worker : done) worker.thread.join();
  return open;
}

}  // namespace stet::emulator
