#include "log/verify.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "log/line.h"
#include "log/log_fixture.h"

namespace stet::log {
namespace {

class VerifyTest : public LogTest {
 protected:
  std::vector<std::string> Names() {
    const Result<Verdict> verdict = Verify(Dir());
    EXPECT_TRUE(verdict) << verdict.error().Text();
    std::vector<std::string> names;
    for (const Fault& fault : verdict->faults) names.emplace_back(FaultName(fault.kind));
    return names;
  }

  void AddLine(std::string object) {
    SealLine(object, 0);
    ASSERT_TRUE(ReplaceFile(EventsPath(), *ReadFile(EventsPath()) + object, Durable::kNo));
  }

  void Damage(std::string_view text) {
    std::string bytes = *ReadFile(EventsPath());
    const std::size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(EventsPath(), bytes, Durable::kNo));
  }
};

TEST_F(VerifyTest, ASoundSessionHasNoFaults) {
  {
    auto log = Create();
    Append(*log, User("one"));
  }
  const Verdict verdict = *Verify(Dir());
  EXPECT_TRUE(verdict.sound());
  EXPECT_EQ(verdict.events, 2u);
  EXPECT_EQ(verdict.lines, 3u);
}

TEST_F(VerifyTest, EverythingWrongIsListedAtOnce) {
  {
    auto log = Create();
    Append(*log, User("damage me"));
    Append(*log, User("two"));
  }
  Damage("damage me");
  AddLine(
      R"({"seq":50,"id":"e_up","parentId":null,"type":"custom","ts":1,"clientId":"c","kind":"k","data":1})");
  AddLine(
      R"({"seq":49,"id":"e_down","parentId":null,"type":"custom","ts":1,"clientId":"c","kind":"k","data":1})");
  AddLine(
      R"({"seq":51,"id":"e_up","parentId":null,"type":"custom","ts":1,"clientId":"c","kind":"k","data":1})");
  AddLine(
      R"({"seq":52,"id":"e_odd","parentId":null,"type":"turn","ts":1,"clientId":"c","phase":1})");
  AddLine(
      R"({"seq":53,"id":"e_new","parentId":null,"type":"quantum","ts":1,"clientId":"c","critical":true})");
  AddLine(
      R"({"seq":54,"id":"e_blob","parentId":null,"type":"content_replacement","ts":1,"clientId":"c","blob":")" +
      std::string(64, 'a') + R"(","eventIds":[]})");
  ASSERT_TRUE(ReplaceFile(EventsPath(), *ReadFile(EventsPath()) + "{\"seq\":55", Durable::kNo));
  EXPECT_EQ(Names(), (std::vector<std::string>{"damaged_line", "seq_not_growing", "duplicate_id",
                                               "unreadable_event", "unknown_critical", "torn_line",
                                               "missing_blob", "stale_index"}));
}

TEST_F(VerifyTest, AFaultNamesItsLine) {
  {
    auto log = Create();
    Append(*log, User("one"));
    Append(*log, User("two"));
  }
  Damage("two");
  const Verdict verdict = *Verify(Dir());
  ASSERT_EQ(verdict.faults.size(), 1u);
  EXPECT_EQ(verdict.faults.front().line, 4u);
}

TEST_F(VerifyTest, AnUnknownParentAndACycleAreToldApart) {
  {
    auto log = Create();
  }
  AddLine(
      R"({"seq":50,"id":"e_a","parentId":"e_b","type":"message","ts":1,"clientId":"c","role":"internal","message":{"blocks":[]}})");
  AddLine(
      R"({"seq":51,"id":"e_b","parentId":"e_a","type":"message","ts":1,"clientId":"c","role":"internal","message":{"blocks":[]}})");
  AddLine(
      R"({"seq":52,"id":"e_self","parentId":"e_self","type":"message","ts":1,"clientId":"c","role":"internal","message":{"blocks":[]}})");
  AddLine(
      R"({"seq":53,"id":"e_c","parentId":"e_gone","type":"message","ts":1,"clientId":"c","role":"internal","message":{"blocks":[]}})");
  EXPECT_EQ(Names(), (std::vector<std::string>{"parent_cycle", "parent_cycle", "unknown_parent"}));
  auto log = Open();
  EXPECT_EQ(PathIds(*log).size(), 4u) << "all of it stays readable";
  Append(*log, User("and writable"));
}

TEST_F(VerifyTest, HeaderFaultsAreToldApart) {
  {
    auto log = Create();
    Append(*log, User("one"));
  }
  const std::string whole = *ReadFile(EventsPath());
  ASSERT_TRUE(ReplaceFile(EventsPath(), whole.substr(whole.find('\n') + 1), Durable::kNo));
  EXPECT_EQ(Names(), std::vector<std::string>{"missing_header"});
  std::string damaged = whole;
  damaged[20] = '~';
  ASSERT_TRUE(ReplaceFile(EventsPath(), damaged, Durable::kNo));
  EXPECT_EQ(Names(), std::vector<std::string>{"damaged_header"});
  ASSERT_TRUE(ReplaceFile(EventsPath(), "", Durable::kNo));
  EXPECT_EQ(Names(), std::vector<std::string>{"empty_file"});
}

TEST_F(VerifyTest, WhatCannotBeVerifiedSaysWhy) {
  EXPECT_EQ(Verify(Dir("nowhere")).error().code, Code::kNotFound);
  ASSERT_TRUE(MakeDirs(Dir("odd") + "/events.jsonl"));
  EXPECT_EQ(Verify(Dir("odd")).error().code, Code::kInvalid);
}

TEST_F(VerifyTest, ARepairedSessionIsSoundThoughItsDamageStays) {
  {
    auto log = Create();
    Append(*log, User("one"));
    Append(*log, User("two"));
    Append(*log, User("three"));
  }
  Damage("two");
  ASSERT_FALSE(Verify(Dir())->sound());
  EXPECT_EQ(PlanRepair(*Verify(Dir())).size(), 2u)
      << "the line, and the index that still counts on it";
  ASSERT_TRUE(Repair(Dir(), WriteOptions()));
  const Verdict verdict = *Verify(Dir());
  EXPECT_TRUE(verdict.sound());
  EXPECT_EQ(verdict.faults.size(), 1u);
  EXPECT_TRUE(PlanRepair(verdict).empty());
  EXPECT_EQ(ListDir(Dir() + "/aside")->size(), 1u);
}

TEST_F(VerifyTest, ADamagedBlobIsFound) {
  auto log = Create();
  Append(*log, User("go"));
  Append(*log, Assistant("", {"call_a"}));
  const std::string blob = *log->blobs().Put("content");
  Draft result = ResultOf("call_a");
  std::get<protocol::ToolResult>(result.payload).blobs = {blob};
  Append(*log, std::move(result));
  ASSERT_TRUE(ReplaceFile(log->blobs().PathOf(blob), "contenT", Durable::kNo));
  EXPECT_EQ(Names(), std::vector<std::string>{"damaged_blob"});
}

}  // namespace
}  // namespace stet::log
