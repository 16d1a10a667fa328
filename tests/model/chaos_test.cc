// Random sessions in windows of all sizes, with summarisers that fail in every way and servers
// whose window is smaller than the configuration says: every turn goes on to its end.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/random.h"
#include "client/await.h"
#include "tests/model/live_fixture.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

constexpr std::string_view kApis[] = {"anthropic-messages", "openai-completions",
                                      "openai-responses", "google-generative-ai"};
constexpr std::string_view kSuffixes[] = {"", "/v1", "/v1", "/v1beta"};
constexpr std::int64_t kLeastWindow = 16'000;
constexpr std::int64_t kMostWindow = 2'000'000;
constexpr std::size_t kFiles = 6;  // The largest of them has 256 KB.

/// How a session and its server are made.
struct Shape {
  std::size_t api = 0;
  std::int64_t window = 0;  // As it is configured.
  std::int64_t server = 0;  // As it is.
  std::int64_t output = 0;
  bool cache = false;  // The server counts as it cuts off; else it reports a rule of thumb.

  [[nodiscard]] std::string Text() const {
    return fmt::format("{} window {} server {} output {} cache {}", kApis[api], window, server,
                       output, cache);
  }
};

struct Counts {
  std::int64_t turns = 0;
  std::int64_t steps = 0;
  std::int64_t overflows = 0;
  int most_calls = 0;  // To the summariser, between two answers of the model after an overflow.
  std::map<std::string, int> compactions;  // By trigger and source.
};

/// What happens, and what is said, by chance.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  std::uint64_t Below(std::uint64_t n) { return random_.Below(n); }
  /// As often small as large.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    const double part = static_cast<double>(random_.Below(1'000'001)) / 1e6;
    return std::llround(std::exp(std::log(low) + (part * (std::log(high) - std::log(low)))));
  }

  std::string Words(std::int64_t bytes) {
    constexpr std::string_view kWords[] = {"the ",  "parser ", "of\n",      "file.cc ", "has ",
                                           "12345", " value;", " when(x) ", "tests, ",  "ünïcode "};
    std::string text;
    while (std::ssize(text) < bytes) text += kWords[random_.Below(std::size(kWords))];
    return text;
  }

  Shape MakeShape() {
    Shape shape;
    shape.api = random_.Below(std::size(kApis));
    // Half of them small: there something happens all the time.
    shape.window = Between(kLeastWindow, random_.Below(2) == 0 ? kMostWindow : 4 * kLeastWindow);
    shape.server = random_.Below(3) == 0 ? Between(kLeastWindow, shape.window) : shape.window;
    shape.output = Between(500, std::min<std::int64_t>(shape.window / 4, 32'000));
    shape.cache = random_.Below(2) == 0;
    return shape;
  }

 private:
  Random random_;
};

std::string TextReply(std::string_view text, std::string_view more = "") {
  return fmt::format(R"("delta":8192,"blocks":[{{"text":{}}}]{})", Encode(std::string(text)), more);
}

/// What a summariser does when it is asked.
std::string Summariser(Chance& chance, const Shape& shape) {
  switch (chance.Below(14)) {
    case 0: return R"("fault":{"kind":"status","status":400,"message":"no"})";
    case 1: return R"("fault":{"kind":"overload"})";
    case 2: return R"("fault":{"kind":"reset","afterEvents":2},"blocks":[{"text":"So far"}])";
    case 3: return R"("blocks":[])";
    case 4: return R"("blocks":[{"text":" \n  "}])";
    case 5: return TextReply("I cannot help with that.", R"(,"stop":"refused")");
    case 6: {
      // Ten times what it was given room for.
      std::string text;
      const std::int64_t bytes = std::min<std::int64_t>(shape.window / 7, 8'000) * 4 * 10;
      for (int i = 0; std::ssize(text) < bytes; ++i) text += fmt::format("Fact {} of it.\n", i);
      return TextReply(text);
    }
    case 7: {
      std::string text;
      for (int i = 0; i < 60; ++i) text += "I will now sum up the work.\n";
      return TextReply(text);
    }
    case 8: return TextReply("The very same words as ever.");
    case 9: return TextReply("Everything is done. All tests pass. Nothing is left to do.");
    case 10: return R"("blocks":[{"call":{"name":"Bash","args":{"command":"touch never"}}}])";
    case 11: return R"("fault":{"kind":"status","status":400,"message":"prompt is too long"})";
    case 12: return TextReply(chance.Words(2000), R"(,"stop":"max_tokens")");
    default: return TextReply(fmt::format("Summary {}.", chance.Below(1'000'000)));
  }
}

std::string Call(std::string_view tool, const std::string& args) {
  return fmt::format(R"({{"call":{{"name":"{}","args":{{{}}}}}}})", tool, args);
}

/// A step that calls tools: their results may be larger than any window.
std::string ToolStep(Chance& chance, const Shape& shape) {
  std::string calls;
  for (std::uint64_t count = 1 + chance.Below(3); count > 0; --count) {
    if (!calls.empty()) calls += ",";
    const std::uint64_t what = chance.Below(10);
    if (what == 0) {
      calls += Call("Bash", fmt::format(R"("command":"seq 1 {}")", chance.Between(1, 20'000)));
    } else if (what == 1) {
      calls += Call("TodoWrite", R"("todos":[{"content":"mend it","status":"pending"}])");
    } else if (what == 2) {
      const std::int64_t bytes =
          chance.Between(1, std::min<std::int64_t>(shape.output * 3, 40'000));
      calls += Call("Write", fmt::format(R"("file_path":"new/{}.txt","content":{})",
                                         chance.Below(1'000'000), Encode(chance.Words(bytes))));
    } else {
      calls += Call("Read", fmt::format(R"("file_path":"file{}.txt","offset":{})",
                                        chance.Below(kFiles), chance.Between(1, 1000)));
    }
  }
  return fmt::format(R"("delta":8192,"blocks":[{}])", calls);
}

/// The server's part in one turn.
std::string TurnScript(Chance& chance, const Shape& shape) {
  std::string replies = fmt::format(
      R"({{"when":{{"contains":"{0}"}},{1}}},{{"when":{{"contains":"{0}"}},"times":0,{2}}})",
      kAsksSummary, Summariser(chance, shape), Summariser(chance, shape));
  const auto add = [&](const std::string& reply) { replies += ",{" + reply + "}"; };
  for (std::uint64_t steps = chance.Below(5); steps > 0; --steps) add(ToolStep(chance, shape));
  // Two in a row are all that is tried, and a smaller server may need them.
  if (shape.server == shape.window && chance.Below(12) == 0)
    add(R"("fault":{"kind":"status","status":413,"message":"Request too large"})");
  const std::int64_t said = chance.Between(1, std::min<std::int64_t>(shape.output * 3, 40'000));
  if (chance.Below(12) == 0) add(TextReply(chance.Words(said), R"(,"stop":"overflow")"));
  add(TextReply("And so: " + chance.Words(said)));
  return fmt::format(R"({{"window":{},{}"replies":[{}]}})", shape.server,
                     shape.cache ? R"("cache":{},)" : "", replies);
}

class ChaosTest : public LiveTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[]})");
    Chance chance(1);
    for (std::size_t i = 0; i < kFiles; ++i)
      ASSERT_TRUE(ReplaceFile(fmt::format("{}/file{}.txt", project_, i),
                              chance.Words(std::int64_t{256} << (2 * i)), Durable::kNo));
  }

  void OpenNew(const Shape& shape) {
    ASSERT_TRUE(
        ReplaceFile(roots_.settings(),
                    fmt::format("[model]\ntype='custom'\nid='m'\napi='{}'\nbaseUrl='{}{}'\n"
                                "contextWindow={}\nmaxTokens={}\nimages=true\n"
                                "[model.retry]\nmaxTries=2\nfirstWaitMs=1\nlongestWaitMs=1\n"
                                "[log]\ndurability='relaxed'\n",
                                kApis[shape.api], emulator_->base_url(), kSuffixes[shape.api],
                                shape.window, shape.output),
                    Durable::kNo));
    heard_ = std::make_unique<Heard>();
    Open(Here());
  }

  protocol::Send MessageOf(Chance& chance, const Shape& shape) {
    protocol::Send send;
    send.how = "send";
    const std::uint64_t what = chance.Below(10);
    if (what == 0)
      send.text =
          chance.Words(chance.Between(1000, std::min<std::int64_t>(shape.window * 9, 300'000)));
    else
      send.text = chance.Words(chance.Between(10, 1000));
    if (what == 1) {
      protocol::ImageFile& image = send.images.emplace_back();
      image.media_type = "image/png";
      AppendBase64(image.data, "\x89PNG\r\n\x1A\n" + chance.Words(chance.Between(10, 3000)));
    }
    return send;
  }

  void MaybePin(Chance& chance) {
    if (chance.Below(4) != 0) return;
    protocol::Mark pin;
    pin.what = "pin";
    pin.text = chance.Words(chance.Between(10, 2000));
    EXPECT_TRUE(client::Await(*session_, &client::LiveSession::Mark, pin));
  }

  /// False when the turn came to no good end.
  bool RunTurn(Chance& chance, const Shape& shape, Counts& counts) {
    EXPECT_TRUE(emulator_->SetScript(TurnScript(chance, shape)));
    const protocol::Send send = MessageOf(chance, shape);
    const Result<protocol::Accepted> accepted =
        client::Await(*session_, &client::LiveSession::Send, send);
    EXPECT_TRUE(accepted) << accepted.error().Text();
    if (!accepted) return false;
    const protocol::TurnReport end = EndOf(accepted->turn_id.value_or(""));
    EXPECT_EQ(end.reason, "completed") << end.error.value_or("");
    ++counts.turns;
    counts.steps += end.steps;
    if (end.reason != "completed") return false;
    // By hand as well: then it may be that there is too little.
    if (chance.Below(10) == 0) EndOf(*Send("", "compact").turn_id);
    return true;
  }

  /// Counts what the log says about compactions.
  void Count(Counts& counts) {
    std::map<std::string, std::string> purposes;
    int calls = 0;  // To the summariser since the last request of the turn ended.
    bool overflowed = false;
    for (const protocol::Event& event : heard_->Events()) {
      if (const auto* compact = std::get_if<protocol::Compaction>(&event.payload))
        ++counts.compactions[compact->trigger + (compact->model ? " by the model" : " by the log")];
      const auto* call = std::get_if<protocol::ModelCall>(&event.payload);
      if (call == nullptr) continue;
      if (call->phase == "start") {
        purposes[call->call_id] = call->purpose.value_or("");
        if (call->purpose == "compaction") ++calls;
        continue;
      }
      if (purposes[call->call_id] != "turn") continue;
      if (overflowed) counts.most_calls = std::max(counts.most_calls, calls);
      const std::string& outcome = call->attempts->back().outcome;
      const bool again = outcome == "overflow" || outcome == "too_large";
      counts.overflows += again;
      // Both compactions that one overflow may lead to count as its own.
      if (!overflowed || !again) calls = 0;
      overflowed = again;
    }
  }

  void RunSession(std::uint64_t seed, Counts& counts) {
    Chance chance(seed);
    const Shape shape = chance.MakeShape();
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, shape.Text()));
    OpenNew(shape);
    if (HasFatalFailure()) return;
    MaybePin(chance);
    bool good = true;
    for (std::uint64_t turns = 2 + chance.Below(6); turns > 0 && good; --turns)
      good = RunTurn(chance, shape, counts);
    Count(counts);
    session_.reset();
    EXPECT_FALSE(Exists(project_ + "/never"));
    const auto replayed =
        client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Replay, session_id_);
    EXPECT_TRUE(replayed && replayed->different == 0);
    EXPECT_TRUE(RemoveTree(store::SessionStore(roots_).Find(session_id_).value()));
    EXPECT_TRUE(RemoveTree(project_ + "/new"));
    session_id_.clear();
  }
};

TEST_F(ChaosTest, WhateverHappensTheTurnGoesOnToItsEnd) {
  Counts counts;
  const auto begin = std::chrono::steady_clock::now();
  const int sessions = TestScale().chaos_sessions;
  for (int seed = 1; seed <= sessions; ++seed) {
    RunSession(static_cast<std::uint64_t>(seed), counts);
    if (HasFailure()) return;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("[ chaos    ] %d sessions, %.1f a second; %lld turns, %lld steps, %lld overflows\n",
              sessions, sessions / took.count(), static_cast<long long>(counts.turns),
              static_cast<long long>(counts.steps), static_cast<long long>(counts.overflows));
  for (const auto& [how, count] : counts.compactions)
    std::printf("[ chaos    ] %d compactions: %s\n", count, how.c_str());
  EXPECT_LE(counts.most_calls, 2) << "calls to the summariser for one overflow";
}

}  // namespace
}  // namespace stet::test
