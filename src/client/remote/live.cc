#include "client/remote/live.h"

#include <utility>

#include "base/random.h"
#include "client/remote/session.h"
#include "client/remote/thread.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

ConnectionOptions ConnectionOf(const RemoteOptions& options) {
  ConnectionOptions out;
  out.dial = options.dial;
  if (!out.dial) {
    out.dial = [endpoint = options.endpoint](Attempt attempt) {
      return rpc::Dial(attempt.loop, endpoint, std::move(attempt.cancel));
    };
  }
  out.token = options.token;
  out.name = options.name;
  out.backoff = options.backoff;
  return out;
}

/// Whether opening it again changes nothing.
bool IsRepeatable(const protocol::Attach& attach) {
  return attach.session_id && !attach.fork && !attach.at;
}

/// How to open it once more. What the log keeps is as it is by then, not as it was at first.
protocol::Attach Again(protocol::Attach attach, const std::string& session_id) {
  attach.session_id = session_id;
  attach.new_session_id.reset();
  attach.fork = false;
  attach.at.reset();
  attach.append_system_prompt.clear();  // Part of the session since.
  attach.model.clear();
  attach.effort.reset();
  attach.mode.clear();
  return attach;
}

class Remote final : public RemoteLive {
 public:
  explicit Remote(const RemoteOptions& options)
      : thread_(options.seed != 0 ? options.seed : SystemSeed(), Noted(ConnectionOf(options))),
        link_{
            .thread = thread_,
            .environment = options.endpoint.unix_path.empty() ? std::nullopt : options.environment,
            .patience = options.patience} {}

  void Attach(const protocol::Attach& attach, FaceSide face,
              Reply<std::unique_ptr<LiveSession>> reply) override {
    protocol::Attach wanted = attach;
    wanted.environment = link_.environment;
    const CallOptions options{.within = link_.patience, .repeatable = IsRepeatable(attach)};
    const auto opened = [this, wanted, face = std::move(face),
                         reply = std::move(reply)](const Result<protocol::LiveState>& state) {
      if (!state) return reply(std::unexpected(state.error()));
      // The last event is where to go on from; what a face wants of the rest it asks for.
      Begin(state->session_id,
            {.options = {.watcher = face.watcher,
                         .recent = 1,
                         .history = false,
                         .turn_id = state->turn_id},
             .reopen = Again(wanted, state->session_id),
             .services = face.services},
            reply);
    };
    thread_.loop().Post([this, wanted, options, opened] {
      client::Call<method::SessionsOpen>(thread_.connection(), wanted, options, opened);
    });
  }

  void Watch(Watched watched, Reply<std::unique_ptr<LiveSession>> reply) override {
    thread_.loop().Post([this, watched = std::move(watched), reply = std::move(reply)] {
      Begin(watched.session_id,
            {.options = {.watcher = watched.watcher, .recent = watched.recent},
             .reopen = {},
             .services = nullptr},
            reply);
    });
  }

  void Abandon() override {
    thread_.loop().Post([this] {
      thread_.connection().Close({Code::kCancelled, "the host was not waited for any longer"});
    });
  }

  void WatchLink(std::function<void(Link)> told) override {
    thread_.loop().Post([this, told = std::move(told)] {
      told_ = told;
      told_(link_now_);
    });
  }

  void Latest(const std::string& cwd, Reply<std::string> reply) override {
    protocol::FolderParams params;
    params.cwd = cwd;
    Call<method::SessionsLatest>(params, {.within = link_.patience},
                                 [reply = std::move(reply)](Result<protocol::SessionRef> found) {
                                   if (!found) return reply(std::unexpected(found.error()));
                                   reply(std::move(found->session_id));
                                 });
  }

  void Welcome(Reply<protocol::Welcome> reply) override {
    Call<method::HostStatus>(
        {}, {.within = link_.patience},
        [this, reply = std::move(reply)](const Result<protocol::HostStatus>& status) {
          if (!status) return reply(std::unexpected(status.error()));
          reply(thread_.connection().welcome().value_or(protocol::Welcome()));
        });
  }

 private:
  /// How a session is followed.
  struct Following {
    StreamOptions options;
    std::optional<protocol::Attach> reopen;
    std::shared_ptr<Services> services;
  };

  /// With every change of the line noted.
  ConnectionOptions Noted(ConnectionOptions options) {
    options.on_state = [this](LinkState state, const std::string& why) {
      Note({.connected = state == LinkState::kConnected, .why = why});
    };
    options.on_silence = [this](std::optional<std::chrono::steady_clock::time_point> since) {
      Note({.connected = link_now_.connected, .why = link_now_.why, .silent_since = since});
    };
    return options;
  }
  void Note(Link link) {
    link_now_ = std::move(link);
    if (told_) told_(link_now_);
  }

  void Ask(Request request, Connection::Done done) override {
    thread_.loop().Post([this, request = std::move(request), done = std::move(done)] {
      thread_.connection().Ask(request, done);
    });
  }

  /// On the thread. The hold is handed over once the host has taken the subscription.
  void Begin(const std::string& session_id, Following following,
             const Reply<std::unique_ptr<LiveSession>>& reply) {
    const auto session = std::make_shared<std::unique_ptr<RemoteSession>>(
        std::make_unique<RemoteSession>(link_, session_id));
    (*session)->Begin(std::move(following.options), std::move(following.reopen),
                      std::move(following.services), [session, reply](const Status& begun) {
                        std::unique_ptr<RemoteSession> held = std::move(*session);
                        if (!begun) return reply(std::unexpected(begun.error()));
                        reply(std::move(held));
                      });
  }

  Link link_now_{.connected = false, .why = ""};  // The thread's, as is `told_`.
  std::function<void(Link)> told_;
  RemoteThread thread_;
  RemoteLink link_;
};

}  // namespace

std::unique_ptr<RemoteLive> MakeRemoteLive(const RemoteOptions& options) {
  return std::make_unique<Remote>(options);
}

}  // namespace stet::client
