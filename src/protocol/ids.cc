#include "protocol/ids.h"

#include <algorithm>
#include <iterator>

namespace stet::protocol {
namespace {

constexpr std::size_t kRandomLetters = 16;
constexpr std::size_t kMaxSessionId = 128;
constexpr std::size_t kMaxClientName = 64;

std::string NewId(std::string_view prefix, Random& random) {
  return std::string(prefix) + RandomName(random, kRandomLetters);
}

bool IsNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string NewSessionId(Random& random) { return NewId("ses_", random); }
std::string NewEventId(Random& random) { return NewId("e_", random); }
std::string NewToolCallId(Random& random) { return NewId("call_", random); }
std::string NewModelCallId(Random& random) { return NewId("mc_", random); }
std::string NewTurnId(Random& random) { return NewId("turn_", random); }
std::string NewDeviceId(Random& random) { return NewId("dev_", random); }
std::string NewRequestId(Random& random) { return NewId("req_", random); }
std::string NewQueueItemId(Random& random) { return NewId("q_", random); }
std::string NewPinId(Random& random) { return NewId("pin_", random); }
std::string NewOwedId(Random& random) { return NewId("owed_", random); }
std::string NewClientId(Random& random, std::string_view face) {
  constexpr std::size_t kMaxFace = 32;
  std::string name;
  std::ranges::copy_if(face.substr(0, kMaxFace), std::back_inserter(name), IsNameLetter);
  return NewId((name.empty() ? "client" : name) + "-", random);
}

bool IsClientName(std::string_view name) {
  constexpr std::string_view kReserved[] = {"host",   "cli",  "stet",      "model",    "user",
                                            "person", "hook", "extension", "workflow", "system"};
  return !name.empty() && name.size() <= kMaxClientName &&
         std::ranges::find(kReserved, name) == std::end(kReserved) &&
         std::ranges::all_of(name, [](char c) { return IsNameLetter(c) || c == '.'; });
}

bool IsSessionId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxSessionId && id.front() != '-' &&
         std::ranges::all_of(id, IsNameLetter);
}

}  // namespace stet::protocol
