// Random operations on a session, its host and the line to it, against what a watcher must have
// heard in the end: every event once and in order, every text whole, every send once.
#include <map>

#include <gtest/gtest.h>

#include "client/fake_host_fixture.h"
#include "client/subscription.h"
#include "tests/scale.h"

namespace stet::client {
namespace {

using std::chrono::milliseconds;

class World {
 public:
  /// The line is cut once so many messages have reached the client; 0: only by chance.
  explicit World(std::uint64_t seed, std::size_t cut_at = 0) : random_(seed), cut_at_(cut_at) {
    host_.prompt = false;
    host_.keep = 1 + random_.Below(40);
    for (std::uint64_t i = random_.Below(5); i > 0; --i) host_.Append(Message());
    ConnectionOptions options;
    options.dial = host_.MakeDialer();
    options.backoff = {.first = milliseconds(0), .most = milliseconds(0)};
    connection_ = std::make_unique<Connection>(loop_, random_, std::move(options));
    StreamOptions stream;
    stream.watcher = [this](const protocol::Event* event, const protocol::Transient* transient) {
      event != nullptr ? Hear(*event) : Hear(*transient);
    };
    history_ = random_.Below(2) == 0;
    if (!history_) {
      stream.recent = 1;
      stream.history = false;
    }
    subscription_ =
        std::make_unique<Subscription>(loop_, *connection_, host_.session_id, std::move(stream));
    subscription_->Start(milliseconds(60'000), [this](Status ready) {
      EXPECT_TRUE(ready);
      ready_ = true;
      // A client that wanted no history is not sent what happened before this.
      if (!history_) first_ = began_;
    });
  }

  void Step() {
    switch (random_.Below(17)) {
      case 0: host_.Append(Message()); break;
      case 1: host_.Append(protocol::Turn()); break;
      case 2: StartMessage(); break;
      case 3:
      case 4:
      case 5: Write(); break;
      case 6: FinishMessage(); break;
      case 7: CancelMessage(); break;
      case 8: Send(); break;
      case 9:
        if (random_.Below(2) == 0) host_.Cut();
        break;
      case 10:
        if (random_.Below(4) == 0) host_.Restart();
        break;
      case 11: host_.Lag(); break;
      case 12: host_.CatchUp(); break;
      case 13:
        if (!host_.held.empty()) host_.Release(random_.Below(host_.held.size()));
        break;
      case 14: host_.hold_replies = random_.Below(3) != 0; break;
      case 15:
        if (host_.line() && random_.Below(4) == 0) host_.line()->deaf = true;
        break;
      default: RunTurn(); break;
    }
    for (std::uint64_t i = random_.Below(4); i > 0; --i) Deliver();
    Rest();
  }

  /// Lets everything arrive.
  void Finish() {
    host_.hold_replies = false;
    cut_at_ = 0;
    if (host_.line() && host_.line()->deaf) host_.Cut();
    Rest();
    constexpr int kQuiet = 3;
    for (int quiet = 0; quiet < kQuiet; ++quiet) {
      host_.CatchUp();
      while (!host_.held.empty()) host_.Release(0);
      while (Deliver()) quiet = 0;
      Rest();
    }
  }

  void Check() {
    ASSERT_EQ(connection_->state(), LinkState::kConnected);
    ASSERT_TRUE(ready_);
    std::vector<std::string> expected;
    for (std::size_t i = first_; i < host_.log.size(); ++i) expected.push_back(host_.log[i].id);
    EXPECT_EQ(heard_, expected);
    for (const auto& [id, count] : host_.sends) EXPECT_EQ(count, 1) << id;
    EXPECT_EQ(host_.sends.size(), sent_) << "every send was accepted";
    EXPECT_EQ(answered_, sent_);
    for (const protocol::PartialMessage& message : host_.partial) {
      ASSERT_TRUE(drafts_.contains(message.event_id));
      for (const protocol::PartialBlock& block : message.blocks)
        EXPECT_EQ(drafts_[message.event_id].at(block.index), block.text);
    }
    EXPECT_EQ(drafts_.size(), host_.partial.size());
    for (const std::string& turn : turns_heard_of_)
      EXPECT_TRUE(ended_.contains(turn)) << turn << " was not told to have ended";
  }

  [[nodiscard]] std::size_t resumed(std::string_view mode) const {
    return static_cast<std::size_t>(
        std::ranges::count(host_.subscriptions, mode, &FakeHost::Subscription::mode));
  }

 private:
  using Position = std::pair<std::int64_t, std::uint64_t>;

  protocol::Payload Message() {
    protocol::UserMessage message;
    protocol::TextBlock text;
    text.text = "x";
    message.message.blocks.emplace_back(text);
    return message;
  }

  /// Timers only when one is waited for: they cost more than all the rest.
  void Rest() {
    RunPosted(loop_);
    if (connection_->state() != LinkState::kConnected) Settle(loop_);
  }

  bool Deliver() {
    const std::size_t subscriptions = host_.subscriptions.size();
    const bool was =
        random_.Below(2) == 0 ? host_.ToHost() || ToClient() : ToClient() || host_.ToHost();
    was_live_ = was_live_ || subscription_->stream().live();
    if (host_.subscriptions.size() == subscriptions) return was;
    if (!ready_) began_ = host_.log.size();
    if (position_) {
      const protocol::OptionalResyncAnchor& anchor = host_.subscriptions.back().asked.anchor;
      EXPECT_TRUE(anchor && Position(anchor->epoch, anchor->seq) == *position_)
          << "what the client has seen is what it says it has";
    }
    return was;
  }

  bool ToClient() {
    const bool there = host_.line() && host_.line()->started && !host_.line()->to_client.empty();
    if (there) Note(protocol::ReadFromHost(host_.line()->to_client.front()));
    const bool was = host_.ToClient();
    if (was && host_.delivered == cut_at_) host_.Cut();
    return was;
  }

  /// Keeps the position that the client must have once it has heard this.
  void Note(const protocol::FromHost& message) {
    if (const auto* live = std::get_if<protocol::LivePush>(&message))
      position_ = Position(live->epoch, live->seq);
    const auto* reply = std::get_if<protocol::WireReply>(&message);
    if (reply != nullptr && reply->result) {
      const Result<protocol::Subscribed> told = Decode<protocol::Subscribed>(reply->result->text);
      if (told && !told->mode.empty() && told->mode != protocol::resync::kStream) position_.reset();
    }
    if (const auto* event = std::get_if<protocol::EventPush>(&message)) {
      const std::uint64_t seq = protocol::DecodeEvent(event->event.text)->seq;
      Move(seq, {event->epoch, seq});
    }
    if (const auto* news = std::get_if<protocol::TransientPush>(&message)) {
      const std::uint64_t seq = protocol::DecodeTransient(news->transient.text)->seq;
      Move(news->from_seq.value_or(seq), {news->epoch, seq});
    }
  }

  /// A client that was left out of something knows it by the seq that is missing.
  void Move(std::uint64_t from, Position to) {
    if (!position_) return;
    if (from == position_->second + 1)
      position_ = to;
    else
      position_.reset();
  }

  void StartMessage() {
    if (host_.partial.size() > 2) return;
    protocol::MessageStart start;
    start.event_id = "m" + std::to_string(++messages_);
    start.role = "assistant";
    host_.Publish(start);
  }

  void Write() {
    if (host_.partial.empty()) return;
    const std::size_t which = random_.Below(host_.partial.size());
    const std::string id = host_.partial[which].event_id;
    const auto index = static_cast<std::int64_t>(host_.partial[which].blocks.size()) -
                       (random_.Below(4) == 0 ? 0 : 1);
    protocol::TextDelta delta;
    delta.event_id = id;
    delta.block_index = std::max<std::int64_t>(index, 0);
    delta.delta = RandomName(random_, 1 + random_.Below(6));
    host_.Publish(delta, 1 + random_.Below(3));
  }

  void FinishMessage() {
    if (host_.partial.empty()) return;
    const std::string id = host_.partial.front().event_id;
    protocol::AssistantMessage message;
    host_.Append(message, id);
  }

  /// And perhaps tries again under the same id.
  void CancelMessage() {
    if (host_.partial.empty()) return;
    protocol::MessageCancelled gone;
    gone.event_id = host_.partial.front().event_id;
    host_.Publish(gone);
    if (random_.Below(2) == 0) return;
    protocol::MessageStart start;
    start.event_id = gone.event_id;
    start.role = "assistant";
    host_.Publish(start);
  }

  void RunTurn() {
    const std::string id = "t" + std::to_string(++turns_);
    protocol::Turn start;
    start.phase = "start";
    protocol::RuntimeStart began;
    began.turn_id = id;
    protocol::Turn end;
    end.phase = "end";
    end.reason = "completed";
    protocol::RuntimeEnd over;
    over.turn_id = id;
    over.reason = "completed";
    host_.Append(start, "", id);
    host_.Publish(began);
    host_.Append(end, "", id);
    host_.Publish(over);
    if (was_live_) turns_heard_of_.push_back(id);  // Before, it may be history.
  }

  void Send() {
    if (sent_ > 20) return;
    protocol::Send send;
    send.client_message_id = "c" + std::to_string(++sent_);
    send.text = "hello";
    connection_->Ask({.method = "session.send",
                      .params = protocol::ForSession(host_.session_id, Encode(send)),
                      .repeatable = true,
                      .within = milliseconds(60'000)},
                     [this](const Result<Raw>& answer) {
                       EXPECT_TRUE(answer) << answer.error().Text();
                       ++answered_;
                     });
  }

  void Hear(const protocol::Event& event) {
    heard_.push_back(event.id);
    drafts_.erase(event.id);
    if (!told_.insert(event.id).second) ADD_FAILURE() << event.id << " came twice";
  }

  void Hear(const protocol::Transient& transient) {
    const protocol::TransientPayload& payload = transient.transient;
    if (const auto* start = std::get_if<protocol::MessageStart>(&payload))
      drafts_[start->event_id].clear();
    if (const auto* text = std::get_if<protocol::TextDelta>(&payload)) {
      if (drafts_.contains(text->event_id))
        drafts_[text->event_id][text->block_index] += text->delta;
    }
    if (const auto* gone = std::get_if<protocol::MessageCancelled>(&payload))
      drafts_.erase(gone->event_id);
    if (const auto* over = std::get_if<protocol::RuntimeEnd>(&transient.transient)) {
      if (!ended_.insert(over->turn_id).second) ADD_FAILURE() << over->turn_id << " ended twice";
    }
  }

  Loop loop_;
  Random random_;
  FakeHost host_;
  bool history_ = false;
  bool ready_ = false;
  bool was_live_ = false;
  std::size_t first_ = 0;  // In the log: the first event that must be heard.
  std::size_t began_ = 0;
  std::vector<std::string> heard_;
  std::set<std::string> told_;
  std::map<std::string, std::map<std::int64_t, std::string>> drafts_;  // Texts by block.
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  int messages_ = 0;
  int turns_ = 0;
  std::vector<std::string> turns_heard_of_;
  std::set<std::string> ended_;
  std::optional<Position> position_;  // Nothing while the client need not know it.
  std::size_t cut_at_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Subscription> subscription_;
};

void Play(World& world) {
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) world.Step();
  world.Finish();
  world.Check();
}

TEST(RandomClientTest, WhateverHappensToTheLineEverythingIsHeardOnce) {
  std::size_t streams = 0;
  std::size_t fallbacks = 0;
  for (int run = 0; run < TestScale().client_runs; ++run) {
    SCOPED_TRACE(run);
    World world(static_cast<std::uint64_t>(run) + 1);
    Play(world);
    if (testing::Test::HasFailure()) return;
    streams += world.resumed(protocol::resync::kStream);
    fallbacks += world.resumed(protocol::resync::kPersistent);
  }
  EXPECT_GT(streams, 0u);
  EXPECT_GT(fallbacks, 0u);
}

TEST(RandomClientTest, ALineMayBeCutAtEveryMessage) {
  constexpr std::size_t kMessages = 120;
  for (std::size_t cut = 1; cut <= kMessages; ++cut) {
    SCOPED_TRACE(cut);
    World world(42, cut);
    Play(world);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace stet::client
