#include "face/waits.h"

#include <fmt/format.h>

namespace stet::face {

std::uint64_t Waits::Begin(std::string_view what) {
  open_[++last_] = {std::string(what), clock_.Steady()};
  return last_;
}

bool Waits::long_ones() const {
  return !open_.empty() && clock_.Steady() - open_.begin()->second.since >= kUnsaid;
}

std::string Waits::Row() const {
  if (!long_ones()) return "";
  const Wait& first = open_.begin()->second;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.Steady() - first.since);
  return fmt::format("waiting for the host: {}, {} s  Ctrl-C leaves", first.what, seconds.count());
}

}  // namespace stet::face
