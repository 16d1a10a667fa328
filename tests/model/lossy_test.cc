// Five clients of one session over bad lines: each ends with the log as it is, and no send is
// lost or doubled.
#include <map>

#include "client/await.h"
#include "tests/heard_events.h"
#include "tests/model/live_fixture.h"
#include "tests/model/lossy_fixture.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

struct LossyClient {
  std::unique_ptr<LossyLink> link;
  std::unique_ptr<client::RemoteLive> live;
  HeardEvents heard;
  std::unique_ptr<client::LiveSession> session;
};

class LossyTest : public LiveTest {};

TEST_F(LossyTest, FiveClientsOverBadLinesHaveTheSameLogAndNoSendIsLostOrDoubled) {
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"All of this is said in several pieces."}],
    "delta":5}]})");
  host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
  live_ = host_->Client();
  Open(Here());
  std::vector<std::unique_ptr<LossyClient>> clients;
  for (int i = 0; i < 5; ++i) {
    auto one = std::make_unique<LossyClient>();
    const std::string path = dir_.path() + "/link" + std::to_string(i);
    one->link = std::make_unique<LossyLink>(path, host_->socket(), 1000U * (i + 1));
    client::RemoteOptions options;
    options.endpoint.unix_path = path;
    options.backoff = {.first = std::chrono::milliseconds(5),
                       .most = std::chrono::milliseconds(50)};
    options.patience = std::chrono::seconds(120);
    one->live = client::MakeRemoteLive(options);
    client::Watched watched{
        .session_id = session_id_, .recent = {}, .watcher = one->heard.Watcher()};
    auto session = client::Await(*one->live, &client::RemoteLive::Watch, std::move(watched));
    ASSERT_TRUE(session) << session.error().Text();
    one->session = *std::move(session);
    clients.push_back(std::move(one));
  }
  // Every client sends; a turn is about eight events.
  std::map<std::string, int> accepted;
  Random random(7);
  const int sends = std::max(TestScale().lossy_events / 8, 5);
  for (int i = 0; i < sends; ++i) {
    protocol::Send send;
    send.how = "send";
    send.text = "message " + std::to_string(i);
    send.client_message_id = "cm" + std::to_string(i);
    const auto taken = client::Await(*clients[random.Below(clients.size())]->session,
                                     &client::LiveSession::Send, send);
    ASSERT_TRUE(taken) << taken.error().Text();
    ++accepted[*send.client_message_id];
    if (i % 16 == 15) {
      const auto state = [&] { return State(); };
      while (state().state != "idle") ::usleep(2000);
    }
  }
  while (State().state != "idle" || !State().follow_ups.empty()) ::usleep(5000);
  int cuts = 0;
  for (const auto& one : clients) {
    one->link->Mend();
    cuts += one->link->cuts();
  }
  ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
  std::vector<std::string> stored;
  std::map<std::string, int> found;
  std::uint64_t last = 0;
  const auto log = log::Log::Open(store::SessionStore(roots_).Find(session_id_).value(), {});
  ASSERT_TRUE(log);
  ASSERT_TRUE((*log)->Read(0, [&](const log::Entry& entry, std::string_view line) {
    const auto event = protocol::DecodeEvent(line);
    stored.push_back(event->id);
    last = entry.seq;
    if (const auto* message = std::get_if<protocol::UserMessage>(&event->payload))
      ++found[protocol::PlainText(message->message.blocks)];
    return true;
  }));
  EXPECT_EQ(found.size(), static_cast<std::size_t>(sends));
  for (const auto& [text, times] : found) EXPECT_EQ(times, 1) << text;
  for (const auto& one : clients) {
    ASSERT_TRUE(one->heard.AwaitSeq(last));
    EXPECT_EQ(one->heard.Ids(), stored);
    ASSERT_TRUE(client::Await(*one->session, &client::LiveSession::Close));
  }
  EXPECT_GT(cuts, 5);
  RecordProperty("events", static_cast<int>(stored.size()));
  RecordProperty("cuts", cuts);
}

}  // namespace
}  // namespace stet::test
