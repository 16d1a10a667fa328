#include "agent/items.h"
#include "agent/outbox_fixture.h"
#include "agent/task_rows.h"
#include "log/clone.h"

namespace stet::agent {
namespace {

using Texts = std::vector<std::string>;

TEST_F(OutboxTest, TheEndOfATaskIsOwedUntilAnItemCarriesIt) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  EXPECT_EQ(Due(), Texts());
  ASSERT_TRUE(EndTask("shell-1", false));
  EXPECT_EQ(Due(), Texts{"shell-1"});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(Due(), Texts());
  EXPECT_EQ(PaidHere(), Texts{"shell-1"});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(PaidHere(), Texts{"shell-1"}) << "once";
}

TEST_F(OutboxTest, WhereTheTreePermitsEndAndItemAreOneBatch) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  std::vector<std::string> types;
  std::size_t written = 0;
  const auto heard = log_->Subscribe([&](const log::Published& one) {
    types.emplace_back(protocol::TypeName(one.event->payload));
    // Of a batch, nothing is published before all of it is written.
    written = ReadFile(EventsPath()).value_or("").find("\"carries\"");
    EXPECT_NE(written, std::string::npos);
  });
  ASSERT_TRUE(EndTask("shell-1", true));
  EXPECT_EQ(types, (Texts{"task", "harness_item"}));
  EXPECT_EQ(Due(), Texts());
}

TEST_F(OutboxTest, WhileCallsAreOpenOnlyTheEndIsAppended) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  Append(*log_, log::Assistant("another", {"open"}));
  ASSERT_TRUE(EndTask("shell-1", false));
  ASSERT_TRUE(OweText("a hook says"));
  Append(*log_, log::ResultOf("open"));
  EXPECT_EQ(Due(), (Texts{"shell-1", "a hook says"}));
  ASSERT_TRUE(Pay());
  const auto items = All<protocol::HarnessItem>();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].placement, "merge");
  EXPECT_EQ(items[1].placement, "merge") << "behind one that was merged";
}

TEST_F(OutboxTest, AfterARewindToBehindTheCallTheEndIsOwedAgain) {
  const std::string before = Append(*log_, log::User("go"));
  StartTask("shell-1");
  const std::string behind = Leaf();
  ASSERT_TRUE(EndTask("shell-1", true));
  const std::string told = Leaf();
  RewindTo(before);
  EXPECT_EQ(Due(), Texts()) << "this path has no such call";
  RewindTo(behind);
  EXPECT_EQ(Due(), Texts{"shell-1"});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(PaidHere(), Texts{"shell-1"});
  BranchTo(told);
  EXPECT_EQ(Due(), Texts()) << "told here before";
  EXPECT_EQ(PaidHere(), Texts{"shell-1"});
}

TEST_F(OutboxTest, AnEndOnAPathWithoutItsCallIsOwedWhereTheCallIs) {
  const std::string before = Append(*log_, log::User("go"));
  StartTask("shell-1");
  const std::string behind = Leaf();
  RewindTo(before);
  Append(*log_, log::User("something else"));
  ASSERT_TRUE(EndTask("shell-1", true));
  EXPECT_EQ(Due(), Texts());
  EXPECT_EQ(PaidHere(), Texts());
  BranchTo(behind);
  EXPECT_EQ(Due(), Texts{"shell-1"});
}

TEST_F(OutboxTest, EverythingElseIsOwedOncePerLog) {
  const std::string before = Append(*log_, log::User("go"));
  ASSERT_TRUE(OweText("a hook says"));
  EXPECT_EQ(Due(), Texts{"a hook says"});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(Due(), Texts());
  RewindTo(before);
  EXPECT_EQ(Due(), Texts());
  protocol::HarnessItem again;
  again.placement = "own";
  again.carries.emplace().emplace_back().owed_id = All<protocol::Owed>()[0].owed_id;
  EXPECT_EQ(AppendError(*log_, {.payload = again}).code, Code::kConflict);
}

TEST_F(OutboxTest, ALostTaskIsOwedAndATaskWithoutACallOnce) {
  const std::string before = Append(*log_, log::User("go"));
  StartTask("shell-1");
  ASSERT_TRUE(EndTask("shell-1", false, "lost"));
  protocol::Task start;
  start.task_id = "monitor-2";
  start.kind = "monitor";
  start.phase = "start";
  Append(*log_, {.payload = start});
  ASSERT_TRUE(EndTask("monitor-2", false));
  EXPECT_EQ(Due(), (Texts{"shell-1", "monitor-2"}));
  ASSERT_TRUE(Pay());
  RewindTo(before);
  EXPECT_EQ(Due(), Texts());
}

TEST_F(OutboxTest, WhatWasOwedIsOwedAfterReopening) {
  for (const bool use_index : {true, false}) {
    Append(*log_, log::User("go"));
    StartTask(use_index ? "shell-1" : "shell-2");
    ASSERT_TRUE(EndTask(use_index ? "shell-1" : "shell-2", false));
    ASSERT_TRUE(OweText("a hook says"));
    const Texts due = Due();
    EXPECT_EQ(due.size(), 2U);
    Reopen(use_index);
    EXPECT_EQ(Due(), due);
    ASSERT_TRUE(Pay());
    Reopen(use_index);
    EXPECT_EQ(Due(), Texts());
  }
}

TEST_F(OutboxTest, ACompactionChangesNothingOfWhatIsOwed) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  ASSERT_TRUE(EndTask("shell-1", true));
  StartTask("shell-2");
  ASSERT_TRUE(EndTask("shell-2", false));
  protocol::Compaction compact;
  compact.trigger = "auto";
  compact.summary = "so far";
  compact.capsule = Raw{"{}"};
  Append(*log_, {.payload = compact});
  EXPECT_EQ(Due(), Texts{"shell-2"});
}

TEST_F(OutboxTest, ACopyOwesNothingButItsOwn) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  ASSERT_TRUE(EndTask("shell-1", true));
  ASSERT_TRUE(OweText("a hook says"));
  ASSERT_TRUE(log::Clone(
      *log_, std::nullopt,
      {.dir = Dir("ses_copy"), .session_id = "ses_copy", .device_id = "dev_test"}, WriteOptions()));
  bench_.reset();
  asks_.reset();
  auto copy = log::Log::Open(Dir("ses_copy"), WriteOptions());
  ASSERT_TRUE(copy) << copy.error().Text();
  log_ = *std::move(copy);
  MakeBench();
  EXPECT_EQ(Due(), Texts());
  EXPECT_TRUE(All<protocol::Task>().empty());
  EXPECT_TRUE(All<protocol::Owed>().empty());
  EXPECT_EQ(NextTaskNumber(*log_, *ReadTasks(*log_)), 2) << "not what its messages speak of";
  // Even a task of the same name is told of: what pays stands behind what is owed.
  StartTask("shell-1");
  ASSERT_TRUE(EndTask("shell-1", false));
  EXPECT_EQ(Due(), Texts{"shell-1"});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(Due(), Texts());
}

TEST_F(OutboxTest, AnExtensionIsPaidByAMessageOfItsOwn) {
  Append(*log_, log::User("go"));
  ASSERT_TRUE(
      Owe(*bench_, {.origin = "extension", .kind = "x.note", .text = "see", .data = Raw{"7"}}, {}));
  ASSERT_TRUE(OweText("a hook says"));
  ASSERT_TRUE(Pay());
  const auto messages = All<protocol::CustomMessage>();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].kind, "x.note");
  EXPECT_EQ(protocol::PlainText(messages[0].message.blocks), "see");
  EXPECT_EQ(messages[0].data->text, "7");
  EXPECT_EQ(PaidHere().size(), 2U);
  EXPECT_EQ(All<protocol::HarnessItem>()[0].placement, "own") << "no result is before it";
}

TEST_F(OutboxTest, WhatWaitsIsBounded) {
  Append(*log_, log::User("go"));
  ASSERT_TRUE(OweText(std::string(100'000, 'x')));
  const std::string text = All<protocol::Owed>()[0].text;
  EXPECT_LT(text.size(), Outbox::kMaxTextBytes + 100);
  EXPECT_TRUE(text.ends_with("more bytes were left out]")) << text.substr(text.size() - 60);
  ASSERT_TRUE(OweText("same"));
  ASSERT_TRUE(OweText("same"));
  EXPECT_EQ(All<protocol::Owed>().size(), 2U) << "the same words do not wait twice";
  ASSERT_TRUE(OweText("  \n"));
  EXPECT_EQ(All<protocol::Owed>().size(), 2U) << "nothing is said";
  int notices = 0;
  const auto heard = log_->Subscribe([&](const log::Published& one) {
    notices += one.transient != nullptr &&
               std::holds_alternative<protocol::Notice>(one.transient->transient);
  });
  for (std::size_t i = 0; i < Outbox::kMaxWaiting; ++i) ASSERT_TRUE(OweText(std::to_string(i)));
  EXPECT_EQ(All<protocol::Owed>().size(), Outbox::kMaxWaiting);
  EXPECT_EQ(notices, 2);
  ASSERT_TRUE(Pay());
  ASSERT_TRUE(OweText("and now"));
  EXPECT_EQ(Due(), Texts{"and now"});
}

TEST_F(OutboxTest, WhatAnotherProgramOwesDoesNotBrickTheSession) {
  Append(*log_, log::User("go"));
  protocol::Owed odd;
  odd.owed_id = "owed_1";
  odd.origin = "the moon";
  odd.kind = "gossip";
  Append(*log_, {.payload = odd});
  ASSERT_TRUE(Pay());
  EXPECT_EQ(Due(), Texts());
  EXPECT_EQ(All<protocol::HarnessItem>()[0].item.kind, item::kRuntimeNotice);
  // One that cannot be read, as its members do not fit, is not told, and keeps no turn going.
  protocol::UnknownEvent strange;
  strange.type = "owed";
  strange.extra = R"("owedId":"owed_2","text":7)";
  Append(*log_, {.payload = strange});
  EXPECT_FALSE(*OwesNotice(*bench_));
  ASSERT_TRUE(Pay());
}

TEST_F(OutboxTest, OnlyNoticesKeepATurnFromEnding) {
  Append(*log_, log::User("go"));
  ASSERT_TRUE(OweText("a hook says"));
  EXPECT_FALSE(*OwesNotice(*bench_));
  ASSERT_TRUE(OweText("a pin", "user"));
  EXPECT_TRUE(*OwesNotice(*bench_));
  EXPECT_FALSE(bench_->outbox.owes_end());
  StartTask("shell-1");
  ASSERT_TRUE(EndTask("shell-1", false));
  ASSERT_TRUE(bench_->outbox.Update(*log_));
  EXPECT_TRUE(bench_->outbox.owes_end());
}

TEST_F(OutboxTest, ANoticeSaysHowATaskEnded) {
  protocol::Task end;
  end.task_id = "shell-1";
  end.kind = "shell";
  end.phase = "end";
  const auto notice = [&] { return TaskNotice(end, log_->blobs()); };
  EXPECT_EQ(notice(), "The background command shell-1 could not be started.");
  end.exit = 3;
  EXPECT_EQ(notice(), "The background command shell-1 has ended (exit code 3).");
  end.tail = *log_->blobs().Put("last words\n");
  EXPECT_EQ(notice(),
            "The background command shell-1 has ended (exit code 3). Its output ends "
            "with:\nlast words\n");
  end.tail = std::string(64, '0');
  EXPECT_TRUE(notice().ends_with("The end of its output can no longer be read."));
  end.tail.reset();
  end.exit.reset();
  end.signal = 11;
  EXPECT_EQ(notice(), "The background command shell-1 has ended (signal 11).");
  end.status = "timed_out";
  EXPECT_EQ(notice(), "The background command shell-1 was stopped at its timeout.");
  end.status = "killed";
  end.by = "person";
  EXPECT_EQ(notice(), "The background command shell-1 was stopped by the user.");
  end.phase = "lost";
  EXPECT_EQ(notice(), "The background command shell-1 was lost when stet was stopped.");
}

TEST_F(OutboxTest, RowsAreTheTasksAsTheLogHasThem) {
  Append(*log_, log::User("go"));
  StartTask("shell-1");
  StartTask("shell-2");
  clock_.Advance(std::chrono::seconds(5));
  ASSERT_TRUE(EndTask("shell-1", false));
  const auto rows = ReadTasks(*log_);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].state, "completed");
  EXPECT_EQ(*(*rows)[0].ended_at - (*rows)[0].started_at, 5000);
  EXPECT_EQ((*rows)[0].exit, 0);
  EXPECT_EQ((*rows)[1].state, "running");
  EXPECT_EQ((*rows)[1].tool_call_id, "call_shell-2");
  EXPECT_EQ(NextTaskNumber(*log_, *rows), 3);
  EXPECT_EQ(FindTask(*rows, "x").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace stet::agent
