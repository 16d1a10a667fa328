#include "base/thread.h"

#include <system_error>
#include <utility>

namespace stet {

Result<std::thread> StartThread(std::move_only_function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error&) {
    return Fail(Code::kUnavailable, "The system has no thread left. Try again.");
  }
}

}  // namespace stet
