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
  return fmt::format("waiting for the host: {}, {} s  Ctrl-C leaves", first.what,
                     SecondsSince(first.since));
}

std::string Waits::Row(const client::Link& link) const {
  if (!link.connected)
    return fmt::format("the connection to the host is lost ({}): trying again  {}", link.why,
                       Row());
  // What is waited for says so already.
  if (!link.silent_since || long_ones()) return Row();
  return fmt::format("the host has not answered for {} s  Ctrl-C twice leaves",
                     SecondsSince(*link.silent_since));
}

std::int64_t Waits::SecondsSince(std::chrono::steady_clock::time_point then) const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.Steady() - then).count();
}

}  // namespace stet::face
