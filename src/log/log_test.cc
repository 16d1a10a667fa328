#include "log/log.h"

#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "log/line.h"
#include "log/log_fixture.h"
#include "log/tree.h"

namespace stet::log {
namespace {

TEST_F(LogTest, AFreshLogHoldsItsHeaderAndItsFirstOpening) {
  auto log = Create();
  EXPECT_EQ(log->epoch(), 1);
  EXPECT_EQ(log->index().entries().size(), 1u);
  EXPECT_EQ(log->leaf_id(), std::nullopt);
  EXPECT_EQ(log->last_seq(), 1u);
}

TEST_F(LogTest, WhatWasAppendedIsThereAfterReopening) {
  std::string user;
  std::string assistant;
  {
    auto log = Create();
    user = Append(*log, User("hello 世界"));
    assistant = Append(*log, Assistant("hi"));
  }
  auto log = Open();
  EXPECT_EQ(log->epoch(), 2);
  EXPECT_EQ(PathIds(*log), (std::vector{user, assistant}));
  const protocol::Event event = *log->EventAt(*log->Find(user));
  EXPECT_EQ(PlainText(std::get<UserMessage>(event.payload).message.blocks), "hello 世界");
}

TEST_F(LogTest, TheIndexAndAFullScanAgree) {
  {
    auto log = Create();
    for (int i = 0; i < 700; ++i) Append(*log, User("message " + std::to_string(i)));
  }
  auto indexed = Open(Mode::kRead, true);
  auto scanned = Open(Mode::kRead, false);
  ASSERT_EQ(indexed->index().entries().size(), scanned->index().entries().size());
  EXPECT_EQ(PathIds(*indexed), PathIds(*scanned));
  EXPECT_EQ(indexed->index().state(), scanned->index().state());
  EXPECT_EQ(indexed->index().lines(), scanned->index().lines());
}

TEST_F(LogTest, ResultsOfParallelCallsStandByCallIndexWhateverTheirOrder) {
  auto log = Create();
  const std::string user = Append(*log, User("go"));
  const std::string assistant = Append(*log, Assistant("", {"call_a", "call_b", "call_c"}));
  const std::string c = Append(*log, ResultOf("call_c"));
  const std::string a = Append(*log, ResultOf("call_a"));
  EXPECT_EQ(log->open_calls().size(), 1u);
  const std::string b = Append(*log, ResultOf("call_b"));
  EXPECT_EQ(PathIds(*log), (std::vector{user, assistant, a, b, c}));
}

TEST_F(LogTest, OnlyOpenResultsJoinTheTreeInsideAStep) {
  auto log = Create();
  Append(*log, User("go"));
  Append(*log, Assistant("", {"call_a"}));
  EXPECT_EQ(AppendError(*log, User("too early")).code, Code::kBusy);
  EXPECT_EQ(AppendError(*log, ResultOf("call_x")).code, Code::kConflict);
  Append(*log, ResultOf("call_a"));
  EXPECT_EQ(AppendError(*log, ResultOf("call_a")).code, Code::kConflict);
  Append(*log, User("now"));
}

TEST_F(LogTest, OpenCallsAreKnownAfterReopening) {
  {
    auto log = Create();
    Append(*log, User("go"));
    Append(*log, Assistant("", {"call_a", "call_b"}));
    Append(*log, ResultOf("call_b"));
  }
  auto log = Open();
  ASSERT_EQ(log->open_calls().size(), 1u);
  EXPECT_EQ(log->open_calls().front().tool_call_id, "call_a");
  EXPECT_EQ(AppendError(*log, User("early")).code, Code::kBusy);
  Append(*log, ResultOf("call_a"));
}

TEST_F(LogTest, ABatchIsAppendedWholeOrNotAtAll) {
  auto log = Create();
  std::vector<Draft> batch;
  batch.push_back(User("one"));
  batch.push_back(ResultOf("never_called"));
  const std::uint64_t seq = log->last_seq();
  EXPECT_FALSE(log->Append(std::move(batch)));
  EXPECT_EQ(log->last_seq(), seq);
  EXPECT_EQ(log->leaf_id(), std::nullopt);
}

TEST_F(LogTest, WhatCouldNotBeReadBackIsNotAccepted) {
  auto log = Create();
  for (const char* bad : {"{", "1 2", "\"\n\"", "[1,\n2]", "\"\xff\"", ""}) {
    EXPECT_EQ(AppendError(*log, {.payload = protocol::Custom{.kind = "k", .data = Raw{bad}}}).code,
              Code::kInvalid)
        << bad;
  }
  const Raw huge{"\"" + std::string(kMaxLineBytes, 'x') + "\""};
  EXPECT_EQ(AppendError(*log, {.payload = protocol::Custom{.kind = "k", .data = huge}}).code,
            Code::kInvalid);
  Append(*log, User("still writable"));
}

TEST_F(LogTest, RewindMovesTheLeafAndDeletesNothing) {
  auto log = Create();
  const std::string first = Append(*log, User("one"));
  const std::string second = Append(*log, Assistant("two"));
  const std::string third = Append(*log, User("three"));
  EXPECT_EQ(log->Rewind(first, second).error().code, Code::kConflict);
  ASSERT_TRUE(log->Rewind(first, third));
  const std::string other = Append(*log, Assistant("two again"));
  EXPECT_EQ(PathIds(*log), (std::vector{first, other}));
  EXPECT_TRUE(log->Find(third));
  ASSERT_TRUE(log->Branch(third, other));
  EXPECT_EQ(PathIds(*log), (std::vector{first, second, third}));
  EXPECT_EQ(log->Branch(second, third).error().code, Code::kInvalid);
  ASSERT_TRUE(log->Rewind(std::nullopt, third));
  EXPECT_EQ(log->leaf_id(), std::nullopt);
  EXPECT_TRUE(log->Close());
  auto again = Open();
  EXPECT_EQ(again->leaf_id(), std::nullopt);
}

TEST_F(LogTest, ARewindIntoAStepGoesToTheStepsEnd) {
  auto log = Create();
  Append(*log, User("go"));
  const std::string assistant = Append(*log, Assistant("", {"call_a", "call_b"}));
  Append(*log, ResultOf("call_b"));
  const std::string last = Append(*log, ResultOf("call_a"));
  const std::string leaf = Append(*log, Assistant("done"));
  ASSERT_TRUE(log->Rewind(assistant, leaf));
  EXPECT_EQ(log->leaf_id(), last);
}

TEST_F(LogTest, ARewindToAnUnfinishedStepIsRefused) {
  auto log = Create();
  Append(*log, User("go"));
  const std::string assistant = Append(*log, Assistant("", {"call_a"}));
  EXPECT_EQ(log->Rewind(assistant, assistant).error().code, Code::kConflict);
}

TEST_F(LogTest, AClientMessageIsAcceptedOnce) {
  auto log = Create();
  const auto with_id = [] {
    Draft draft = User("hello");
    std::get<UserMessage>(draft.payload).client_message_id = "cm \"1\"";
    return draft;
  };
  Append(*log, with_id());
  EXPECT_EQ(AppendError(*log, with_id()).code, Code::kConflict);
  EXPECT_TRUE(log->Close());
  auto again = Open();
  EXPECT_EQ(AppendError(*again, with_id()).code, Code::kConflict);
}

TEST_F(LogTest, AConsumedQueueItemLeavesTheQueue) {
  auto log = Create();
  protocol::QueueUpdate update;
  update.queue = "follow_up";
  update.items.push_back({.item_id = "q1", .client_message_id = "cm1", .client_id = "c"});
  update.items.push_back({.item_id = "q2", .client_id = "c"});
  Append(*log, {.payload = update});
  EXPECT_EQ(log->index().state().follow_ups.size(), 2u);
  Draft draft = User("queued");
  std::get<UserMessage>(draft.payload).client_message_id = "cm1";
  std::get<UserMessage>(draft.payload).queue_item_id = "q1";
  Append(*log, std::move(draft));
  ASSERT_EQ(log->index().state().follow_ups.size(), 1u);
  EXPECT_EQ(log->index().state().follow_ups.front().item_id, "q2");
}

TEST_F(LogTest, ASecondWriterIsToldWhoHoldsTheSession) {
  auto log = Create();
  const Result<std::unique_ptr<Log>> second = Log::Open(Dir(), WriteOptions());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kBusy);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  EXPECT_TRUE(Open(Mode::kRead));
  EXPECT_TRUE(log->Close());
  EXPECT_TRUE(Open());
}

TEST_F(LogTest, ATornLastLineIsSetAsideAndCutOff) {
  {
    auto log = Create();
    Append(*log, User("kept"));
    Append(*log, User("torn"));
  }
  const std::string whole = *ReadFile(EventsPath());
  ASSERT_EQ(::truncate(EventsPath().c_str(), static_cast<off_t>(whole.size() - 10)), 0);
  EXPECT_EQ(PathIds(*Open(Mode::kRead)).size(), 1u);
  EXPECT_EQ(ReadFile(EventsPath())->size(), whole.size() - 10) << "a reader changes nothing";
  auto log = Open();
  EXPECT_EQ(PathIds(*log).size(), 1u);
  EXPECT_EQ(ListDir(Dir() + "/aside")->size(), 1u);
  Append(*log, User("on"));
  EXPECT_TRUE(log->Close());
  EXPECT_EQ(PathIds(*Open(Mode::kRead, false)).size(), 2u);
}

TEST_F(LogTest, ALastLineThatLacksOnlyItsLineEndIsKept) {
  {
    auto log = Create();
    Append(*log, User("one"));
  }
  const std::string whole = *ReadFile(EventsPath());
  ASSERT_EQ(::truncate(EventsPath().c_str(), static_cast<off_t>(whole.size() - 1)), 0);
  auto log = Open();
  EXPECT_EQ(PathIds(*log).size(), 1u);
  Append(*log, User("two"));
  EXPECT_TRUE(log->Close());
  EXPECT_EQ(PathIds(*Open(Mode::kRead, false)).size(), 2u);
}

TEST_F(LogTest, ADamagedLineInTheMiddleIsBridged) {
  std::string first;
  std::string second;
  std::string third;
  {
    auto log = Create();
    first = Append(*log, User("one"));
    second = Append(*log, User("two"));
    third = Append(*log, User("three"));
  }
  std::string bytes = *ReadFile(EventsPath());
  const std::size_t at = bytes.find("two");
  bytes[at] = static_cast<char>(bytes[at] ^ 4);
  ASSERT_TRUE(ReplaceFile(EventsPath(), bytes, Durable::kNo));
  ASSERT_TRUE(Remove(Dir() + "/index"));

  auto log = Open();
  EXPECT_EQ(PathIds(*log), (std::vector{first, third}));
  ASSERT_EQ(log->index().damages().size(), 1u);
  EXPECT_EQ(log->index().damages().front().recorded, 1u);
  Append(*log, User("on"));
  EXPECT_TRUE(log->Close());
  // The damage stays where it is, and is recorded once.
  auto again = Open(Mode::kWrite, false);
  int gaps = 0;
  ASSERT_TRUE(again->Read(0, [&](const Entry& entry, std::string_view) {
    gaps += entry.type == protocol::kTypeNumber<protocol::Gap>;
    return true;
  }));
  EXPECT_EQ(gaps, 1);
  EXPECT_EQ(PathIds(*again).size(), 3u);
}

TEST_F(LogTest, ALostHeaderIsRebuiltFromTheFolderAndTheSummary) {
  {
    auto log = Create();
    Append(*log, User("one"));
  }
  std::string bytes = *ReadFile(EventsPath());
  bytes[5] = 'X';
  ASSERT_TRUE(ReplaceFile(EventsPath(), bytes, Durable::kNo));
  {
    auto log = Open();
    EXPECT_EQ(log->header().session_id, "ses_test");
    EXPECT_EQ(log->header().meta.cwd, "/project");
  }
  ASSERT_TRUE(Remove(Dir() + "/summary.json"));
  auto log = Open(Mode::kRead, false);
  EXPECT_EQ(log->header().meta.cwd, "/project") << "the gap event holds it";
  EXPECT_EQ(PathIds(*log).size(), 1u);
}

TEST_F(LogTest, AnEmptyFileBecomesASessionAgain) {
  {
    auto log = Create();
  }
  ASSERT_EQ(::truncate(EventsPath().c_str(), 0), 0);
  {
    auto log = Open();
    Append(*log, User("one"));
  }
  auto log = Open(Mode::kRead, false);
  EXPECT_EQ(log->header().session_id, "ses_test");
  EXPECT_EQ(PathIds(*log).size(), 1u);
}

TEST_F(LogTest, ANewerFormatIsRefusedByName) {
  {
    auto log = Create();
  }
  protocol::Header header;
  header.version = protocol::kLogVersion + 1;
  header.session_id = "ses_test";
  std::string line = Encode(header);
  SealLine(line, 0);
  ASSERT_TRUE(ReplaceFile(EventsPath(), line, Durable::kNo));
  EXPECT_EQ(Log::Open(Dir(), WriteOptions()).error().code, Code::kTooNew);
}

TEST_F(LogTest, AnUnknownCriticalTypeMakesTheSessionReadOnly) {
  {
    auto log = Create();
    Append(*log, User("one"));
  }
  std::string line =
      R"({"seq":90,"id":"e_x","parentId":null,"type":"quantum","ts":1,"clientId":"c","critical":true,"a":1})";
  SealLine(line, 0);
  std::string bytes = *ReadFile(EventsPath()) + line;
  ASSERT_TRUE(ReplaceFile(EventsPath(), bytes, Durable::kNo));
  EXPECT_EQ(Log::Open(Dir(), WriteOptions()).error().code, Code::kTooNew);
  EXPECT_EQ(PathIds(*Open(Mode::kRead)).size(), 1u);
}

TEST_F(LogTest, SubscribersSeeEventsAndTransientsInOrderOfSeq) {
  auto log = Create();
  std::vector<std::uint64_t> seen;
  Subscription subscription =
      log->Subscribe([&](const Published& published) { seen.push_back(published.seq); });
  Append(*log, User("one"));
  log->Publish(protocol::TextDelta{.event_id = "e_1", .delta = "x"});
  Append(*log, Assistant("two"));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{2, 3, 4}));
  subscription = {};
  Append(*log, User("three"));
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(LogTest, AppendsThatArriveDuringAFlushShareTheNextOne) {
  auto log = Create();
  const std::uint64_t before = log->flush_count();
  constexpr int kProducers = 16;
  constexpr int kEach = 20;
  std::vector<std::thread> producers;
  for (int i = 0; i < kProducers; ++i) {
    producers.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        std::vector<Draft> batch;
        batch.push_back(User("x"));
        ASSERT_TRUE(log->Append(std::move(batch)));
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_LE(log->flush_count() - before, static_cast<std::uint64_t>(kProducers * kEach));
  EXPECT_EQ(PathIds(*log).size(), static_cast<std::size_t>(kProducers * kEach));
}

TEST_F(LogTest, ReadGivesEverythingFromASeqOn) {
  auto log = Create();
  for (int i = 0; i < 10; ++i) Append(*log, User(std::to_string(i)));
  std::vector<std::uint64_t> seqs;
  ASSERT_TRUE(log->Read(5, [&](const Entry& entry, std::string_view line) {
    EXPECT_TRUE(CheckLine(line));
    seqs.push_back(entry.seq);
    return true;
  }));
  EXPECT_EQ(seqs, (std::vector<std::uint64_t>{5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(LogTest, ControlEventsApplyOnThePathsThroughTheirAnchor) {
  auto log = Create();
  const auto note = [](std::string kind) {
    return Draft{.payload = protocol::Custom{.kind = std::move(kind)}};
  };
  const std::string first = Append(*log, User("one"));
  const std::string on_first = Append(*log, note("a"));
  const std::string second = Append(*log, User("two"));
  const std::string on_second = Append(*log, note("b"));
  ASSERT_TRUE(log->Rewind(first, second));
  const std::string after_rewind = Append(*log, note("c"));
  const auto applying = [&](const std::string& leaf) {
    std::vector<std::string> ids;
    for (const Ordinal event : ControlsOn(log->index(), *log->Find(leaf)))
      ids.push_back(*log->IdOf(event));
    return ids;
  };
  EXPECT_EQ(applying(first), (std::vector{on_first, after_rewind}));
  EXPECT_EQ(applying(second), (std::vector{on_first, on_second}))
      << "what is decided after a rewind never reaches the older branch";
}

}  // namespace
}  // namespace stet::log
