// Whatever a session's history is, the request that is made of it is what its server wants: it fits
// the official types, and keeps the rules that types cannot say.
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "base/temp_dir.h"
#include "context/conversation.h"
#include "json/schema/schema.h"
#include "log/tree.h"
#include "provider/dialect.h"
#include "tests/model/history_fixture.h"
#include "tests/model/history_rules.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

using provider::Dialect;

constexpr std::array kEncoders = {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                                  Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi};

provider::Model ModelOf(Dialect dialect, Random& random) {
  using provider::Thinking;
  provider::Model model;
  model.provider = "test";
  model.id = "m";
  model.dialect = dialect;
  model.base_url = "http://127.0.0.1:1";
  model.max_output = 100'000;
  model.images = random.Below(4) != 0;
  constexpr std::array kThinking = {Thinking::kNone, Thinking::kBudget, Thinking::kAdaptive,
                                    Thinking::kEffort};
  model.thinking = kThinking[random.Below(kThinking.size())];
  return model;
}

provider::Request RequestOf(std::vector<provider::Entry> entries, Random& random) {
  provider::Request request;
  request.system = {"Be brief."};
  request.tools = {{.name = "Read", .description = "Reads."},
                   {.name = "Bash", .description = "Runs."}};
  request.entries = std::move(entries);
  constexpr std::array<const char*, 4> kEfforts = {"none", "low", "high", "max"};
  if (random.Below(2) == 0) request.effort = kEfforts[random.Below(kEfforts.size())];
  request.read_blob = [](const std::string& blob) -> Result<std::string> {
    if (blob == kGoodBlob) return std::string("\x89PNG\0", 5);
    return Fail(Code::kNotFound, "gone");
  };
  return request;
}

class Judge {
 public:
  explicit Judge(const std::string& schemas) {
    for (const Dialect dialect : kEncoders) {
      const std::string path = fmt::format("{}/{}.json", schemas, provider::DialectName(dialect));
      Result<JsonSchema> schema = JsonSchema::Parse(ReadFile(path).value_or(""));
      EXPECT_TRUE(schema) << path << ": " << schema.error().Text();
      if (schema) schemas_.push_back(*std::move(schema));
    }
  }

  /// What is wrong with what a path becomes in any dialect; empty: nothing.
  [[nodiscard]] std::string Wrong(const std::vector<protocol::Event>& path, Random& random) const {
    const provider::Request request = RequestOf(context::Conversation::Of(path).Entries(), random);
    for (std::size_t i = 0; i < schemas_.size(); ++i) {
      const std::string_view api = provider::DialectName(kEncoders[i]);
      const auto wire = provider::EncodeRequest(ModelOf(kEncoders[i], random), request);
      if (!wire) return fmt::format("{}: {}", api, wire.error().Text());
      if (const std::string rule = BrokenRule(api, wire->body); !rule.empty())
        return fmt::format("{}: {}\n{}", api, rule, wire->body);
      if (const auto errors = schemas_[i].Validate(wire->body); !errors.empty())
        return fmt::format("{}: {} {}\n{}", api, errors[0].path, errors[0].message, wire->body);
    }
    return "";
  }

 private:
  std::vector<JsonSchema> schemas_;  // By the dialect's place in kEncoders.
};

std::string Describe(const std::vector<protocol::Event>& path) {
  std::string text;
  for (const protocol::Event& event : path) {
    protocol::EncodeEvent(event, text);
    text += '\n';
  }
  return text;
}

TEST(HistoryTest, EveryHistoryBecomesAValidRequestInEveryDialect) {
  const std::string folder = SourceDir() + "/build/wire/schemas";
  if (!Exists(folder)) GTEST_SKIP() << "made by scripts/wire_schemas: " << folder;
  const Judge judge(folder);
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::string wrong;
  const auto work = [&] {
    for (int seed = next++; seed < TestScale().histories; seed = next++) {
      Random random(static_cast<std::uint64_t>(seed));
      const std::vector<protocol::Event> path = HistoryMaker(random).Path();
      const std::string found = judge.Wrong(path, random);
      if (found.empty()) continue;
      const std::lock_guard lock(mutex);
      if (wrong.empty()) wrong = fmt::format("history {}\n{}\n{}", seed, Describe(path), found);
      next = TestScale().histories;
    }
  };
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
  }
  EXPECT_EQ(wrong, "");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("[ rate     ] %d histories, %.0f a second\n", TestScale().histories,
              TestScale().histories / took.count());
}

/// A log that is written, rewound and branched at random, and what a lane remembers of it.
class HistoryLogTest : public testing::Test {
 protected:
  void Open(std::uint64_t seed) {
    log_.reset();
    protocol::Header header;
    header.session_id = fmt::format("ses_{}", seed);
    header.kind = "chat";
    header.device_id = "dev_test";
    log::Options options{.mode = log::Mode::kWrite, .durability = log::Durability::kRelaxed};
    options.device_id = "dev_test";
    auto made = log::Log::Create(temp_.Sub(header.session_id), header, options);
    ASSERT_TRUE(made) << made.error().Text();
    log_ = *std::move(made);
  }

  void Append(protocol::Payload payload) {
    std::vector<log::Draft> batch;
    batch.push_back({.payload = std::move(payload), .id = "", .stamp = {}});
    const auto appended = log_->Append(std::move(batch));
    ASSERT_TRUE(appended) << appended.error().Text();
    const bool in_tree = log_->leaf_id() == appended->ids.front();
    if (in_tree && log_->open_calls().empty()) rest_points_.push_back(appended->ids.front());
  }

  void Step(HistoryMaker& maker, Random& random) {
    if (const auto open = log_->open_calls(); !open.empty()) {
      Append(maker.Result(open[random.Below(open.size())].tool_call_id));
    } else if (random.Below(5) == 0 && !rest_points_.empty()) {
      const auto moved =
          log_->Rewind(rest_points_[random.Below(rest_points_.size())], log_->leaf_id());
      ASSERT_TRUE(moved) << moved.error().Text();
    } else if (random.Below(8) == 0) {
      const std::vector<log::Ordinal> leaves = log::Tree(log_->index()).Leaves();
      if (leaves.empty()) return;
      const auto leaf = log_->IdOf(leaves[random.Below(leaves.size())]);
      const auto moved = log_->Branch(*leaf, log_->leaf_id());
      ASSERT_TRUE(moved) << moved.error().Text();
    } else if (random.Below(8) == 0 && !rest_points_.empty()) {
      Append(maker.Filter(SomeEvent(random), SomeEvent(random)));
    } else {
      protocol::Payload payload = maker.Message();
      if (auto* compact = std::get_if<protocol::Compaction>(&payload); compact != nullptr)
        compact->keep_after_event_id = rest_points_.empty() ? "" : SomeEvent(random);
      Append(std::move(payload));
    }
  }

  const std::string& SomeEvent(Random& random) {
    return rest_points_[random.Below(rest_points_.size())];
  }

  TempDir temp_;
  std::unique_ptr<log::Log> log_;
  std::vector<std::string> rest_points_;
};

TEST_F(HistoryLogTest, WhatIsRememberedOfAPathIsWhatTheLogSays) {
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(TestScale().histories / 100);
       ++seed) {
    SCOPED_TRACE(testing::Message() << "history " << seed);
    Open(seed);
    if (HasFatalFailure()) return;
    rest_points_.clear();
    Random random(seed);
    HistoryMaker maker(random);
    context::Conversation remembered;
    for (int step = 0; step < 40 && !HasFailure(); ++step) {
      Step(maker, random);
      if (random.Below(2) == 0) continue;
      context::Conversation fresh;
      ASSERT_TRUE(remembered.Update(*log_));
      ASSERT_TRUE(fresh.Update(*log_));
      const auto body = [&](std::vector<provider::Entry> entries) {
        Random same(seed);
        const provider::Model model = ModelOf(kEncoders[seed % kEncoders.size()], same);
        return provider::EncodeRequest(model, RequestOf(std::move(entries), same))->body;
      };
      std::vector<provider::Entry> lent = remembered.Lend();
      ASSERT_EQ(body(lent), body(fresh.Entries()));
      if (random.Below(4) != 0) remembered.TakeBack(std::move(lent));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stet::test
