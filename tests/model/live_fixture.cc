#include "tests/model/live_fixture.h"

#include <cstdlib>

#include "base/fs.h"
#include "client/await.h"
#include "host/local/live.h"
#include "host/local/sessions.h"
#include "tests/model/cause_fixture.h"
#include "tests/model/projection_fixture.h"

namespace stet::test {

client::Watcher Heard::Watcher() {
  return [this](const protocol::Event* event, const protocol::Transient* transient) {
    const std::lock_guard lock(mutex_);
    if (event != nullptr) events_.push_back(*event);
    if (transient != nullptr) transients_.push_back(*transient);
    changed_.notify_all();
  };
}

std::vector<protocol::Event> Heard::Events() {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

LiveTest::LiveTest() {
  EXPECT_TRUE(MakeDirs(project_));
  EXPECT_TRUE(MakeDirs(roots_.config));
  EXPECT_TRUE(ReplaceFile(project_ + "/a.txt", "one\n", Durable::kNo));
}

LiveTest::~LiveTest() = default;

void LiveTest::TearDown() {
  session_.reset();
  live_.reset();
  host_.reset();
  if (session_id_.empty()) return;
  const auto report =
      client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Replay, session_id_);
  EXPECT_TRUE(!report || report->different == 0);
  ExpectCauses(store::SessionStore(roots_).Find(session_id_).value());
  ExpectProjections(store::SessionStore(roots_).Find(session_id_).value(), 150);
}

void LiveTest::Script(std::string_view script, const std::string& api) {
  auto started = emulator::Emulator::Start(script);
  ASSERT_TRUE(started) << started.error().Text();
  emulator_ = *std::move(started);
  const std::string suffix = api == "anthropic-messages"     ? ""
                             : api == "google-generative-ai" ? "/v1beta"
                                                             : "/v1";
  ASSERT_TRUE(ReplaceFile(roots_.settings(),
                          "[model]\ntype='custom'\nid='m'\napi='" + api + "'\nbaseUrl='" +
                              emulator_->base_url() + suffix + "'\n" + more_settings_,
                          Durable::kNo));
}

void LiveTest::Open(const protocol::Attach& attach) {
  auto opened =
      client::Await(*live_, &client::Live::Attach, attach, client::FaceSide{heard_->Watcher()});
  ASSERT_TRUE(opened) << opened.error().Text();
  session_ = *std::move(opened);
  session_id_ = State().session_id;
}

protocol::LiveState LiveTest::State() {
  const Result<protocol::LiveState> state = client::Await(*session_, &client::LiveSession::State);
  EXPECT_TRUE(state) << state.error().Text();
  return state.value_or(protocol::LiveState());
}

protocol::Accepted LiveTest::Send(const std::string& text, const std::string& how) {
  protocol::Send send;
  send.text = text;
  send.how = how;
  const Result<protocol::Accepted> accepted =
      client::Await(*session_, &client::LiveSession::Send, send);
  EXPECT_TRUE(accepted) << accepted.error().Text();
  return accepted.value_or(protocol::Accepted());
}

protocol::TurnReport LiveTest::EndOf(const std::string& turn_id) {
  const auto end = heard_->AwaitTransient<protocol::RuntimeEnd>(
      [&](const protocol::RuntimeEnd& one) { return one.turn_id == turn_id; });
  EXPECT_TRUE(end) << turn_id << " did not end";
  return client::Await(*session_, &client::LiveSession::Report, turn_id)
      .value_or(protocol::TurnReport());
}

std::vector<std::string> LiveTest::Requests() const {
  std::vector<std::string> bodies;
  for (const auto& record : emulator_->Requests()) bodies.push_back(record.body.text);
  return bodies;
}

std::unique_ptr<client::Live> LiveTest::MakeLive() {
  const char* where = std::getenv("STET_TEST_LIVE");
  if (where == nullptr || std::string_view(where) != "host")
    return host::MakeLocalLive(roots_, "test");
  host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
  return host_->Client();
}

}  // namespace stet::test
