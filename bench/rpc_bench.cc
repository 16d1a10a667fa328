// rpc_bench: what it costs a host to speak to its clients: the processor time of a frame to ten
// clients at once, and how long a small message and its answer take. One JSON line per measurement.
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "base/temp_dir.h"
#include "bench/measure.h"
#include "rpc/limits.h"

namespace stet::bench {
namespace {

constexpr int kClients = 10;
constexpr int kTicks = 3000;  // One frame to every client, each.
constexpr std::size_t kFrame = 5000;
constexpr int kTrips = 20'000;
constexpr std::size_t kSmall = 200;

double ThreadCpuUs() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
}

/// Text as a host sends it: half of it repeats.
std::string FrameText(Random& random) {
  std::string text;
  while (text.size() < kFrame)
    text += fmt::format(R"({{"type":"transient","sessionId":"s_01","delta":"{}"}})"
                        "\n",
                        RandomName(random, 60));
  text.resize(kFrame);
  return text;
}

/// Clients in a thread of their own: what they cost is not the host's.
class Clients {
 public:
  Clients(rpc::Endpoint endpoint, int count, rpc::ChannelEvents events)
      : endpoint_(std::move(endpoint)), events_(std::move(events)) {
    for (int i = 0; i < count; ++i) loop_.Spawn(Join());
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Clients() {
    loop_.Stop();
    thread_.join();
    channels_.clear();
  }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  Loop& loop() { return loop_; }
  /// In the clients' thread.
  rpc::Channel& first() { return *channels_.front(); }

 private:
  Async<void> Join() {
    auto channel = co_await rpc::Dial(loop_, endpoint_, CancelToken());
    CHECK(channel, "the server is there");
    (*channel)->Start(events_);
    channels_.push_back(*std::move(channel));
  }

  rpc::Endpoint endpoint_;
  rpc::ChannelEvents events_;
  Loop loop_;
  std::vector<std::unique_ptr<rpc::Channel>> channels_;
  std::thread thread_;
};

class Bench {
 public:
  Status Run() {
    RETURN_IF_ERROR(Listen(false));
    Stream("unix", Local());
    Stream("tcp", Tcp());
    RoundTrips("unix", Local());
    RoundTrips("tcp", Tcp());
    RETURN_IF_ERROR(Listen(true));
    Stream("tcp, compressed", Tcp());
    return {};
  }

 private:
  Status Listen(bool compress) {
    server_.reset();
    rpc::ServerEvents events{
        .admit = [](const rpc::HttpRequest&) { return Status(); },
        .channel = [this](std::unique_ptr<rpc::Channel> channel,
                          const rpc::Peer&) { on_channel_(std::move(channel)); },
        .request = [](const rpc::HttpRequest&, std::unique_ptr<rpc::HttpReply>) {}};
    const rpc::ListenOptions options{.unix_path = Local().unix_path, .address = "127.0.0.1"};
    ASSIGN_OR_RETURN(server_, rpc::ListenWith(loop_, options, std::move(events),
                                              rpc::Limits{.compress_loopback = compress}));
    return {};
  }

  [[nodiscard]] rpc::Endpoint Local() const { return {.unix_path = dir_.Sub("s")}; }
  [[nodiscard]] rpc::Endpoint Tcp() const {
    const std::string address = server_->address();
    const int port = std::stoi(address.substr(address.rfind(':') + 1));
    return {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)};
  }

  void Stream(std::string_view where, const rpc::Endpoint& endpoint) {
    std::vector<std::unique_ptr<rpc::Channel>> channels;
    int drained = 0;
    on_channel_ = [&](std::unique_ptr<rpc::Channel> channel) {
      channel->Start({.drained = [&] { ++drained; }});
      channels.push_back(std::move(channel));
      if (channels.size() == kClients) loop_.Stop();
    };
    Clients clients(endpoint, kClients, {});
    loop_.Run();

    Random random(1);
    std::vector<std::string> texts;
    for (int i = 0; i < 64; ++i) texts.push_back(FrameText(random));
    Timer timer(loop_);
    int ticks = 0;
    std::size_t most_queued = 0;
    std::function<void()> tick = [&] {
      for (const auto& channel : channels) {
        most_queued = std::max(most_queued, channel->queued());
        channel->Send(texts[static_cast<std::size_t>(ticks) % texts.size()]);
      }
      if (++ticks == kTicks) return loop_.Stop();
      timer.Start(std::chrono::milliseconds(1), tick);
    };
    timer.Start(std::chrono::milliseconds(1), tick);
    const double before = ThreadCpuUs();
    const Stopwatch watch;
    loop_.Run();
    const double cpu_us = ThreadCpuUs() - before;
    fmt::print(R"({{"what":"frames","where":"{}","clients":{},"bytes":{},"frames":{},)"
               R"("frames_per_s":{:.0f},"cpu_us_per_frame":{:.2f},"most_queued":{}}})"
               "\n",
               where, kClients, kFrame, kTicks * kClients, kTicks * kClients / (watch.ms() / 1000),
               cpu_us / (kTicks * kClients), most_queued);
  }

  void RoundTrips(std::string_view where, const rpc::Endpoint& endpoint) {
    std::unique_ptr<rpc::Channel> server_side;
    on_channel_ = [&](std::unique_ptr<rpc::Channel> channel) {
      server_side = std::move(channel);
      server_side->Start(
          {.frame = [&](std::string_view frame) { server_side->Send(std::string(frame)); }});
      loop_.Stop();
    };
    std::vector<double> times;
    const std::string text(kSmall, 'x');
    std::unique_ptr<Clients> clients;
    auto sent = std::chrono::steady_clock::now();
    const auto answered = [&](std::string_view) {
      const auto now = std::chrono::steady_clock::now();
      times.push_back(std::chrono::duration<double, std::micro>(now - sent).count());
      if (times.size() == kTrips) return loop_.Stop();
      sent = now;
      clients->first().Send(text);
    };
    clients = std::make_unique<Clients>(endpoint, 1, rpc::ChannelEvents{.frame = answered});
    loop_.Run();
    server_side->Send("begin");
    loop_.Run();
    clients.reset();
    std::ranges::sort(times);
    fmt::print(
        R"({{"what":"round_trip","where":"{}","bytes":{},"median_us":{:.1f},"p99_us":{:.1f}}})"
        "\n",
        where, kSmall, times[times.size() / 2], times[times.size() * 99 / 100]);
  }

  TempDir dir_;
  Loop loop_;
  std::function<void(std::unique_ptr<rpc::Channel>)> on_channel_;
  std::unique_ptr<rpc::Server> server_;
};

int Main() {
  Bench bench;
  const Status done = bench.Run();
  if (!done) fmt::print(stderr, "rpc_bench: {}\n", done.error().Text());
  return done ? 0 : 1;
}

}  // namespace
}  // namespace stet::bench

int main() { return stet::bench::Main(); }
