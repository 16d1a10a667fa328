// Account: keeps the books on prefixes for one session: what the last request of each purpose was,
// and what the servers are taken to have cached.
//
// A request is announced with Begin and settled with End; in between there is at most one of its
// purpose. All of it is told from the log and the requests, so another process that makes the last
// request again and gives it to Prime goes on with the same books, but for what was cached before
// that. Owned by the session's lane; not thread-safe. Nothing here fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "context/prefix.h"
#include "context/server_cache.h"
#include "log/log.h"
#include "protocol/work.h"
#include "provider/dialect.h"
#include "provider/model.h"

namespace stet::context {

class Account {
 public:
  /// Everything is forgotten when there are more models than that.
  static constexpr std::size_t kMaxModels = 8;

  /// `clock` must outlive the account.
  explicit Account(const Clock& clock = SystemClock()) : clock_(clock) {}

  /// What a model_call would record of this request.
  [[nodiscard]] protocol::Prefix Foresee(const std::string& purpose, const provider::Model& model,
                                         const provider::WireRequest& wire,
                                         const log::Log& log) const;

  /// The same, of a request that is sent now.
  protocol::Prefix Begin(const std::string& purpose, const provider::Model& model,
                         const provider::WireRequest& wire, const log::Log& log);
  /// It was answered, by `model`, with this usage; absent when nothing is known of it.
  void End(const std::string& purpose, const protocol::OptionalUsage& usage);

  /// A request that another process sent at `at`, when the log had `events` events.
  void Prime(const std::string& purpose, const provider::Model& model,
             const provider::WireRequest& wire, const protocol::OptionalUsage& usage, Millis at,
             std::size_t events);

 private:
  struct Request {
    Print print;
    CacheRules rules;
    Millis at = 0;
    std::size_t events = 0;  // In the log when it was sent.
    ServerCache::Hit hit;
    bool open = false;  // Not settled yet.
  };
  using Key = std::pair<std::string, std::string>;  // Purpose and model.

  [[nodiscard]] const ServerCache& CacheOf(const std::string& model) const;
  [[nodiscard]] const Request* LastOf(const std::string& purpose) const;
  [[nodiscard]] protocol::Prefix Judge(const std::string& purpose, const provider::Model& model,
                                       const Request& request, const log::Log& log) const;
  [[nodiscard]] Request Look(const provider::Model& model, const provider::WireRequest& wire,
                             Millis at, std::size_t events) const;
  void Keep(const std::string& purpose, Request request);

  const Clock& clock_;
  std::map<Key, Request> last_;
  std::map<std::string, ServerCache> caches_;  // By model.
};

}  // namespace stet::context
