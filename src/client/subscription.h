// Subscription: keeps one session's stream going over a connection: subscribes, and does so again
// after every reconnect with what the stream knows.
//
// Belongs to the connection's loop; dies before the connection. When the host will not go on with
// the session, the turns that are open are told to have ended, so that no face waits for ever.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/loop.h"
#include "client/connection.h"
#include "client/stream.h"
#include "protocol/live.h"

namespace stet::client {

class Subscription final : public Follower {
 public:
  using Ready = std::function<void(Status)>;

  /// `reopen`: how the host is asked to open the session after a reconnect; absent: it is not.
  /// `services` are offered each time; null: none.
  Subscription(Loop& loop, Connection& connection, std::string session_id, StreamOptions options,
               std::optional<protocol::Attach> reopen = {},
               std::shared_ptr<Services> services = nullptr);
  ~Subscription() override;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  /// `ready` hears once whether the host has taken the subscription, and why not after `within`.
  void Start(std::chrono::milliseconds within, Ready ready);

  Stream& stream() { return stream_; }
  [[nodiscard]] const std::string& session_id() const { return session_id_; }

  [[nodiscard]] bool expects_news() const override { return stream_.has_open_turn(); }
  void OnConnected() override;
  void OnGone(const Error& why) override;
  void OnPush(const protocol::FromHost& push) override;
  void OnAsked(const std::string& method, const Raw& params, const Services::Done& done) override;

 private:
  void Reopen();
  void Join();
  void OfferServices();
  void Subscribed(const Result<protocol::Subscribed>& told);
  void CheckTurns();
  void AskEnd(const std::string& turn_id);
  void Finish(Status status);

  Connection& connection_;
  const std::string session_id_;
  Stream stream_;
  const std::optional<protocol::Attach> reopen_;
  const std::shared_ptr<Services> services_;
  bool begun_ = false;  // It has subscribed before.
  Ready ready_;
  Timer deadline_;
  Timer retry_;
  std::uint64_t asked_ = 0;  // Counts subscriptions: an answer to an old one is told apart.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace stet::client
