// A session, clients that come and go, and lines that break: against a list of what was said.
#include <deque>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "host/feed.h"
#include "json/view.h"
#include "tests/scale.h"

namespace stet::host {
namespace {

/// A session whose log is a list.
class ListedSession final : public FeedSource {
 public:
  explicit ListedSession(Loop& loop) : hub_(loop, budget_, id_) { hub_.Begin(1, 0); }

  [[nodiscard]] const std::string& id() const override { return id_; }
  Hub& hub() override { return hub_; }
  Status Look() override { return {}; }
  Status ReadAfter(std::uint64_t seq, const Visit& visit) override {
    for (const auto& [at, line] : log_) {
      if (at > seq && !visit(at, line)) break;
    }
    return {};
  }
  Result<std::vector<std::string>> Recent(std::size_t count) override {
    std::vector<std::string> lines;
    for (const auto& [at, line] : log_) lines.push_back(line);
    if (lines.size() > count)
      lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
    return lines;
  }
  Result<bool> Has(std::uint64_t seq, std::string_view event_id) override {
    const auto found = log_.find(seq);
    return found != log_.end() && JsonView(found->second)["id"].StringOr("") == event_id;
  }

  void Append(const std::string& text = "", const std::string& id = "") {
    const std::uint64_t seq = ++seq_;
    const std::string name = id.empty() ? "e" + std::to_string(seq) : id;
    std::string line =
        R"({"seq":)" + std::to_string(seq) + R"(,"id":")" + name + R"(","text":")" + text + R"("})";
    log_[seq] = line;
    hub_.AddEvent(name, seq, line);
  }
  void Say(protocol::TransientPayload payload) {
    protocol::Transient transient;
    transient.seq = ++seq_;
    transient.transient = std::move(payload);
    hub_.AddTransient(transient);
  }
  /// A message begins, goes on, or is there as a whole.
  void StartMessage() {
    message_ = "m" + std::to_string(seq_ + 1);
    said_.clear();
    protocol::MessageStart start;
    start.event_id = message_;
    start.role = "assistant";
    Say(std::move(start));
  }
  void SayMore(const std::string& text) {
    protocol::TextDelta delta;
    delta.event_id = message_;
    delta.delta = text;
    said_ += text;
    Say(std::move(delta));
  }
  void EndMessage() {
    Append(said_, message_);
    message_.clear();
  }
  [[nodiscard]] bool speaking() const { return !message_.empty(); }
  [[nodiscard]] const std::string& said() const { return said_; }
  /// The host died: the transients with their numbers are lost.
  void Reopen() {
    message_.clear();
    seq_ = log_.empty() ? 0 : log_.rbegin()->first;
    hub_.Begin(hub_.epoch() + 1, seq_);
    Append("opened");
  }

  [[nodiscard]] const std::map<std::uint64_t, std::string>& log() const { return log_; }

 private:
  std::string id_ = "s1";
  KeptBudget budget_{20'000};  // Little, so that much is forgotten.
  Hub hub_;
  std::uint64_t seq_ = 0;
  std::map<std::uint64_t, std::string> log_;
  std::string message_;
  std::string said_;
};

/// A client with a line to it that can break, and that takes things when it likes.
class Listener final : public Outlet {
 public:
  explicit Listener(ListedSession& session) : session_(session) {}

  void Push(std::shared_ptr<const std::string> message) override {
    waiting_ += message->size();
    line_.push_back(*message);
  }
  [[nodiscard]] std::size_t waiting() const override { return waiting_; }

  void Connect() {
    Cut();
    feed_ = std::make_unique<Feed>(session_, *this);
    protocol::Subscribe subscribe;
    if (!events_.empty()) {
      subscribe.anchor = anchor_;
      if (!exact_) subscribe.anchor->epoch = -1;
    }
    const auto begun = feed_->Begin(subscribe);
    ASSERT_TRUE(begun);
    if (begun->mode == protocol::resync::kReload) events_.clear();
    if (begun->mode != protocol::resync::kStream) texts_.clear();
    modes.insert(begun->mode);
    exact_ = begun->mode == protocol::resync::kStream;
    anchor_.epoch = begun->epoch;
    feed_->Pump();
  }
  /// What was under way is lost.
  void Cut() {
    feed_.reset();
    line_.clear();
    waiting_ = 0;
  }
  void Take(std::size_t count) {
    while (count-- > 0 && !line_.empty()) {
      waiting_ -= line_.front().size();
      Hear(line_.front());
      line_.pop_front();
    }
    if (feed_ && line_.empty()) feed_->Pump();
  }
  void TakeAll() {
    if (!feed_) Connect();
    while (!line_.empty()) Take(1);
  }

  [[nodiscard]] const std::map<std::uint64_t, std::string>& events() const { return events_; }
  [[nodiscard]] std::string TextOf(const std::string& id) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? "" : found->second;
  }
  [[nodiscard]] const std::map<std::string, std::string>& texts() const { return texts_; }
  std::set<std::string> modes;
  int doubled = 0;

 private:
  void Hear(const std::string& message) {
    const JsonView json(message);
    const std::string type = json["type"].StringOr("");
    const std::int64_t before = std::exchange(anchor_.epoch, json["epoch"].IntOr(0));
    if (type == "event") {
      const JsonView event = json["event"];
      const auto seq = static_cast<std::uint64_t>(event["seq"].IntOr(0));
      if (!events_.empty() && seq <= events_.rbegin()->first) ++doubled;
      const bool opens = anchor_.epoch != before && event["text"].StringOr("") == "opened";
      exact_ = (exact_ && seq == anchor_.seq + 1) || opens;
      events_.emplace(seq, event.text());
      anchor_.seq = anchor_.persistent_seq = seq;
      anchor_.persistent_id = event["id"].StringOr("");
      if (event["text"].StringOr("") == "opened") texts_.clear();
      texts_.erase(anchor_.persistent_id);
    } else if (type == "transient") {
      const JsonView transient = json["transient"];
      const auto first =
          static_cast<std::uint64_t>(json["fromSeq"].IntOr(transient["seq"].IntOr(0)));
      exact_ = exact_ && first == anchor_.seq + 1;
      anchor_.seq = static_cast<std::uint64_t>(transient["seq"].IntOr(0));
      texts_[transient["transient"]["eventId"].StringOr("")] +=
          transient["transient"]["delta"].StringOr("");
    } else if (type == "live") {
      exact_ = true;
      anchor_.seq = static_cast<std::uint64_t>(json["seq"].IntOr(0));
      texts_.clear();
      json["partial"].ForEach([&](const JsonView& partial) {
        std::string& text = texts_[partial["eventId"].StringOr("")];
        partial["blocks"].ForEach(
            [&](const JsonView& block) { text += block["text"].StringOr(""); });
      });
    }
  }

  ListedSession& session_;
  std::unique_ptr<Feed> feed_;
  std::deque<std::string> line_;
  std::size_t waiting_ = 0;
  protocol::ResyncAnchor anchor_;
  bool exact_ = false;  // Nothing was left out since what `anchor_` says.
  std::map<std::uint64_t, std::string> events_;
  std::map<std::string, std::string> texts_;
};

/// Random operations; in the end every client has what the log has.
void RunOnce(std::uint64_t seed, std::set<std::string>& modes) {
  Random random(seed);
  Loop loop;
  ListedSession session(loop);
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int i = 0; i < 3; ++i) listeners.push_back(std::make_unique<Listener>(session));
  const std::size_t operations = 20 + random.Below(100);
  for (std::size_t i = 0; i < operations; ++i) {
    Listener& one = *listeners[random.Below(listeners.size())];
    switch (random.Below(12)) {
      case 0:
      case 1: session.Append(std::string(random.Below(2000), 'x')); break;
      case 2:
        if (!session.speaking()) session.StartMessage();
        break;
      case 3:
      case 4:
        if (session.speaking()) session.SayMore("w" + std::to_string(i) + " ");
        break;
      case 5:
        if (session.speaking()) session.EndMessage();
        break;
      case 6: one.Connect(); break;
      case 7: one.Cut(); break;
      case 8: session.hub().Flush(); break;
      case 9:
        if (random.Below(4) == 0) session.Reopen();
        break;
      case 10: session.Append(std::string(random.Below(8) == 0 ? 300'000 : 10, 'y')); break;
      default: one.Take(1 + random.Below(6)); break;
    }
  }
  session.hub().Flush();
  for (const std::unique_ptr<Listener>& one : listeners) {
    one->TakeAll();
    ASSERT_EQ(one->events(), session.log()) << "seed " << seed;
    ASSERT_EQ(one->doubled, 0) << "seed " << seed;
    if (session.speaking()) {
      ASSERT_EQ(one->texts().size(), 1U) << "seed " << seed;
      ASSERT_EQ(one->texts().begin()->second, session.said()) << "seed " << seed;
    } else {
      ASSERT_TRUE(one->texts().empty()) << "seed " << seed;
    }
    modes.insert(one->modes.begin(), one->modes.end());
  }
}

TEST(FeedTest, WhateverHappensEverybodyHasEverythingOnceAndInOrder) {
  std::set<std::string> modes;
  const int runs = TestScale().feed_runs;
  for (int seed = 1; seed <= runs; ++seed) {
    RunOnce(static_cast<std::uint64_t>(seed), modes);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(modes.size(), 3U) << "all modes were met";
}

TEST(FeedTest, AClientThatTakesNothingCostsNoMoreThanItsCap) {
  Loop loop;
  ListedSession session(loop);
  Listener stuck(session);
  Listener other(session);
  stuck.Connect();
  other.Connect();
  for (int i = 0; i < 500; ++i) {
    session.Append(std::string(10'000, 'x'));
    other.TakeAll();
  }
  EXPECT_LE(stuck.waiting(), Feed::kBehind + 20'000);
  EXPECT_EQ(other.events(), session.log());
  stuck.TakeAll();
  EXPECT_EQ(stuck.events(), session.log());
}

}  // namespace
}  // namespace stet::host
