// host_bench: measures a host, the real program, with many sessions and clients. One JSON line per
// measurement.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "base/clock.h"
#include "base/loop_thread.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "bench/measure.h"
#include "client/await.h"
#include "client/remote/live.h"
#include "emulator/emulator.h"
#include "json/view.h"
#include "protocol/methods.h"
#include "rpc/dial.h"

namespace stet::bench {
namespace {

constexpr int kSessions = 1000;
constexpr int kClients = 10;
constexpr int kStreaming = 50;
constexpr int kRegistered = 10'000;

constexpr std::string_view kHelp =
    R"(host_bench: measures a host, one JSON line per measurement.

  start    from exec to listening, with 10,000 sessions in the data folder
  open     1,000 sessions opened, with 10 clients that hear all of them: memory, idle CPU
  stream   50 of them stream 200 deltas a second each: how old a delta is when a client has it

  host_bench [PROGRAM]   the stet to measure; the one of this build by default

Measure on a quiet machine, with a release build.
)";

/// What a process has used of the CPU, in ms.
double CpuMs(std::int64_t pid) {
  const std::string stat = ReadFile(fmt::format("/proc/{}/stat", pid)).value_or("");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  const char* rest = stat.c_str() + end + 2;
  for (int field = 0; field < 11; ++field) rest = std::strchr(rest, ' ') + 1;
  char* next = nullptr;
  const double user = std::strtod(rest, &next);
  const double system = std::strtod(next, nullptr);
  return (user + system) * 1000.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Hears everything, and notes how old transients are.
class Ear {
 public:
  explicit Ear(const std::string& socket) {
    thread_.Start();
    rpc::Endpoint endpoint;
    endpoint.unix_path = socket;
    auto dialled = thread_.Await<Result<std::unique_ptr<rpc::Channel>>>([&] {
      const CancelToken never;
      return rpc::Dial(thread_.loop(), endpoint, never);
    });
    if (!dialled) return;
    channel_ = *std::move(dialled);
    thread_.Call([this] {
      channel_->Start({.frame = [this](std::string_view frame) { Hear(frame); },
                       .drained = [] {},
                       .closed = [](const Error&) {}});
      return true;
    });
    Say(R"({"type":"hello","version":1,"clientId":"bench"})");
  }
  ~Ear() {
    thread_.Call([this] {
      channel_.reset();
      return true;
    });
  }

  void Say(const std::string& message) {
    thread_.Call([&] {
      if (channel_) channel_->Send(message);
      return true;
    });
  }
  void Subscribe(const std::string& session_id) {
    Say(R"({"type":"request","requestId":"s","method":"session.subscribe","params":{"recent":0,"sessionId":")" +
        session_id + "\"}}");
  }
  std::vector<double> TakeAges() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ages_, {});
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void Hear(std::string_view frame) {
    const auto now = static_cast<double>(SystemClock().Now());
    bytes_ += frame.size();
    const std::lock_guard lock(mutex_);
    while (!frame.empty()) {
      const std::size_t end = std::min(frame.find('\n'), frame.size());
      const std::string_view message = frame.substr(0, end);
      // "ts" of a transient: when the host had it.
      const std::size_t at = message.find("\"ts\":");
      if (message.starts_with(R"({"type":"transient")") && message.contains("text_delta") &&
          at != std::string_view::npos)
        ages_.push_back(now - std::strtod(message.data() + at + 5, nullptr));
      frame.remove_prefix(std::min(end + 1, frame.size()));
    }
  }

  LoopThread thread_;
  std::unique_ptr<rpc::Channel> channel_;
  std::mutex mutex_;
  std::vector<double> ages_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

class Bench {
 public:
  explicit Bench(std::string program) : program_(std::move(program)) {}

  Status Run() {
    ASSIGN_OR_RETURN(emulator_, emulator::Emulator::Start(R"({"replies":[{"times":0,"delta":8,
      "pauseMs":5,"blocks":[{"text":")" + std::string(16'000, 'x') +
                                                          R"("}]}]})"));
    RETURN_IF_ERROR(MakeDirs(project_));
    RETURN_IF_ERROR(MakeDirs(home_));
    RETURN_IF_ERROR(ReplaceFile(home_ + "/config.toml",
                                fmt::format("[model]\ntype = 'custom'\nid = 'm'\napi = "
                                            "'anthropic-messages'\nbaseUrl = '{}'\n",
                                            emulator_->base_url()),
                                Durable::kNo));
    RETURN_IF_ERROR(Start());
    RETURN_IF_ERROR(MeasureOpen());
    RETURN_IF_ERROR(MeasureStream());
    host_.reset();
    return MeasureStart();
  }

 private:
  Status Start() {
    SpawnOptions options;
    options.argv = {program_, "host", "serve"};
    options.env = {"STET_HOME=" + home_, "HOME=" + home_, "PATH=/usr/bin:/bin", "IS_SANDBOX=1"};
    const Stopwatch watch;
    ASSIGN_OR_RETURN(Subprocess host, Subprocess::Start(std::move(options)));
    host_.emplace(std::move(host));
    client::RemoteOptions to;
    to.endpoint.unix_path = home_ + "/host.sock";
    to.backoff = {.first = std::chrono::milliseconds(1), .most = std::chrono::milliseconds(1)};
    live_ = client::MakeRemoteLive(to);
    RETURN_IF_ERROR(client::Await(*live_, &client::RemoteLive::Welcome));
    started_ms_ = watch.ms();
    return {};
  }

  Result<protocol::HostStatus> Ask() {
    return client::Await(*live_, &client::RemoteLive::Call<protocol::method::HostStatus>,
                         protocol::method::HostStatus::Params(), client::CallOptions());
  }

  Status MeasureOpen() {
    const Stopwatch watch;
    for (int i = 0; i < kSessions; ++i) {
      protocol::Attach attach;
      attach.cwd = project_;
      attach.mode = "bypass";
      ASSIGN_OR_RETURN(
          const protocol::LiveState state,
          client::Await(*live_, &client::RemoteLive::Call<protocol::method::SessionsOpen>, attach,
                        client::CallOptions()));
      ids_.push_back(state.session_id);
    }
    const double opened = watch.ms();
    for (int i = 0; i < kClients; ++i) {
      ears_.push_back(std::make_unique<Ear>(home_ + "/host.sock"));
      for (const std::string& id : ids_) ears_.back()->Subscribe(id);
    }
    ASSIGN_OR_RETURN(protocol::HostStatus status, Ask());
    pid_ = status.pid;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const double before = CpuMs(pid_);
    std::this_thread::sleep_for(std::chrono::seconds(10));
    const double idle = (CpuMs(pid_) - before) / 100;
    ASSIGN_OR_RETURN(status, Ask());
    fmt::print(
        "{{\"name\":\"open\",\"sessions\":{},\"clients\":{},\"msEach\":{:.2f},\"rssMb\":{:.1f},"
        "\"idleCpuPercent\":{:.2f}}}\n",
        status.sessions, status.clients, opened / kSessions,
        static_cast<double>(status.memory_bytes) / 1e6, idle);
    return {};
  }

  Status MeasureStream() {
    for (auto& ear : ears_) ear->TakeAges();
    const double before = CpuMs(pid_);
    const Stopwatch watch;
    for (int i = 0; i < kStreaming; ++i) {
      protocol::Send send;
      send.how = "send";
      send.text = "go";
      send.session_id = ids_[static_cast<std::size_t>(i) * 7];
      RETURN_IF_ERROR(client::Await(*live_,
                                    &client::RemoteLive::Call<protocol::method::SessionSend>, send,
                                    client::CallOptions()));
    }
    std::this_thread::sleep_for(std::chrono::seconds(8));
    std::vector<double> ages;
    for (auto& ear : ears_) {
      const std::vector<double> heard = ear->TakeAges();
      ages.insert(ages.end(), heard.begin(), heard.end());
    }
    const double took = watch.ms();
    ASSIGN_OR_RETURN(const protocol::HostStatus status, Ask());
    std::ranges::sort(ages);
    const auto at = [&](double part) {
      return ages.empty()
                 ? -1.0
                 : ages[static_cast<std::size_t>(part * static_cast<double>(ages.size() - 1))];
    };
    fmt::print(
        "{{\"name\":\"stream\",\"working\":{},\"messages\":{},\"perSecond\":{:.0f},"
        "\"p50Ms\":{:.0f},\"p99Ms\":{:.0f},\"maxMs\":{:.0f},\"rssMb\":{:.1f},\"cpuPercent\":{:.0f}}"
        "}\n",
        status.working, ages.size(), static_cast<double>(ages.size()) * 1000 / took, at(0.5),
        at(0.99), at(1), static_cast<double>(status.memory_bytes) / 1e6,
        (CpuMs(pid_) - before) * 100 / took);
    ears_.clear();
    live_.reset();
    return {};
  }

  /// Copies of one session stand for the many.
  Status MeasureStart() {
    const std::string from = home_ + "/sessions/" + ids_[0];
    std::error_code error;
    for (int i = kSessions; i < kRegistered; ++i)
      std::filesystem::copy(from, fmt::format("{}/sessions/ses_bench{:011}", home_, i),
                            std::filesystem::copy_options::recursive, error);
    if (error) return Fail(Code::kIo, error.message());
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      RETURN_IF_ERROR(Start());
      times.push_back(started_ms_);
      live_.reset();
      host_.reset();
    }
    fmt::print("{{\"name\":\"start\",\"registered\":{},\"ms\":{:.1f}}}\n", kRegistered,
               Median(times));
    return {};
  }

  std::string program_;
  TempDir dir_;
  std::string home_ = dir_.path() + "/home";
  std::string project_ = dir_.path() + "/project";
  std::unique_ptr<emulator::Emulator> emulator_;
  std::optional<Subprocess> host_;
  std::unique_ptr<client::RemoteLive> live_;
  std::vector<std::unique_ptr<Ear>> ears_;
  std::vector<std::string> ids_;
  std::int64_t pid_ = 0;
  double started_ms_ = 0;
};

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fputs(std::string(stet::bench::kHelp).c_str(), stdout);
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const stet::Status done = stet::bench::Bench(argc == 2 ? argv[1] : STET_PROGRAM).Run();
  if (done) return 0;
  std::fprintf(stderr, "host_bench: %s\n", done.error().Text().c_str());
  return 1;
}
