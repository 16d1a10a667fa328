// ModelTest: a real server process's worth of emulator in this process, and a provider that speaks
// to it over a real socket. Clocks and waits are short, so that faults end soon.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/loop.h"
#include "emulator/emulator.h"
#include "net/http.h"
#include "provider/http_provider.h"

namespace stet::test {

using provider::Dialect;

inline constexpr Dialect kDialects[] = {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                                        Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi};

/// A dialect as part of a test's name.
inline std::string NameOf(Dialect dialect) {
  std::string name(provider::DialectName(dialect));
  std::erase(name, '-');
  return name;
}

/// Keeps the stream as text, one event a line.
class KeepingSink final : public provider::Sink {
 public:
  void On(const provider::StreamEvent& event) override {
    events.push_back(event);
    if (hook) hook(event);
  }
  [[nodiscard]] std::string Text() const {
    std::string out;
    for (const provider::StreamEvent& event : events) out += Encode(event) + "\n";
    return out;
  }
  template <class T>
  [[nodiscard]] std::size_t Count() const {
    std::size_t count = 0;
    for (const provider::StreamEvent& event : events) count += std::holds_alternative<T>(event);
    return count;
  }

  std::vector<provider::StreamEvent> events;
  std::function<void(const provider::StreamEvent&)> hook;
};

/// What the model said, joined.
inline std::string TextOf(const provider::CallResult& call) {
  return protocol::PlainText(call.reply.content.blocks);
}

inline std::string KindOf(const provider::CallResult& call) {
  return call.reply.failure ? std::string(provider::FailureName(call.reply.failure->kind)) : "done";
}

class ModelTest : public testing::Test {
 protected:
  void StartEmulator(std::string_view script) {
    auto started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    falls_silent_ = script.find("half_open") != std::string_view::npos ||
                    script.find("stall") != std::string_view::npos;
  }

  [[nodiscard]] provider::Model ModelFor(Dialect dialect) const {
    using std::chrono::milliseconds;
    provider::Model model;
    model.provider = "test";
    model.id = "m";
    model.dialect = dialect;
    model.base_url = emulator_->base_url();
    if (dialect == Dialect::kGoogleGenerativeAi) model.base_url += "/v1beta";
    if (dialect == Dialect::kOpenAiCompletions || dialect == Dialect::kOpenAiResponses)
      model.base_url += "/v1";
    model.max_output = 4096;
    model.context_window = 100'000;
    model.thinking = provider::Thinking::kEffort;
    if (dialect == Dialect::kAnthropicMessages) model.thinking = provider::Thinking::kAdaptive;
    model.images = true;
    // Short only where a clock must run out: else a busy machine would run into it as well.
    const milliseconds patience(falls_silent_ ? 500 : 30'000);
    model.clocks = {.connect = milliseconds(30'000),
                    .first_byte = patience,
                    .idle_warn = milliseconds(100),
                    .idle_fail = patience,
                    .whole = {}};
    return model;
  }

  provider::HttpProvider ProviderFor(provider::Model model,
                                     std::optional<provider::Access> fallback = {}) {
    const provider::Surroundings surroundings{
        .http = http_, .clock = SystemClock(), .random = random_};
    const provider::RetryPolicy policy{.max_tries = 3,
                                       .first_wait = std::chrono::milliseconds(1),
                                       .longest_wait = std::chrono::milliseconds(2),
                                       .longest_asked_wait = std::chrono::milliseconds(50),
                                       .overloads_before_fallback = 2};
    return {loop_,
            surroundings,
            {.model = std::move(model), .key = "sk-secret"},
            std::move(fallback),
            policy};
  }

  static provider::Request Asking(std::string_view text) {
    provider::Request request;
    provider::UserInput input;
    protocol::TextBlock block;
    block.text = text;
    input.blocks.emplace_back(std::move(block));
    request.entries.emplace_back(std::move(input));
    return request;
  }

  provider::CallResult Ask(provider::Provider& provider, const provider::Request& request,
                           KeepingSink& sink, const CancelToken& cancel = {}) {
    const Result<provider::WireRequest> wire = provider.Encode(request);
    EXPECT_TRUE(wire);
    return loop_.RunUntilDone(provider.Stream(request, *wire, sink, cancel));
  }

  /// One question to a model that answers by the script; `sink_` has the stream.
  provider::CallResult AskOnce(Dialect dialect) {
    provider::HttpProvider provider = ProviderFor(ModelFor(dialect));
    sink_.events.clear();
    return Ask(provider, Asking("go"), sink_);
  }

  bool falls_silent_ = false;
  Random random_{1};
  Loop loop_;
  net::HttpClient http_{loop_};
  KeepingSink sink_;
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace stet::test
