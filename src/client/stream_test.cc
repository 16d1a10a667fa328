#include "client/stream.h"

#include <gtest/gtest.h>

namespace stet::client {
namespace {

using protocol::Event;
using protocol::Transient;

protocol::Payload Said(const std::string& text) {
  protocol::UserMessage message;
  protocol::TextBlock block;
  block.text = text;
  message.message.blocks.emplace_back(std::move(block));
  return message;
}

protocol::EventPush Push(std::int64_t epoch, std::uint64_t seq, const std::string& id,
                         protocol::Payload payload, std::optional<std::string> turn = {}) {
  Event event;
  event.seq = seq;
  event.id = id;
  event.payload = std::move(payload);
  event.stamp.turn_id = std::move(turn);
  protocol::EventPush push;
  push.epoch = epoch;
  push.event.text.clear();
  protocol::EncodeEvent(event, push.event.text);
  return push;
}

protocol::TransientPush Progress(std::int64_t epoch, std::uint64_t seq,
                                 protocol::TransientPayload payload, std::uint64_t from = 0) {
  Transient transient;
  transient.seq = seq;
  transient.transient = std::move(payload);
  protocol::TransientPush push;
  push.epoch = epoch;
  push.transient = Raw{protocol::EncodeTransient(transient)};
  if (from != 0) push.from_seq = from;
  return push;
}

protocol::TransientPayload Start(const std::string& id) {
  protocol::MessageStart start;
  start.event_id = id;
  start.role = "assistant";
  return start;
}

protocol::TransientPayload Delta(const std::string& id, const std::string& text,
                                 std::int64_t index = 0) {
  protocol::TextDelta delta;
  delta.event_id = id;
  delta.block_index = index;
  delta.delta = text;
  return delta;
}

protocol::Subscribed Mode(std::string_view mode, std::int64_t epoch = 1, std::uint64_t seq = 0) {
  protocol::Subscribed subscribed;
  subscribed.mode = mode;
  subscribed.epoch = epoch;
  subscribed.seq = seq;
  return subscribed;
}

protocol::LivePush Live(std::int64_t epoch, std::uint64_t seq,
                        const std::vector<std::pair<std::string, std::string>>& partial = {}) {
  protocol::LivePush live;
  live.epoch = epoch;
  live.seq = seq;
  for (const auto& [id, text] : partial) {
    protocol::PartialMessage& message = live.partial.emplace_back();
    message.event_id = id;
    message.role = "assistant";
    protocol::PartialBlock& block = message.blocks.emplace_back();
    block.kind = "text";
    block.text = text;
  }
  return live;
}

/// What the watcher heard, in words.
class StreamTest : public testing::Test {
 protected:
  Stream Make(StreamOptions options = {}) {
    options.watcher = [this](const Event* event, const Transient* transient) {
      heard_.push_back(event != nullptr ? event->id : Words(transient->transient));
    };
    return Stream(std::move(options));
  }

  /// A stream that stands at {1, 3}, behind the event e3.
  Stream Begun(StreamOptions options = {}) {
    Stream stream = Make(std::move(options));
    stream.Begin(Mode(protocol::resync::kReload));
    stream.Take(Push(1, 3, "e3", Said("three")));
    stream.Take(Live(1, 3));
    heard_.clear();
    return stream;
  }

  static std::string Since(const protocol::OptionalInt& began_at) {
    return began_at ? " since " + std::to_string(*began_at) : "";
  }
  static std::string Words(const protocol::TransientPayload& payload) {
    if (const auto* start = std::get_if<protocol::MessageStart>(&payload))
      return "start " + start->event_id;
    if (const auto* text = std::get_if<protocol::TextDelta>(&payload)) return "+" + text->delta;
    if (const auto* end = std::get_if<protocol::BlockEnd>(&payload))
      return "end of block " + std::to_string(end->block_index);
    if (const auto* gone = std::get_if<protocol::MessageCancelled>(&payload))
      return "cancelled " + gone->event_id;
    if (const auto* ran = std::get_if<protocol::ToolExecutionEnd>(&payload))
      return "ran " + ran->tool_call_id;
    if (const auto* began = std::get_if<protocol::RuntimeStart>(&payload))
      return "turn " + began->turn_id + " begins" + Since(began->began_at);
    if (const auto* runs = std::get_if<protocol::ToolExecutionStart>(&payload))
      return runs->tool_call_id + " runs" + Since(runs->began_at);
    if (const auto* wrote = std::get_if<protocol::ToolExecutionUpdate>(&payload))
      return wrote->tool_call_id + " wrote " + wrote->partial;
    if (const auto* over = std::get_if<protocol::RuntimeEnd>(&payload))
      return "turn " + over->turn_id + " " + over->reason;
    return "?";
  }

  using Words_ = std::vector<std::string>;
  std::vector<std::string> heard_;
};

TEST_F(StreamTest, BeginsWithWhatWasAskedFor) {
  protocol::Subscribe wanted;
  EXPECT_EQ(Make().Next(), wanted);
  wanted.recent = 20;
  EXPECT_EQ(Make({.recent = 20}).Next(), wanted);
}

TEST_F(StreamTest, RecentEventsAreToldOnlyToWhoWantsHistory) {
  protocol::Subscribed recent = Mode(protocol::resync::kRecent, 1, 9);
  recent.events =
      protocol::Raws{Push(1, 4, "e4", Said("a")).event, Push(1, 7, "e7", Said("b")).event};
  Stream with = Make({.recent = 2});
  with.Begin(recent);
  EXPECT_EQ(heard_, (Words_{"e4", "e7"}));
  heard_.clear();
  Stream without = Make({.recent = 2, .history = false});
  without.Begin(recent);
  EXPECT_EQ(heard_, Words_{});
  EXPECT_EQ(without.anchor()->persistent_id, "e7");
  EXPECT_EQ(without.anchor()->epoch, -1) << "not live yet";
}

TEST_F(StreamTest, GoesOnWhereItWas) {
  Stream stream = Begun();
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 6, Delta("m", "hello"), 5));
  protocol::ResyncAnchor expected;
  expected.epoch = 1;
  expected.seq = 6;
  expected.persistent_seq = 3;
  expected.persistent_id = "e3";
  EXPECT_EQ(stream.anchor(), expected);
  stream.Begin(Mode(protocol::resync::kStream, 1, 9));
  stream.Take(Progress(1, 7, Delta("m", " world")));
  stream.Take(Push(1, 8, "m", Said("hello world")));
  EXPECT_EQ(heard_, (Words_{"start m", "+hello", "+ world", "m"}));
}

TEST_F(StreamTest, NothingComesTwice) {
  Stream stream = Begun();
  stream.Take(Push(1, 3, "e3", Said("three")));
  stream.Take(Push(1, 4, "e4", Said("four")));
  stream.Take(Push(1, 4, "e4", Said("four")));
  stream.Take(Progress(1, 5, Delta("m", "a")));
  stream.Take(Progress(1, 5, Delta("m", "a")));
  EXPECT_EQ(heard_, (Words_{"e4", "+a"}));
}

TEST_F(StreamTest, AfterAFallbackOnlyTheRestOfTheTextIsTold) {
  Stream stream = Begun();
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 5, Delta("m", "hel")));
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  stream.Take(Push(1, 6, "e6", Said("six")));
  stream.Take(Live(1, 9, {{"m", "hello"}}));
  stream.Take(Progress(1, 10, Delta("m", "!")));
  EXPECT_EQ(heard_, (Words_{"start m", "+hel", "e6", "+lo", "+!"}));
}

TEST_F(StreamTest, TextThatBeginsInAnotherWayIsToldAnew) {
  Stream stream = Begun();
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 5, Delta("m", "hel")));
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  stream.Take(Live(1, 9, {{"m", "Good day"}}));
  EXPECT_EQ(heard_, (Words_{"start m", "+hel", "cancelled m", "start m", "+Good day"}));
}

TEST_F(StreamTest, AMessageThatIsNoLongerWrittenIsCancelled) {
  Stream stream = Begun();
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 5, Delta("m", "hel")));
  stream.Begin(Mode(protocol::resync::kPersistent, 2, 4));
  stream.Take(Live(2, 4));
  EXPECT_EQ(heard_, (Words_{"start m", "+hel", "cancelled m"}));
}

TEST_F(StreamTest, AMessageThatWasFinishedMeanwhileIsNotCancelled) {
  Stream stream = Begun();
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 5, Delta("m", "hel")));
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  stream.Take(Push(1, 6, "m", Said("hello")));
  stream.Take(Live(1, 9));
  EXPECT_EQ(heard_, (Words_{"start m", "+hel", "m"}));
}

TEST_F(StreamTest, ALateComerHearsTheTextSoFar) {
  Stream stream = Make();
  stream.Begin(Mode(protocol::resync::kReload));
  protocol::LivePush live = Live(1, 9, {{"m", "first"}});
  protocol::PartialBlock second;
  second.index = 1;
  second.kind = "text";
  second.text = "second";
  live.partial[0].blocks.push_back(second);
  stream.Take(live);
  EXPECT_EQ(heard_, (Words_{"start m", "+first", "end of block 0", "+second"}));
}

TEST_F(StreamTest, AReloadTellsOnlyWhatWasNotTold) {
  Stream stream = Begun();
  stream.Take(Push(1, 4, "e4", Said("lost with the disk")));
  stream.Begin(Mode(protocol::resync::kReload, 2, 5));
  stream.Take(Push(2, 3, "e3", Said("three")));
  stream.Take(Push(2, 4, "other", Said("in its place")));
  stream.Take(Push(2, 5, "e5", Said("five")));
  stream.Take(Live(2, 5));
  EXPECT_EQ(heard_, (Words_{"e4", "other", "e5"}));
  EXPECT_EQ(stream.anchor()->persistent_seq, 5u);
}

TEST_F(StreamTest, WhatStoodBeforeTheStreamBeganIsHistory) {
  Stream stream = Make({.recent = 1, .history = false});
  protocol::Subscribed recent = Mode(protocol::resync::kRecent, 3, 100);
  recent.events = protocol::Raws{Push(3, 80, "e80", Said("path")).event};
  stream.Begin(recent);
  stream.Take(Live(3, 100));
  stream.Begin(Mode(protocol::resync::kPersistent, 4, 95));
  stream.Take(Push(4, 85, "control", Said("old, not on the path")));
  protocol::Opened opened;
  opened.epoch = 4;
  // Transients of the epoch before had these seqs.
  stream.Take(Push(4, 90, "opened", opened));
  stream.Take(Push(4, 91, "e91", Said("new")));
  stream.Take(Live(4, 95));
  EXPECT_EQ(heard_, (Words_{"opened", "e91"}));
}

TEST_F(StreamTest, WhileEventsAreReplayedOnlyTheLastOneIsAPlaceToGoOnFrom) {
  Stream stream = Begun();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  stream.Take(Push(1, 5, "e5", Said("five")));
  EXPECT_EQ(stream.anchor()->epoch, -1);
  EXPECT_EQ(stream.anchor()->persistent_id, "e5");
  stream.Take(Live(1, 9));
  EXPECT_EQ(stream.anchor()->epoch, 1);
  EXPECT_EQ(stream.anchor()->seq, 9u);
}

TEST_F(StreamTest, ClientsThatWereLeftOutDoNotClaimOtherwise) {
  Stream stream = Begun();
  stream.Take(Push(1, 7, "e7", Said("seven")));
  EXPECT_EQ(stream.anchor()->epoch, -1);
  stream.Take(Live(1, 9));
  EXPECT_EQ(stream.anchor()->epoch, 1);
}

TEST_F(StreamTest, ANewOpeningIsWholeAgain) {
  Stream stream = Begun();
  stream.Take(Push(1, 7, "e7", Said("seven")));
  protocol::Opened opened;
  opened.epoch = 2;
  stream.Take(Push(2, 8, "opened", opened));
  EXPECT_EQ(stream.anchor()->epoch, 2);
  EXPECT_EQ(stream.anchor()->seq, 8u);
}

TEST_F(StreamTest, WhoComesLateIsToldWhatRunsAndSinceWhen) {
  Stream stream = Make({.turn_id = "t"});
  stream.Begin(Mode(protocol::resync::kReload));
  protocol::LivePush live = Live(1, 9);
  live.turn_id = "t";
  live.turn_began_at = 1000;
  protocol::RunningCall& call = live.running.emplace_back();
  call.tool_call_id = "c";
  call.began_at = 1500;
  call.output = "out";
  stream.Take(live);
  EXPECT_EQ(heard_, (Words_{"turn t begins since 1000", "c runs since 1500", "c wrote out"}));
  heard_.clear();
  stream.Take(live);
  EXPECT_EQ(heard_, Words_{}) << "once";
  protocol::RuntimeEnd over;
  over.turn_id = "t";
  over.reason = "completed";
  stream.Take(Progress(1, 10, over));
  EXPECT_EQ(heard_, Words_{"turn t completed"});
}

TEST_F(StreamTest, TheEndOfATurnThatWasMissedIsTold) {
  Stream stream = Begun();
  protocol::RuntimeStart began;
  began.turn_id = "t";
  stream.Take(Progress(1, 4, began));
  heard_.clear();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  protocol::Turn end;
  end.phase = "end";
  end.reason = "max_turns";
  stream.Take(Push(1, 8, "e8", end, "t"));
  stream.Take(Live(1, 9));
  EXPECT_EQ(heard_, (Words_{"e8", "turn t max_turns"}));
  protocol::RuntimeEnd over;
  over.turn_id = "t";
  stream.Take(Progress(1, 10, over));
  EXPECT_EQ(heard_.size(), 2u) << "it ended once";
}

TEST_F(StreamTest, ATurnWhoseEndIsJustComingIsNotToldTwice) {
  Stream stream = Begun();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 8));
  protocol::Turn end;
  end.phase = "end";
  stream.Take(Push(1, 8, "e8", end, "t"));
  stream.Take(Live(1, 8));
  EXPECT_EQ(heard_, Words_{"e8"});
  protocol::RuntimeEnd over;
  over.turn_id = "t";
  over.reason = "completed";
  stream.Take(Progress(1, 9, over));
  EXPECT_EQ(heard_, (Words_{"e8", "turn t completed"}));
}

TEST_F(StreamTest, TurnsOfHistoryAreNotToldToHaveEnded) {
  Stream stream = Make();
  stream.NoteTurn("own");
  stream.Begin(Mode(protocol::resync::kReload));
  protocol::Turn end;
  end.phase = "end";
  end.reason = "completed";
  stream.Take(Push(1, 3, "e3", end, "old"));
  stream.Take(Push(1, 4, "e4", end, "own"));
  stream.Take(Live(1, 9));
  EXPECT_EQ(heard_, (Words_{"e3", "e4", "turn own completed"}));
}

TEST_F(StreamTest, TurnsThatLeaveNothingInTheLogAreAskedFor) {
  Stream stream = Begun();
  stream.NoteTurn("t");
  EXPECT_EQ(stream.open_turns(), Words_{"t"});
  stream.EndTurns({"t", "unknown"});
  EXPECT_EQ(heard_, Words_{"turn t interrupted"});
  EXPECT_EQ(stream.open_turns(), Words_{});
}

TEST_F(StreamTest, AnEndInTheLogThatIsNotToldToHaveEndedIsAskedFor) {
  Stream stream = Begun();
  stream.NoteTurn("t");
  protocol::Turn end;
  end.phase = "end";
  end.reason = "interrupted";
  stream.Take(Push(1, 8, "e8", end, "t"));
  stream.Take(Live(1, 8));
  EXPECT_EQ(heard_, Words_{"e8"}) << "the host may just be telling it";
  EXPECT_EQ(stream.open_turns(), Words_{"t"});
  stream.EndTurns({"t"});
  EXPECT_EQ(heard_, (Words_{"e8", "turn t interrupted"}));
}

TEST_F(StreamTest, ToolsThatEndedMeanwhileAreToldToHaveEnded) {
  Stream stream = Begun();
  protocol::ToolExecutionStart runs;
  runs.tool_call_id = "c";
  stream.Take(Progress(1, 4, runs));
  heard_.clear();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  protocol::ToolResult result;
  result.tool_call_id = "c";
  result.content = Raw{"\"\""};
  stream.Take(Push(1, 8, "e8", result));
  stream.Take(Live(1, 9));
  EXPECT_EQ(heard_, (Words_{"e8", "ran c"}));
}

TEST_F(StreamTest, TheEndOfACallIsTheHostsOwnWithTheTimeThatItTook) {
  std::vector<std::int64_t> took;
  Stream stream({.watcher = [&](const Event*, const Transient* transient) {
    if (transient == nullptr) return;
    if (const auto* end = std::get_if<protocol::ToolExecutionEnd>(&transient->transient))
      took.push_back(end->duration_ms);
  }});
  stream.Begin(Mode(protocol::resync::kReload));
  stream.Take(Live(1, 3));
  protocol::ToolExecutionStart runs;
  runs.tool_call_id = "c";
  stream.Take(Progress(1, 4, runs));
  protocol::ToolResult result;
  result.tool_call_id = "c";
  result.content = Raw{"\"\""};
  stream.Take(Push(1, 5, "e5", result));
  // Caught up just between the two: the end comes next.
  stream.Take(Live(1, 5));
  protocol::ToolExecutionEnd end;
  end.tool_call_id = "c";
  end.duration_ms = 1234;
  stream.Take(Progress(1, 6, end));
  stream.Take(Live(1, 6));
  EXPECT_EQ(took, std::vector<std::int64_t>{1234});
}

TEST_F(StreamTest, ATurnThatDiedBeforeTheWatcherCameIsNotToldToHaveEnded) {
  Stream stream = Begun();
  protocol::Turn end;
  end.phase = "end";
  end.reason = "interrupted";
  stream.Take(Push(1, 4, "e4", end, "of_a_process_before"));
  EXPECT_EQ(stream.open_turns(), Words_{});
  protocol::Opened opened;
  opened.epoch = 2;
  stream.Begin(Mode(protocol::resync::kPersistent, 2, 5));
  stream.Take(Push(2, 5, "opened", opened));
  stream.Take(Live(2, 5));
  EXPECT_EQ(heard_, (Words_{"e4", "opened"}));
}

TEST_F(StreamTest, ATurnThatBeganMeanwhileIsTold) {
  Stream stream = Begun();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  protocol::Turn start;
  start.phase = "start";
  stream.Take(Push(1, 8, "e8", start, "t"));
  stream.Take(Live(1, 9));
  EXPECT_EQ(heard_, (Words_{"e8", "turn t begins"}));
  EXPECT_TRUE(stream.has_open_turn());
  protocol::Turn end;
  end.phase = "end";
  end.reason = "completed";
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 19));
  stream.Take(Push(1, 18, "e18", end, "t"));
  stream.Take(Live(1, 19));
  EXPECT_EQ(heard_.back(), "turn t completed");
  EXPECT_FALSE(stream.has_open_turn());
}

TEST_F(StreamTest, ATurnThatRanWhenTheWatcherCameIsOpenUntilTheHostSaysHowItEnded) {
  Stream stream = Begun({.watcher = {}, .recent = {}, .turn_id = "t"});
  EXPECT_EQ(stream.open_turns(), Words_{"t"});
  protocol::RuntimeEnd end;
  end.turn_id = "t";
  end.reason = "cancelled";
  stream.EndTurn(end);
  stream.EndTurn(end);
  EXPECT_EQ(heard_, Words_{"turn t cancelled"});
}

TEST_F(StreamTest, MoreTextThanIsKeptIsToldAnewAsAWhole) {
  Stream stream = Begun();
  const std::string half(Underway::kMaxText / 2 + 1, 'x');
  stream.Take(Progress(1, 4, Start("m")));
  stream.Take(Progress(1, 5, Delta("m", half)));
  stream.Take(Progress(1, 6, Delta("m", half)));
  heard_.clear();
  stream.Begin(Mode(protocol::resync::kPersistent, 1, 9));
  stream.Take(Live(1, 9, {{"m", "y"}}));
  EXPECT_EQ(heard_, (Words_{"cancelled m", "start m", "+y"}));
}

}  // namespace
}  // namespace stet::client
