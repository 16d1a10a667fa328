// Feed: one client's view of one session: everything since what the client knows, then what
// happens, each once and in order.
//
// It catches up from the log as fast as the client takes it, and goes on live from the hub. A
// client that falls behind is left out of what is live, and catches up from the log again: so a
// feed holds nothing back in memory. Belongs to the loop; dies before its session and its outlet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/hub.h"
#include "protocol/wire.h"

namespace stet::host {

/// What a feed is of: a session's log, and what is said of it live.
class FeedSource {
 public:
  virtual ~FeedSource() = default;
  [[nodiscard]] virtual const std::string& id() const = 0;
  virtual Hub& hub() = 0;

  /// The hub has what the log has. kNotFound when there is no such session.
  virtual Status Look() = 0;
  /// Events in file order, as stored, until `visit` answers false.
  using Visit = std::function<bool(std::uint64_t seq, std::string_view line)>;
  virtual Status ReadAfter(std::uint64_t seq, const Visit& visit) = 0;
  /// The last `count` events of the path, as stored.
  virtual Result<std::vector<std::string>> Recent(std::size_t count) = 0;
  /// Whether the log has this event there.
  virtual Result<bool> Has(std::uint64_t seq, std::string_view event_id) = 0;
};

/// Where a feed's messages go.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void Push(std::shared_ptr<const std::string> message) = 0;
  /// Bytes that wait for the client.
  [[nodiscard]] virtual std::size_t waiting() const = 0;
};

class Feed final : public HubListener {
 public:
  /// From here on what is live is left out, and below that there is room to catch up.
  static constexpr std::size_t kBehind = std::size_t{1} << 20;
  static constexpr std::size_t kRoom = std::size_t{256} << 10;

  Feed(FeedSource& session, Outlet& outlet);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Where it begins, as the client is told. Nothing is pushed before Pump.
  Result<protocol::Subscribed> Begin(const protocol::Subscribe& subscribe);
  /// Pushes what there is and what there is room for. To be called again when the client has taken
  /// what waited.
  void Pump();

  void OnItem(const HubItem& item) override;
  /// Nothing of what happens is left out.
  [[nodiscard]] bool live() const { return live_; }

 private:
  void PushEvent(std::string_view line);
  void GoLive();

  FeedSource& session_;
  Outlet& outlet_;
  bool live_ = false;
  bool resumes_ = false;      // From what the hub kept, after `cursor_`.
  std::uint64_t cursor_ = 0;  // The last event's seq that was pushed.
};

}  // namespace stet::host
