// Connection: a client's line to one host: says hello, asks, hands on what the host tells, and
// comes back when the line breaks. doc/format/wire.md is what it speaks.
//
// Belongs to the loop: everything is called, and calls back, on its thread. It keeps its clientId
// over reconnects. It tries again for ever, waiting longer each time, unless the host will not have
// it (kAuth, kDenied, kTooNew): then it is gone, and so is everything that was asked. Whatever the
// host says, it does not crash; what is no message of ours is passed over.
//
// While the host owes something, an answer or the news of a turn, and says nothing, it is pinged,
// so that a host that hangs is noticed. Otherwise nothing is sent that was not asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/result.h"
#include "client/services.h"
#include "protocol/wire.h"
#include "rpc/channel.h"

namespace stet::client {

enum class LinkState {
  kConnecting,    // For the first time.
  kConnected,     // The host has said welcome.
  kReconnecting,  // The line broke.
  kGone,          // For good.
};

/// How long to wait before dialling again.
struct Backoff {
  std::chrono::milliseconds first{50};
  std::chrono::milliseconds most{5000};

  /// After `failed` attempts in a row: `first` doubled each time up to `most`, of which the second
  /// half is left to chance.
  [[nodiscard]] std::chrono::milliseconds After(int failed, Random& random) const;
};

/// One attempt to get a line.
struct Attempt {
  Loop& loop;
  CancelToken cancel;
  bool wanted = false;  // Something was asked that waits for the line.
  /// Says what takes its time, for people. May be called until the attempt's end.
  std::function<void(const std::string&)> tell;
};

using Dialer = std::function<Async<Result<std::unique_ptr<rpc::Channel>>>(Attempt)>;

struct ConnectionOptions {
  Dialer dial;
  std::string token;  // Empty: none.
  std::string name;   // Of the face, for people.
  Backoff backoff = {};
  std::chrono::milliseconds hello_time{10'000};  // For the welcome.
  /// Hears every change of the state and, while it is not connected, of the reason. May be empty.
  std::function<void(LinkState, const std::string& why)> on_state = {};
  /// How long a host that owes something may say nothing before it is pinged, and after the ping.
  std::chrono::milliseconds check_every{900};
  /// Hears that the connected host is silent, since when, and that it is not any more. May be
  /// empty.
  std::function<void(std::optional<std::chrono::steady_clock::time_point> since)> on_silence = {};
};

struct Request {
  std::string method;
  std::string params = "{}";
  /// The answer does not depend on how often it is asked: asked again when the line breaks.
  bool repeatable = false;
  std::chrono::milliseconds within{30'000};
};

/// Hears the pushes of one session.
class Follower {
 public:
  virtual ~Follower() = default;
  /// A line is there, new: subscribe. Nothing else was asked on it before.
  virtual void OnConnected() = 0;
  /// There will be no other.
  virtual void OnGone(const Error& why) = 0;
  /// The host will say something of the session unasked, as it does while a turn runs.
  [[nodiscard]] virtual bool expects_news() const { return false; }
  /// An EventPush, TransientPush or LivePush of the session. Must not destroy the connection.
  virtual void OnPush(const protocol::FromHost& push) = 0;
  /// The host asks for what was offered for the session; `done` as Services have it.
  virtual void OnAsked(const std::string& method, const Raw& params, const Services::Done& done);
};

class Connection {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;

  using Done = std::function<void(Result<Raw>)>;

  /// Dials at once. `loop` and `random` outlive it.
  Connection(Loop& loop, Random& random, ConnectionOptions options);
  /// Ends the line. Callers that still wait are told kCancelled.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `done` hears the answer, once, never inside this call: what the host says, kTimeout when it
  /// says nothing in time, or kUnavailable: the host could not be reached in time, or the line
  /// broke before the answer, and it may or may not have been done. Pushes that came before the
  /// answer were handed on before. kFull when kMaxWaiting wait already, and for what no frame
  /// carries.
  void Ask(Request request, Done done);

  /// Gone for good from now on, for this reason: callers that wait are told.
  void Close(const Error& why) { End(why); }

  /// One follower a session, until Unfollow. kConflict when there is one.
  Status Follow(const std::string& session_id, Follower& follower);
  void Unfollow(const std::string& session_id, const Follower& follower);

  [[nodiscard]] LinkState state() const { return state_; }
  /// Why it is not connected.
  [[nodiscard]] const Error& trouble() const { return trouble_; }
  /// What the host said of itself last; nothing before the first time.
  [[nodiscard]] const std::optional<protocol::Welcome>& welcome() const { return welcome_; }

 private:
  struct Waiting {
    Request request;
    Done done;
    std::unique_ptr<Timer> deadline;
    bool sent = false;  // On the line that is there now.
  };
  using Waitings = std::map<std::uint64_t, Waiting>;

  void Dial();
  void Dialled(Result<std::unique_ptr<rpc::Channel>> dialled);
  void SayHello();
  void Lost(const Error& why);
  void End(const Error& why);
  void DropChannel();
  void Enter(LinkState state, const std::string& why);
  void Hear(std::string_view frame);
  void Take(std::string_view message);
  void Take(const protocol::Welcome& welcome);
  void Take(const protocol::Bye& bye);
  void Take(const protocol::WireReply& reply);
  void Take(const protocol::WireRequest& request);
  void Reply(const std::string& request_id, const Result<Raw>& answer);
  void Push(const std::string& session_id, const protocol::FromHost& push);
  void ForEachFollower(const std::function<void(Follower&)>& call);
  void Transmit(std::uint64_t number, Waiting& waiting);
  void Answer(std::uint64_t number, Result<Raw> answer);
  void OutOfTime(std::uint64_t number);
  [[nodiscard]] bool expects_more() const;
  void WatchSilence();
  void CheckSilence();
  void EndSilence();

  Loop& loop_;
  Random& random_;
  ConnectionOptions options_;
  LinkState state_ = LinkState::kConnecting;
  std::string why_;  // As it was last told.
  Error trouble_;
  std::string client_id_;
  std::optional<protocol::Welcome> welcome_;
  std::unique_ptr<rpc::Channel> channel_;
  std::uint64_t line_ = 0;  // Counts channels: what an old one says is told apart.
  int failed_ = 0;          // Attempts since something useful came.
  CancelSource cancel_;
  Timer timer_;  // Until the next attempt, or for the welcome.
  Timer check_;  // Runs while the host owes something.
  bool checking_ = false;
  bool pinged_ = false;                          // Nothing was heard since.
  bool silent_ = false;                          // As it was told.
  std::chrono::steady_clock::time_point heard_;  // The last frame, or since when it owes something.
  std::uint64_t last_number_ = 0;
  Waitings waiting_;
  std::map<std::string, Follower*, std::less<>> followers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace stet::client
