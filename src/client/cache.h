// Cache: the end of sessions that were attached to, on disk, so that the next time something is
// shown at once. Never the truth: what the host says replaces it.
//
// One file a session of a device, written whole or not at all; what is damaged, of another version
// or of another session is as if it were not there. Bounded: the last kMaxEvents of the path within
// kMaxBytes, and kMaxTotal in all, the oldest out. Safe from any thread and between processes;
// blocks on the disk.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/event.h"

namespace stet::client {

class Cache {
 public:
  static constexpr std::size_t kMaxEvents = 500;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxTotal = std::size_t{64} << 20;

  /// `folder` is made when something is kept in it, and has nothing else in it.
  explicit Cache(std::string folder, std::size_t max_total = kMaxTotal)
      : folder_(std::move(folder)), max_total_(max_total) {}

  /// The end of the path, the oldest first; empty when nothing is kept.
  [[nodiscard]] std::vector<protocol::Event> Load(const std::string& device_id,
                                                  const std::string& session_id) const;
  /// Keeps as much of the end as there is room for.
  [[nodiscard]] Status Store(const std::string& device_id, const std::string& session_id,
                             const std::vector<const protocol::Event*>& path) const;
  /// Nothing is kept of it any more.
  void Forget(const std::string& device_id, const std::string& session_id) const;

 private:
  [[nodiscard]] std::string PathOf(const std::string& device_id,
                                   const std::string& session_id) const;
  [[nodiscard]] Status Prune(const std::string& newest) const;

  std::string folder_;
  std::size_t max_total_;
};

}  // namespace stet::client
