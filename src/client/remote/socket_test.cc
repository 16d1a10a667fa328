// The client over a real socket.
#include <gtest/gtest.h>

#include "base/loop_thread.h"
#include "base/temp_dir.h"
#include "client/await.h"
#include "client/remote/live.h"
#include "rpc/server.h"

namespace stet::client {
namespace {

/// Welcomes every client, and answers every request with {}.
class TinyHost {
 public:
  explicit TinyHost(const std::string& path) {
    thread_.Start();
    thread_.Call([&] {
      rpc::ListenOptions options;
      options.unix_path = path;
      Result<std::unique_ptr<rpc::Server>> server = rpc::Server::Listen(
          thread_.loop(), options,
          {.admit = [](const rpc::HttpRequest&) { return Status(); },
           .channel = [this](std::unique_ptr<rpc::Channel> channel,
                             const rpc::Peer&) { Take(std::move(channel)); },
           .request = [](const rpc::HttpRequest&, std::unique_ptr<rpc::HttpReply>) {}});
      EXPECT_TRUE(server) << server.error().Text();
      if (server) server_ = *std::move(server);
      return true;
    });
  }
  ~TinyHost() {
    thread_.Call([&] {
      channels_.clear();
      server_.reset();
      return true;
    });
    thread_.Stop();
  }

  /// Ends every connection at once.
  void Cut() {
    thread_.Call([&] {
      channels_.clear();
      return true;
    });
  }
  int hellos() {
    return thread_.Call([&] { return hellos_; });
  }

 private:
  void Take(std::unique_ptr<rpc::Channel> channel) {
    rpc::Channel* at = channel.get();
    at->Start({.frame = [this, at](std::string_view frame) { Hear(*at, frame); },
               .drained = [] {},
               .closed = [](const Error&) {}});
    channels_.push_back(std::move(channel));
  }

  void Hear(rpc::Channel& channel, std::string_view frame) {
    const protocol::FromClient read = protocol::ReadFromClient(frame);
    if (const auto* hello = std::get_if<protocol::Hello>(&read)) {
      ++hellos_;
      protocol::Welcome welcome;
      welcome.version = protocol::kWireVersion;
      welcome.device_id = "d_1";
      welcome.client_id = hello->client_id;
      channel.Send(Encode(welcome));
    } else if (const auto* request = std::get_if<protocol::WireRequest>(&read)) {
      protocol::WireReply reply;
      reply.request_id = request->request_id;
      reply.result = Raw{"{}"};
      channel.Send(Encode(reply));
    }
  }

  LoopThread thread_;
  std::unique_ptr<rpc::Server> server_;
  std::vector<std::unique_ptr<rpc::Channel>> channels_;
  int hellos_ = 0;
};

TEST(RemoteSocketTest, ComesBackWheneverTheLineIsCut) {
  const TempDir dir;
  const std::string path = dir.Sub("host.sock");
  RemoteOptions options;
  options.endpoint.unix_path = path;
  options.backoff = {.first = std::chrono::milliseconds(1), .most = std::chrono::milliseconds(50)};
  // No host listens yet.
  const std::unique_ptr<RemoteLive> live = MakeRemoteLive(options);
  for (int round = 0; round < 3; ++round) {
    TinyHost host(path);
    for (int i = 1; i <= 3; ++i) {
      const Result<protocol::Welcome> welcome = Await(*live, &RemoteLive::Welcome);
      ASSERT_TRUE(welcome) << welcome.error().Text();
      EXPECT_EQ(welcome->device_id, "d_1");
      EXPECT_EQ(host.hellos(), i);
      host.Cut();
    }
  }
}

}  // namespace
}  // namespace stet::client
