#include "run/ledger.h"

#include <gtest/gtest.h>

namespace stet::run {
namespace {

using protocol::ModelCall;

protocol::Event Start(const std::string& id, const std::string& purpose, const std::string& turn) {
  ModelCall call;
  call.call_id = id;
  call.phase = "start";
  call.purpose = purpose;
  call.model = "p/m";
  protocol::Event event;
  event.payload = std::move(call);
  event.stamp.turn_id = turn;
  return event;
}

protocol::Attempt Used(std::int64_t input, std::int64_t output) {
  protocol::Attempt attempt;
  attempt.outcome = "done";
  attempt.usage.emplace();
  attempt.usage->input = input;
  attempt.usage->output = output;
  attempt.usage->cache_read = 1;
  return attempt;
}

protocol::Event End(const std::string& id, std::vector<protocol::Attempt> attempts,
                    std::optional<std::int64_t> price) {
  ModelCall call;
  call.call_id = id;
  call.phase = "end";
  call.attempts = std::move(attempts);
  call.price = price;
  protocol::Event event;
  event.payload = std::move(call);
  return event;
}

TEST(LedgerTest, SumsArePerSessionTurnPurposeAndModel) {
  Ledger ledger;
  ledger.Fold(Start("a", "turn", "t1"));
  ledger.Fold(End("a", {Used(10, 2)}, 7));
  ledger.Fold(Start("b", "title", "t1"));
  ledger.Fold(End("b", {Used(100, 20)}, 70));
  ledger.Fold(Start("c", "turn", "t2"));
  ledger.Fold(End("c", {Used(1000, 200)}, 700));
  const protocol::CostReport report = ledger.Report("ses_x");
  EXPECT_EQ(report.total.calls, 3);
  EXPECT_EQ(report.total.input, 1110);
  EXPECT_EQ(report.total.output, 222);
  EXPECT_EQ(report.total.cache_read, 3);
  EXPECT_EQ(report.total.price, 777);
  EXPECT_EQ(report.total.unknown_calls, 0);
  ASSERT_EQ(report.purposes.size(), 2U);
  EXPECT_EQ(report.purposes[0].name, "turn");
  EXPECT_EQ(report.purposes[0].input, 1010);
  ASSERT_EQ(report.turns.size(), 2U);
  EXPECT_EQ(report.turns[0].input, 110);
  ASSERT_EQ(report.models.size(), 1U);
}

TEST(LedgerTest, AFailedTryThatWasReportedCounts) {
  Ledger ledger;
  ledger.Fold(Start("a", "turn", "t"));
  ledger.Fold(End("a", {Used(10, 0), Used(10, 5)}, 1));
  EXPECT_EQ(ledger.Report("s").total.input, 20);
  EXPECT_EQ(ledger.Report("s").total.attempts, 2);
}

TEST(LedgerTest, WhatWasNotReportedIsUnknownAndNotZero) {
  Ledger ledger;
  ledger.Fold(Start("died", "turn", "t"));
  EXPECT_EQ(ledger.Report("s").total.unknown_calls, 1);
  ledger.Fold(Start("failed", "turn", "t"));
  ledger.Fold(End("failed", {protocol::Attempt(), Used(1, 1)}, 1));
  EXPECT_EQ(ledger.Report("s").total.unknown_calls, 2);
  protocol::Attempt partial = Used(5, 1);
  partial.partial = true;
  ledger.Fold(Start("cancelled", "turn", "t"));
  ledger.Fold(End("cancelled", {partial}, 1));
  EXPECT_EQ(ledger.Report("s").total.unknown_calls, 3);
  EXPECT_EQ(ledger.Report("s").total.input, 6) << "what was reported counts all the same";
}

TEST(LedgerTest, AnEndWhoseStartIsLostStillCounts) {
  Ledger ledger;
  ledger.Fold(End("x", {Used(4, 4)}, std::nullopt));
  EXPECT_EQ(ledger.Report("s").total.input, 4);
  EXPECT_EQ(ledger.Report("s").total.unpriced_calls, 1);
}

}  // namespace
}  // namespace stet::run
