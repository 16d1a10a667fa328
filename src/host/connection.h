// Connection: one client of a host: it says what it is called, asks, is answered, and hears the
// sessions that it subscribed to.
//
// What it is told is gathered into at most one frame per kFlush. A client that takes nothing for
// the host's patience is sent away. Belongs to the loop; owned by the host.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "client/services.h"
#include "host/admission.h"
#include "host/caller.h"
#include "host/feed.h"
#include "host/hosted.h"
#include "host/line.h"
#include "protocol/wire.h"
#include "rpc/channel.h"
#include "rpc/server.h"

namespace stet::host {

class Host;

class Connection final : public Outlet,
                         public Line,
                         public std::enable_shared_from_this<Connection> {
 public:
  static constexpr std::chrono::milliseconds kFlush{10};
  static constexpr std::chrono::seconds kHelloTime{5};
  /// Requests of one client that are being answered; more wait in its socket's buffers.
  static constexpr std::size_t kMaxOpen = 256;
  /// What a client may send before it is known.
  static constexpr std::size_t kMaxHello = std::size_t{64} << 10;
  /// Bytes that wait for a client to take them. Beyond it no request of the client is answered with
  /// more than an error, and at twice as much the client is sent away.
  static constexpr std::size_t kMaxUntaken = std::size_t{32} << 20;
  /// Requests to one client that are not answered.
  static constexpr std::size_t kMaxAsked = 256;

  Connection(Host& host, std::unique_ptr<rpc::Channel> channel, rpc::Peer peer);
  ~Connection() override;

  void Start();
  /// Says why, and ends.
  void SendAway(const Error& why);
  [[nodiscard]] bool greeted() const { return caller_.has_value(); }
  /// The client's id, if it hears the session.
  [[nodiscard]] std::optional<std::string> HearerOf(const std::string& session_id) const;

  /// Whether the client has opened the session, and has it open.
  [[nodiscard]] bool Holds(const std::string& session_id) const {
    return held_.contains(session_id);
  }
  [[nodiscard]] std::string client_id() const { return caller_ ? caller_->client_id : ""; }

  void Push(std::shared_ptr<const std::string> message) override;
  [[nodiscard]] std::size_t waiting() const override;

  Result<protocol::Subscribed> Subscribe(const protocol::Subscribe& wanted) override;
  void Hold(const std::string& session_id) override;
  void Forget(const std::string& session_id) override;
  Status Offer(const protocol::Offer& offer) override;

  /// Asks the client for what it has offered for a session. `done` hears its answer, or
  /// kUnavailable when the offer ends; never when it says nothing.
  void Ask(const std::string& session_id, const std::string& method, const Raw& params,
           client::Services::Done done);

 private:
  void OnFrame(std::string_view frame);
  void OnMessage(std::string_view message);
  void OnHello(const protocol::Hello& hello);
  void OnRequest(protocol::WireRequest request);
  void OnReply(const protocol::WireReply& reply);
  void DropOffer(const std::string& session_id);
  void LetGoOfAll();
  Async<void> Answer(std::shared_ptr<Connection> self, protocol::WireRequest request);
  void Reply(const std::string& request_id, const Result<std::string>& result,
             std::optional<std::int64_t> pid = {});
  void Say(std::string_view message);
  void Flush();
  void OnDrained();
  void Watch();
  void End();

  Host& host_;
  std::unique_ptr<rpc::Channel> channel_;
  const rpc::Peer peer_;
  std::optional<Caller> caller_;  // With the next: from its hello on.
  std::optional<Admission> admission_;
  struct HeardSession {
    std::shared_ptr<Hosted> session;  // Outlives the feed.
    std::unique_ptr<Feed> feed;
    bool answered = false;  // The client was told where it begins.
  };
  std::map<std::string, HeardSession> feeds_;
  std::set<std::string> held_;
  struct ServedSession {
    std::shared_ptr<Hosted> session;
    std::shared_ptr<client::Services> services;
  };
  std::map<std::string, ServedSession> served_;
  struct Asked {
    std::string session_id;
    client::Services::Done done;
  };
  std::map<std::string, Asked> asked_;
  std::uint64_t last_asked_ = 0;
  std::string out_;  // Gathered for the next frame.
  std::chrono::steady_clock::time_point flushed_;
  Timer flush_timer_;
  bool flush_waits_ = false;
  Timer watch_;              // The hello, then whether anything is taken.
  std::uint64_t given_ = 0;  // Bytes to the channel, ever.
  std::uint64_t taken_ = 0;  // Of them, by the client, when it was last looked at.
  std::chrono::steady_clock::time_point taken_at_;
  bool watching_ = false;
  std::size_t open_ = 0;
  bool leaving_ = false;  // It was told to go: nothing more is heard from it.
  bool ended_ = false;
};

}  // namespace stet::host
