// Listener: a socket that waits for connections, and says which peer each is from.
//
// Belongs to the loop. Calls back on it for every connection. When the process has no descriptor
// left it pauses for a moment instead of turning in circles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/loop.h"
#include "base/result.h"
#include "rpc/server.h"

namespace stet::rpc {

class Listener {
 public:
  using Accepted = std::function<void(Fd socket, Peer peer)>;

  /// Only the user may connect. kBusy when another process listens there; a socket that no process
  /// listens on is replaced; kConflict when the file of that name is no socket.
  static Result<std::unique_ptr<Listener>> Unix(Loop& loop, const std::string& path,
                                                Accepted accepted);
  /// `address` in numbers, or "localhost". Port 0: any.
  static Result<std::unique_ptr<Listener>> Tcp(Loop& loop, const std::string& address,
                                               std::uint16_t port, Accepted accepted);

  /// Removes the name of a unix socket, if it is still this one's.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// "127.0.0.1:7777", "[::1]:7777"; empty for a unix socket.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  Listener(Loop& loop, Fd socket, Accepted accepted);
  void Accept();

  Fd socket_;
  Accepted accepted_;
  std::string address_;
  std::string path_;
  std::uint64_t inode_ = 0;
  Timer pause_;
  FdWatch watch_;
};

}  // namespace stet::rpc
