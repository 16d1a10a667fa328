// A host with turns under way in many sessions is killed, again and again. Afterwards every client
// has the log as it is, nothing that was accepted is lost, and nothing with effects is done twice.
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/random.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "client/await.h"
#include "client/remote/live.h"
#include "emulator/emulator.h"
#include "log/log.h"
#include "tests/heard_events.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

constexpr int kSessions = 20;

struct Worker {
  std::string folder;
  std::string session_id;
  test::HeardEvents heard;
  std::unique_ptr<client::LiveSession> session;
  std::set<std::string> accepted;
  int sent = 0;
};

class HostKillTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("STET_BIN");
    ASSERT_NE(binary, nullptr) << "STET_BIN names the program";
    binary_ = binary;
    ASSERT_TRUE(MakeDirs(home_));
    auto started = emulator::Emulator::Start(R"({"replies":[
      {"when":{"hasToolResult":false},"times":0,
       "blocks":[{"call":{"name":"Bash","args":{"command":"echo x >> effects"}}}]},
      {"times":0,"blocks":[{"text":"It is done."}]}]})");
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    ASSERT_TRUE(ReplaceFile(home_ + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
                                emulator_->base_url() + "'\n",
                            Durable::kNo));
  }
  void TearDown() override { Kill(); }

  void StartHost() {
    SpawnOptions options;
    options.argv = {binary_, "host", "serve"};
    options.env = {"STET_HOME=" + home_, "HOME=" + home_, "PATH=/usr/bin:/bin", "IS_SANDBOX=1"};
    auto started = Subprocess::Start(std::move(options));
    ASSERT_TRUE(started) << started.error().Text();
    host_.emplace(*std::move(started));
  }
  void Kill() {
    if (!host_) return;
    ::kill(host_->pid(), SIGKILL);
    host_.reset();  // Waits for its end.
  }

  /// What the last host said, and whether it runs.
  std::string Said() {
    const bool ended = host_->Reap();
    host_->ReadOutput();
    if (!ended) return "runs: " + host_->TakeOutput();
    Finished finished = host_->TakeFinished();
    return "exited " + std::to_string(finished.exit_code) + ": " + finished.out + finished.err;
  }

  std::unique_ptr<client::RemoteLive> Client() const {
    client::RemoteOptions options;
    options.endpoint.unix_path = home_ + "/host.sock";
    options.patience = std::chrono::seconds(60);
    options.backoff = {.first = std::chrono::milliseconds(2),
                       .most = std::chrono::milliseconds(20)};
    return client::MakeRemoteLive(options);
  }

  void Open(Worker& worker, client::Live& live) const {
    ASSERT_TRUE(MakeDirs(worker.folder));
    protocol::Attach attach;
    attach.cwd = worker.folder;
    attach.mode = "bypass";
    auto opened = client::Await(live, &client::Live::Attach, attach,
                                client::FaceSide{worker.heard.Watcher()});
    ASSERT_TRUE(opened) << opened.error().Text();
    worker.session = *std::move(opened);
    worker.session_id = client::Await(*worker.session, &client::LiveSession::State)->session_id;
  }

  /// Whatever stands in the way, in the end it is accepted or refused because work is under way.
  void Send(Worker& worker) {
    protocol::Send send;
    send.how = "send";
    send.client_message_id = worker.session_id + "-" + std::to_string(worker.sent++);
    send.text = "go";
    const auto accepted = client::Await(*worker.session, &client::LiveSession::Send, send);
    ASSERT_TRUE(accepted) << accepted.error().Text() << "; the host: " << Said();
    worker.accepted.insert(*send.client_message_id);
  }

  void Check(Worker& worker) const {
    const auto log = log::Log::Open(home_ + "/sessions/" + worker.session_id, {});
    ASSERT_TRUE(log) << log.error().Text();
    std::vector<std::string> ids;
    std::set<std::string> sent;
    std::map<std::string, int> started;
    std::uint64_t last = 0;
    ASSERT_TRUE((*log)->Read(0, [&](const log::Entry& entry, std::string_view line) {
      const auto event = protocol::DecodeEvent(line);
      ids.push_back(event->id);
      last = entry.seq;
      if (const auto* message = std::get_if<protocol::UserMessage>(&event->payload))
        if (message->client_message_id) sent.insert(*message->client_message_id);
      if (const auto* update = std::get_if<protocol::QueueUpdate>(&event->payload))
        for (const protocol::QueueItem& item : update->items)
          sent.insert(item.client_message_id.value_or(""));
      if (const auto* start = std::get_if<protocol::ToolStarted>(&event->payload))
        ++started[start->tool_call_id];
      return true;
    }));
    for (const std::string& id : worker.accepted) EXPECT_TRUE(sent.contains(id)) << id;
    for (const auto& [call, times] : started) EXPECT_EQ(times, 1) << call;
    const std::string effects = ReadFile(worker.folder + "/effects").value_or("");
    EXPECT_LE(static_cast<std::size_t>(std::ranges::count(effects, '\n')), started.size());
    ASSERT_TRUE(worker.heard.AwaitSeq(last)) << worker.session_id;
    // All since the session was opened, in the order of the log.
    const std::vector<std::string> heard = worker.heard.Ids();
    ASSERT_GE(heard.size() + 5, ids.size()) << worker.session_id;
    ASSERT_LE(heard.size(), ids.size()) << worker.session_id;
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(heard.size()));
    EXPECT_EQ(heard, ids) << worker.session_id;
  }

  TempDir dir_;
  std::string home_ = dir_.path() + "/home";
  std::string binary_;
  std::unique_ptr<emulator::Emulator> emulator_;
  std::optional<Subprocess> host_;
};

TEST_F(HostKillTest, NothingIsLostOrDoneTwiceWhenTheHostIsKilled) {
  Random random(11);
  StartHost();
  const std::unique_ptr<client::RemoteLive> live = Client();
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < kSessions; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->folder = dir_.path() + "/project" + std::to_string(i);
    Open(*worker, *live);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    workers.push_back(std::move(worker));
  }
  for (int kill = 0; kill < TestScale().host_kills; ++kill) {
    for (const std::unique_ptr<Worker>& worker : workers) {
      Send(*worker);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
    ::usleep(static_cast<useconds_t>(random.Below(60'000)));
    Kill();
    StartHost();
  }
  // The last life: everything comes to rest.
  for (const std::unique_ptr<Worker>& worker : workers) {
    Send(*worker);
    const auto idle = [&] {
      return client::Await(*worker->session, &client::LiveSession::State)->state == "idle";
    };
    for (int tries = 0; tries < 6000 && !idle(); ++tries) ::usleep(10'000);
    EXPECT_TRUE(idle());
  }
  for (const std::unique_ptr<Worker>& worker : workers) Check(*worker);
  for (const std::unique_ptr<Worker>& worker : workers)
    EXPECT_TRUE(client::Await(*worker->session, &client::LiveSession::Close));
}

}  // namespace
}  // namespace stet::fault
