// What is foreseen of the cache, against the emulator's own cache: random sessions in which
// everything happens that breaks a prefix.
#include <fmt/format.h>

#include "agent/model_call.h"
#include "log/log_fixture.h"
#include "tests/model/model_fixture.h"

namespace stet::test {
namespace {

struct Server {
  const char* name;
  Dialect dialect;
  const char* model;
  const char* other_model;
  const char* cache;  // Of the emulator's script.
};

constexpr Server kServers[] = {
    {"Anthropic", Dialect::kAnthropicMessages, "claude-sonnet-5", "claude-sonnet-4-5",
     R"({"minimum":1024})"},
    {"AnthropicLarge", Dialect::kAnthropicMessages, "claude-haiku-4-5", "claude-opus-4-6",
     R"({"minimum":4096})"},
    {"OpenAiCompletions", Dialect::kOpenAiCompletions, "gpt-4o", "gpt-5", R"({"minimum":1024})"},
    {"OpenAiResponses", Dialect::kOpenAiResponses, "gpt-5", "gpt-5.5", R"({"minimum":1024})"},
    {"OpenAiWhole", Dialect::kOpenAiResponses, "gpt-6-sol", "gpt-5.6-luna",
     R"({"minimum":1024,"whole":true,"ttlMs":1800000})"},
    {"Google", Dialect::kGoogleGenerativeAi, "gemini-2.5-pro", "gemini-2.5-flash",
     R"({"minimum":2048})"},
};

struct Sums {
  std::int64_t requests = 0;
  std::int64_t reported = 0;  // Tokens read from the cache.
  std::int64_t off = 0;       // Of the foreseen ones, whichever way.
  std::map<std::string, int> causes;
};

/// One session: a conversation that is made up, and the log and the books of it.
class Session {
 public:
  Session(const std::string& dir, const Server& server, std::uint64_t seed)
      : server_(server), random_(seed) {
    protocol::Header header;
    header.session_id = "ses_test";
    header.kind = "chat";
    Result<std::unique_ptr<log::Log>> created = log::Log::Create(
        dir, header, {.mode = log::Mode::kWrite, .durability = log::Durability::kRelaxed});
    EXPECT_TRUE(created) << created.error().Text();
    log_ = *std::move(created);
    request_.system = {Words(800), Words(200)};
    for (int i = 0; i < 12; ++i) request_.tools.push_back(Tool(i));
    request_.effort = "high";
    request_.cache_key = "k";
    model_ = server.model;
    Say();
  }

  /// Something happens between two requests; gives the cause of the break, if it makes one.
  std::string Happen() {
    const std::uint64_t what = random_.Below(40);
    if (what == 0) return ChangeTools();
    if (what == 1) return ChangeEffort();
    if (what == 2) return ChangeModel();
    if (what == 3) return Rewind();
    if (what == 4) return Compact();
    if (what == 5) pause = std::chrono::minutes(31);
    if (what == 6 || what == 7) pause = std::chrono::seconds(310);
    if (what == 8 || what == 9) pause = std::chrono::seconds(270);
    if (what >= 35) pause = std::chrono::seconds(random_.Below(100));
    // More blocks than a mark looks back at; the second time even without a mark in between.
    if (what == 13) Work(25);
    Work(what == 12 || what == 13 ? 25 : 1 + random_.Below(3));
    if (what % 3 == 0) Say();
    return "";
  }

  log::Log& log() { return *log_; }
  [[nodiscard]] const provider::Request& request() const { return request_; }
  [[nodiscard]] const std::string& model() const { return model_; }
  std::chrono::milliseconds pause{0};

 private:
  std::string Words(std::size_t count) {
    constexpr std::string_view kSyllables[] = {"ka", "tion", "re", "mo", "sel", "dur", "i", "pro"};
    std::string text;
    const bool code = random_.Below(3) == 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint64_t n = 1 + random_.Below(3); n > 0; --n) text += kSyllables[random_.Below(8)];
      if (code) text += kSigns[random_.Below(kSigns.size())];
      if (random_.Below(9) == 0) text += fmt::format(" {}", random_.Below(100'000));
      text += i % 12 == 11 ? "\n" : " ";
    }
    return text;
  }

  provider::ToolSpec Tool(int number) {
    const std::string schema = fmt::format(
        R"({{"type":"object","properties":{{"path":{{"type":"string","description":"{}"}}}}}})",
        "Where it is");
    return {
        .name = fmt::format("tool_{:02}", number), .description = Words(60), .schema = {schema}};
  }

  void Append(log::Draft draft) {
    std::vector<log::Draft> batch;
    batch.push_back(std::move(draft));
    EXPECT_TRUE(log_->Append(std::move(batch)));
  }

  void Say() {
    provider::UserInput input;
    protocol::TextBlock text;
    text.text = Words(20);
    input.blocks.emplace_back(std::move(text));
    request_.entries.emplace_back(std::move(input));
    Append(log::User("said"));
    rests_.emplace_back(request_.entries.size(), *log_->leaf_id());
  }

  /// The model calls tools, and they answer.
  void Work(std::uint64_t calls) {
    provider::AssistantTurn turn;
    turn.model = "test/" + model_;
    protocol::TextBlock text;
    text.text = Words(30);
    turn.blocks.emplace_back(std::move(text));
    std::vector<provider::ToolResult> results;
    for (std::uint64_t i = 0; i < calls; ++i) {
      protocol::ToolCallBlock call;
      call.tool_call_id = fmt::format("call_{}", ++calls_);
      call.tool_name = "tool_01";
      call.args = Raw{fmt::format(R"({{"path":"src/{}.cc"}})", random_.Below(1000))};
      provider::ToolResult& result = results.emplace_back();
      result.tool_call_id = call.tool_call_id;
      protocol::TextBlock said;
      said.text = Words(20 + random_.Below(300));
      result.content.emplace_back(std::move(said));
      turn.blocks.emplace_back(std::move(call));
    }
    request_.entries.emplace_back(std::move(turn));
    for (provider::ToolResult& result : results) request_.entries.emplace_back(std::move(result));
    Append(log::Assistant("worked"));
  }

  std::string ChangeTools() {
    request_.tools[random_.Below(request_.tools.size())].description = Words(60);
    protocol::Toolset toolset;
    toolset.cause = "option";
    Append({.payload = std::move(toolset)});
    Work(1);
    return "option";
  }

  std::string ChangeEffort() {
    request_.effort = request_.effort == "high" ? "low" : "high";
    Work(1);
    return server_.dialect == Dialect::kAnthropicMessages ? "effort" : "";
  }

  std::string ChangeModel() {
    model_ = model_ == server_.model ? server_.other_model : server_.model;
    Work(1);
    return "model";
  }

  std::string Rewind() {
    const auto [entries, event] = rests_[random_.Below(rests_.size())];
    if (entries == request_.entries.size()) return "";
    std::erase_if(rests_, [&](const auto& rest) { return rest.first > entries; });
    request_.entries.resize(entries);
    EXPECT_TRUE(log_->Rewind(event, log_->leaf_id()));
    Work(1);
    return "rewind";
  }

  std::string Compact() {
    Append({.payload = protocol::Compaction()});
    request_.entries.clear();
    rests_.clear();
    Say();
    return "compaction";
  }

  static constexpr std::string_view kSigns = "(){};=<>+-*/&|![].,:\"";

  const Server& server_;
  Random random_;
  std::unique_ptr<log::Log> log_;
  provider::Request request_;
  std::string model_;
  std::vector<std::pair<std::size_t, std::string>> rests_;  // Entries, and the event there.
  int calls_ = 0;
};

class PrefixTest : public ModelTest, public testing::WithParamInterface<Server> {
 protected:
  provider::HttpProvider Asked(const std::string& id) {
    provider::Model model = ModelFor(GetParam().dialect);
    model.id = id;
    return ProviderFor(std::move(model));
  }

  /// The record of the request that was sent last.
  static protocol::Prefix PrefixOf(log::Log& log) {
    protocol::Prefix prefix;
    EXPECT_TRUE(log.Read(0, [&](const log::Entry& entry, std::string_view line) {
      if (entry.type != protocol::kTypeNumber<protocol::ModelCall>) return true;
      const Result<protocol::Event> event = protocol::DecodeEvent(line);
      const auto* call = std::get_if<protocol::ModelCall>(&event->payload);
      if (call != nullptr && call->prefix) prefix = *call->prefix;
      return true;
    }));
    return prefix;
  }

  void RunSession(const std::string& dir, std::uint64_t seed, int steps, Sums& sums) {
    Session session(dir, GetParam(), seed);
    FakeClock clock;
    context::Account account(clock);
    agent::CallPurpose purpose;
    purpose.purpose = "turn";
    purpose.account = &account;
    std::set<std::string> asked;
    std::string expected;
    for (int step = 0; step < steps; ++step) {
      provider::HttpProvider provider = Asked(session.model());
      const bool comparable = asked.contains(session.model()) && expected != "model";
      const Result<provider::CallResult> call = loop_.RunUntilDone(agent::AskModel(
          session.log(), provider, session.request(), purpose, sink_, CancelToken()));
      ASSERT_TRUE(call && !call->reply.failure && call->reply.content.usage);
      const protocol::Prefix prefix = PrefixOf(session.log());
      const std::string cause = prefix.cause.value_or("");
      EXPECT_NE(cause, "unexplained") << "step " << step;
      if (comparable) {
        EXPECT_EQ(cause, expected) << "step " << step;
      } else if (!asked.contains(session.model())) {
        EXPECT_EQ(cause, asked.empty() ? "" : "model");
      }
      asked.insert(session.model());
      const std::int64_t read = call->reply.content.usage->cache_read.value_or(0);
      ++sums.requests;
      ++sums.causes[cause];
      sums.reported += read;
      sums.off += std::abs(prefix.cached.value_or(0) - read);
      expected = session.Happen();
      clock.Advance(session.pause);
      emulator_->MoveClock(session.pause.count());
      session.pause = std::chrono::milliseconds(0);
    }
  }
};

TEST_P(PrefixTest, WhatIsForeseenIsReportedAndEveryBreakHasItsCause) {
  const TempDir dir;
  Sums sums;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    StartEmulator(
        fmt::format(R"({{"cache":{},"replies":[{{"times":0,"blocks":[{{"text":"ok"}}]}}]}})",
                    GetParam().cache));
    RunSession(dir.Sub(fmt::format("ses_{}", seed)), seed, 40, sums);
    if (HasFatalFailure()) return;
  }
  for (const char* cause : {"", "model", "option", "rewind", "compaction"})
    EXPECT_GT(sums.causes[cause], 0) << cause;
  EXPECT_EQ(sums.causes["effort"] > 0, GetParam().dialect == Dialect::kAnthropicMessages);
  const double share = static_cast<double>(sums.off) / static_cast<double>(sums.reported);
  RecordProperty("off", fmt::format("{:.4f}", share));
  EXPECT_GT(sums.reported, sums.requests * 1000);
  EXPECT_LE(share, 0.01) << sums.off << " of " << sums.reported << " tokens in " << sums.requests
                         << " requests";
}

INSTANTIATE_TEST_SUITE_P(Servers, PrefixTest, testing::ValuesIn(kServers),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace stet::test
