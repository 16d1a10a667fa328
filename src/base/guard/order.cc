#include "base/guard/order.h"

#include <array>
#include <cerrno>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet::guard {
namespace {

/// In front of the strings, each of which ends with a NUL: cwd, box, the command's, the variables.
struct Head {
  std::uint32_t words = 0;
  std::uint32_t variables = 0;
  std::uint32_t own_processes = 0;
};

class Strings {
 public:
  explicit Strings(std::string_view rest) : rest_(rest) {}

  bool Next(std::string& into) {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return false;
    into = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool Next(std::vector<std::string>& into, std::uint32_t count) {
    for (std::string one; count > 0; --count) {
      if (!Next(one)) return false;
      into.push_back(std::move(one));
    }
    return true;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Result<std::string> ReadAll(int fd) {
  std::string bytes;
  std::array<char, std::size_t{32} << 10> buffer;
  for (;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailSystem(errno, "read an order");
    if (got == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<Fd> WriteOrder(const Order& order) {
  const Head head{.words = static_cast<std::uint32_t>(order.command.size()),
                  .variables = static_cast<std::uint32_t>(order.environment.size()),
                  .own_processes = order.own_processes ? 1U : 0U};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const auto add = [&](const std::string& text) { bytes.append(text.c_str(), text.size() + 1); };
  add(order.cwd);
  add(order.box);
  for (const std::string& word : order.command) add(word);
  for (const std::string& variable : order.environment) add(variable);
  Fd fd(::memfd_create("stet-order", MFD_CLOEXEC));
  if (!fd) return FailSystem(errno, "make a file in memory");
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

Result<Order> ReadOrder(int fd) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadAll(fd));
  Head head;
  if (bytes.size() < sizeof head) return Fail(Code::kInvalid, "the order is cut");
  bytes.copy(reinterpret_cast<char*>(&head), sizeof head);
  Strings strings(std::string_view(bytes).substr(sizeof head));
  Order order;
  order.own_processes = head.own_processes != 0;
  if (!strings.Next(order.cwd) || !strings.Next(order.box) ||
      !strings.Next(order.command, head.words) ||
      !strings.Next(order.environment, head.variables) || !strings.empty() || order.command.empty())
    return Fail(Code::kInvalid, "the order makes no sense");
  return order;
}

}  // namespace stet::guard
