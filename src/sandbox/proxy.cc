#include "sandbox/proxy.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/thread.h"
#include "sandbox/hosts.h"

namespace stet::sandbox {
namespace {

constexpr std::chrono::seconds kHeadWait{30};
constexpr std::chrono::seconds kConnectWait{30};

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool AwaitReady(int fd, short events, Deadline deadline) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  return ::poll(&one, 1, deadline.PollTimeout()) == 1;
}

/// Up to and with the empty line; what was read beyond it is in `rest`.
std::string ReadHead(int fd, std::string& rest) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const Deadline deadline = Deadline::After(kHeadWait);
  std::string head;
  std::array<char, 4096> buffer;
  while (head.size() < kMaxHeadBytes && AwaitReady(fd, POLLIN, deadline)) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return "";
    head.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t end = head.find(kEnd);
    if (end == std::string::npos) continue;
    rest = head.substr(end + kEnd.size());
    head.resize(end + kEnd.size());
    return head;
  }
  return "";
}

/// This machine and its link, where services trust every client that can reach them.
bool IsNear(const sockaddr& address) {
  constexpr std::uint32_t kLinkLocal = 0xa9fe0000;
  constexpr std::uint32_t kNet16 = 0xffff0000;
  constexpr std::uint32_t kNet8 = 0xff000000;
  const auto near4 = [](std::uint32_t host) {
    return (host & kNet8) == (INADDR_LOOPBACK & kNet8) || (host & kNet16) == kLinkLocal ||
           (host & kNet8) == 0;
  };
  if (address.sa_family == AF_INET)
    return near4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  if (address.sa_family != AF_INET6) return true;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six) != 0) {
    constexpr std::size_t kLastWord = 3;
    return near4(ntohl(six.s6_addr32[kLastWord]));
  }
  return IN6_IS_ADDR_LOOPBACK(&six) != 0 || IN6_IS_ADDR_LINKLOCAL(&six) != 0 ||
         IN6_IS_ADDR_UNSPECIFIED(&six) != 0;
}

/// Whether a name says itself that it means this machine or an address.
bool NamesNear(const std::string& host) {
  in6_addr ignored{};
  return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

Fd ConnectOne(const addrinfo& where) {
  Fd fd(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  int error = 0;
  socklen_t size = sizeof error;
  if (::connect(fd.get(), where.ai_addr, where.ai_addrlen) != 0 &&
      (errno != EINPROGRESS || !AwaitReady(fd.get(), POLLOUT, Deadline::After(kConnectWait)) ||
       ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0))
    return {};
  ::fcntl(fd.get(), F_SETFL, 0);
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/// `near`: addresses of this machine and its network may be connected to.
Fd ConnectTo(const std::string& host, const std::string& port, bool near) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
    if (IsNear(*one->ai_addr) && !near) continue;
    if (Fd fd = ConnectOne(*one)) return fd;
  }
  return {};
}

/// A listed name that leads to this machine is not followed, unless the name itself says so.
Fd Connect(const ProxyRequest& request) {
  if (request.host == "localhost") {  // By definition; a machine need not have it in /etc/hosts.
    Fd fd = ConnectTo("127.0.0.1", request.port, true);
    return fd ? std::move(fd) : ConnectTo("::1", request.port, true);
  }
  return ConnectTo(request.host, request.port, NamesNear(request.host));
}

/// Both ways, until both have ended or one has failed.
void Relay(int left, int right) {
  std::array<char, std::size_t{64} << 10> buffer;
  std::array<pollfd, 2> fds{{{.fd = left, .events = POLLIN, .revents = 0},
                             {.fd = right, .events = POLLIN, .revents = 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const int to = i == 0 ? right : left;
      const ssize_t got = ::recv(fds[i].fd, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno != EINTR) return;
      if (got > 0 && !SendAll(to, {buffer.data(), static_cast<std::size_t>(got)})) return;
      if (got != 0) continue;
      ::shutdown(to, SHUT_WR);
      fds[i].fd = -1;
    }
  }
}

class Proxy {
 public:
  Proxy(const Texts& hosts, int report) : hosts_(hosts), report_(report) {}

  void Admit(Fd client) {
    if (open_.fetch_add(1) >= kMaxProxyConnections) {
      (void)SendAll(client.get(), "HTTP/1.1 503 Too many connections\r\n\r\n");
      open_.fetch_sub(1);
      return;
    }
    Result<std::thread> serving = StartThread([this, fd = std::move(client)] {
      Serve(fd.get());
      open_.fetch_sub(1);
    });
    if (serving)
      serving->detach();
    else
      open_.fetch_sub(1);
  }

 private:
  void Serve(int client) {
    std::string rest;
    const auto request = ParseProxyRequest(ReadHead(client, rest));
    if (!request) {
      (void)SendAll(client, "HTTP/1.1 400 Not a request to a proxy\r\n\r\n");
      return;
    }
    if (!IsListed(hosts_, request->host, request->port)) {
      Report(*request);
      (void)SendAll(client, RefusalResponse(request->host, request->port));
      return;
    }
    const Fd server = Connect(*request);
    if (!server) {
      (void)SendAll(client, "HTTP/1.1 502 The host could not be reached\r\n\r\n");
      return;
    }
    const bool begun = request->tunnel
                           ? SendAll(client, "HTTP/1.1 200 Connection established\r\n\r\n")
                           : SendAll(server.get(), request->head);
    if (begun && SendAll(server.get(), rest)) Relay(client, server.get());
  }

  void Report(const ProxyRequest& request) {
    if (reported_.fetch_add(1) >= kMaxReportedRefusals) return;
    const std::string line = fmt::format("refused {}:{}\n", request.host, request.port);
    (void)WriteAll(report_, line);  // One write: lines of several threads do not mix.
  }

  const Texts& hosts_;
  const int report_;
  std::atomic<int> open_ = 0;
  std::atomic<int> reported_ = 0;
};

void CloseAllBut(const ProxyEnds& ends) {
  std::array keep = {ends.control, ends.report};
  std::ranges::sort(keep);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0)
      ::dup2(null, fd);
    else
      ::close(fd);
  }
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (static_cast<unsigned>(fd) > from) ::close_range(from, static_cast<unsigned>(fd) - 1, 0);
    from = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(from, ~0U, 0);
}

}  // namespace

namespace {

/// One byte, with room for one descriptor beside it. It points into itself.
struct DescriptorMessage {
  DescriptorMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
};

}  // namespace

Status SendDescriptor(int socket, int descriptor) {
  DescriptorMessage sent;
  cmsghdr* header = CMSG_FIRSTHDR(&sent.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (::sendmsg(socket, &sent.message, MSG_NOSIGNAL) != 1)
    return FailSystem(errno, "send a socket");
  return {};
}

Fd ReceiveDescriptor(int socket) {
  DescriptorMessage received;
  if (::recvmsg(socket, &received.message, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* header = CMSG_FIRSTHDR(&received.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return Fd(descriptor);
}

void ServeProxy(const Texts& hosts, const ProxyEnds& ends) {
  ::prctl(PR_SET_NAME, "stet-proxy");
  ::prctl(PR_SET_DUMPABLE, 0);  // No process of the user may trace it or read its memory.
  CloseAllBut(ends);
  const Fd command(static_cast<int>(::syscall(SYS_pidfd_open, ends.command, 0)));
  const Fd listener = ReceiveDescriptor(ends.control);
  if (!command || !listener) ::_exit(0);
  ::close(ends.control);
  Proxy proxy(hosts, ends.report);
  for (;;) {
    std::array<pollfd, 2> fds{{{.fd = command.get(), .events = POLLIN, .revents = 0},
                               {.fd = listener.get(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), -1);
    if (fds[0].revents != 0) ::_exit(0);
    if (fds[1].revents == 0) continue;
    Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client) proxy.Admit(std::move(client));
  }
}

}  // namespace stet::sandbox
