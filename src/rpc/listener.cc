#include "rpc/listener.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace stet::rpc {
namespace {

constexpr int kBacklog = 256;
/// Connections that are taken before anything else has its turn.
constexpr int kAcceptedAtOnce = 32;
constexpr std::chrono::milliseconds kPause{100};
constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

std::string AddressText(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(from);
    ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    return fmt::format("{}:{}", text, ntohs(four.sin_port));
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(from);
  ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
  return fmt::format("[{}]:{}", text, ntohs(six.sin6_port));
}

Peer PeerOf(int socket, const sockaddr_storage& from) {
  Peer peer;
  if (from.ss_family == AF_INET || from.ss_family == AF_INET6) {
    peer.address = AddressText(from);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return peer;
  }
  peer.local = true;
  ucred who{};
  socklen_t size = sizeof(who);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
    peer.uid = who.uid;
    peer.pid = who.pid;
  }
  return peer;
}

Result<sockaddr_un> UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return Fail(Code::kInvalid, fmt::format("the path {} is too long for a socket; it may have {} "
                                            "bytes",
                                            path, sizeof(address.sun_path) - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// 0, or the errno of connecting.
int Probe(const sockaddr_un& address) {
  const Fd probe(::socket(AF_UNIX, kSocketFlags, 0));
  if (!probe) return errno;
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(probe.get(), any, sizeof(address)) == 0 ? 0 : errno;
}

/// Removes a socket that no process listens on.
Status RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return FailSystem(errno, "look at " + path);
  if (!S_ISSOCK(found.st_mode))
    return Fail(Code::kConflict, path + " exists and is no socket; move it away");
  const int answer = Probe(address);
  if (answer == ENOENT) return {};
  if (answer != ECONNREFUSED) return Fail(Code::kBusy, "another process listens on " + path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FailSystem(errno, "remove " + path);
  return {};
}

}  // namespace

Listener::Listener(Loop& loop, Fd socket, Accepted accepted)
    : socket_(std::move(socket)),
      accepted_(std::move(accepted)),
      pause_(loop),
      watch_(loop, socket_.get(), [this](bool, bool) { Accept(); }) {
  watch_.Want(true, false);
}

Listener::~Listener() {
  struct stat found{};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_)
    ::unlink(path_.c_str());
}

void Listener::Accept() {
  for (int taken = 0; taken < kAcceptedAtOnce; ++taken) {
    sockaddr_storage from{};
    socklen_t size = sizeof(from);
    Fd socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      watch_.Want(false, false);
      return pause_.Start(kPause, [this] { watch_.Want(true, false); });
    }
    Peer peer = PeerOf(socket.get(), from);
    accepted_(std::move(socket), std::move(peer));
  }
}

Result<std::unique_ptr<Listener>> Listener::Unix(Loop& loop, const std::string& path,
                                                 Accepted accepted) {
  ASSIGN_OR_RETURN(const sockaddr_un address, UnixAddress(path));
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  Fd socket(::socket(AF_UNIX, kSocketFlags, 0));
  // The name gets the mode that the socket has: there is no moment in which others may connect.
  if (!socket || ::fchmod(socket.get(), 0600) != 0) return FailSystem(errno, "make a socket");
  if (::bind(socket.get(), any, sizeof(address)) != 0) {
    if (errno != EADDRINUSE) return FailSystem(errno, "listen on " + path);
    RETURN_IF_ERROR(RemoveStale(path, address));
    if (::bind(socket.get(), any, sizeof(address)) != 0)
      return FailSystem(errno, "listen on " + path);
  }
  struct stat made{};
  if (::listen(socket.get(), kBacklog) != 0 || ::lstat(path.c_str(), &made) != 0)
    return FailSystem(errno, "listen on " + path);
  std::unique_ptr<Listener> listener(new Listener(loop, std::move(socket), std::move(accepted)));
  listener->path_ = path;
  listener->inode_ = made.st_ino;
  return listener;
}

Result<std::unique_ptr<Listener>> Listener::Tcp(Loop& loop, const std::string& address,
                                                std::uint16_t port, Accepted accepted) {
  const std::string what = fmt::format("listen on {} port {}", address, port);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string numbers = address == "localhost" ? "127.0.0.1" : address;
  if (::getaddrinfo(numbers.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return Fail(Code::kInvalid, address + " is no address; give one in numbers, as 127.0.0.1");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);

  Fd socket(::socket(found->ai_family, kSocketFlags, IPPROTO_TCP));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    return errno == EADDRINUSE ? Fail(Code::kBusy, what + ": the port is taken; choose another")
                               : FailSystem(errno, what);
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return FailSystem(errno, what);
  std::unique_ptr<Listener> listener(new Listener(loop, std::move(socket), std::move(accepted)));
  listener->address_ = AddressText(bound);
  return listener;
}

}  // namespace stet::rpc
