#include "client/remote_live.h"

#include <utility>

#include "base/random.h"
#include "client/remote_session.h"
#include "client/remote_thread.h"
#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

ConnectionOptions ConnectionOf(const RemoteOptions& options) {
  ConnectionOptions out;
  out.dial = options.dial;
  if (!out.dial) {
    out.dial = [endpoint = options.endpoint](Loop& loop, CancelToken cancel) {
      return rpc::Dial(loop, endpoint, std::move(cancel));
    };
  }
  out.token = options.token;
  out.name = options.name;
  out.backoff = options.backoff;
  out.on_state = options.on_state;
  return out;
}

/// Whether opening it again changes nothing.
bool IsRepeatable(const protocol::Attach& attach) {
  return attach.session_id && !attach.fork && !attach.at;
}

/// How to open it once more, as it was opened.
protocol::Attach Again(protocol::Attach attach, const std::string& session_id) {
  attach.session_id = session_id;
  attach.new_session_id.reset();
  attach.fork = false;
  attach.at.reset();
  attach.append_system_prompt.clear();  // Part of the session since.
  return attach;
}

class Remote final : public RemoteLive {
 public:
  explicit Remote(const RemoteOptions& options)
      : thread_(options.seed != 0 ? options.seed : SystemSeed(), ConnectionOf(options)),
        link_{
            .thread = thread_,
            .environment = options.endpoint.unix_path.empty() ? std::nullopt : options.environment,
            .patience = options.patience} {}

  Result<std::unique_ptr<LiveSession>> Attach(const protocol::Attach& attach, Watcher watcher,
                                              std::shared_ptr<Services> services) override {
    protocol::Attach wanted = attach;
    wanted.environment = link_.environment;
    ASSIGN_OR_RETURN(const protocol::LiveState state,
                     thread_.Call<method::SessionsOpen>(
                         wanted, {.within = link_.patience, .repeatable = IsRepeatable(attach)}));
    auto session = std::make_unique<RemoteSession>(link_, state.session_id);
    // The last event is where to go on from; what a face wants of the rest it asks for.
    RETURN_IF_ERROR(
        session->Begin(StreamOptions{.watcher = std::move(watcher), .recent = 1, .history = false},
                       Again(std::move(wanted), state.session_id), std::move(services)));
    return session;
  }

  Result<std::unique_ptr<LiveSession>> Watch(Watched watched) override {
    auto session = std::make_unique<RemoteSession>(link_, watched.session_id);
    RETURN_IF_ERROR(
        session->Begin({.watcher = std::move(watched.watcher), .recent = watched.recent}));
    return session;
  }

  void Abandon() override {
    thread_.loop().Post([this] {
      thread_.connection().Close({Code::kCancelled, "the host was not waited for any longer"});
    });
  }

  Result<std::string> Latest(const std::string& cwd) override {
    protocol::FolderParams params;
    params.cwd = cwd;
    ASSIGN_OR_RETURN(const protocol::SessionRef found,
                     thread_.Call<method::SessionsLatest>(params, {.within = link_.patience}));
    return found.session_id;
  }

  Result<protocol::Welcome> Welcome() override {
    RETURN_IF_ERROR(thread_.Call<method::HostStatus>({}, {.within = link_.patience}));
    return thread_.Run(
        [&] { return thread_.connection().welcome().value_or(protocol::Welcome()); });
  }

 private:
  Result<Raw> Ask(Request request) override { return thread_.Ask(std::move(request)); }

  RemoteThread thread_;
  RemoteLink link_;
};

}  // namespace

std::unique_ptr<RemoteLive> MakeRemoteLive(const RemoteOptions& options) {
  return std::make_unique<Remote>(options);
}

}  // namespace stet::client
