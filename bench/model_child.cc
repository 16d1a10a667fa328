#include "bench/model_child.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <semaphore>
#include <thread>

#include "base/clock.h"
#include "base/loop.h"
#include "bench/measure.h"
#include "net/http.h"
#include "provider/http_provider.h"

namespace stet::bench {
namespace {

using provider::Dialect;

class CountingSink final : public provider::Sink {
 public:
  void On(const provider::StreamEvent& event) override {
    if (events_++ == 0) since_first_ = Stopwatch();
    if (!std::holds_alternative<provider::TextDelta>(event)) return;
    ++deltas_;
    if (on_delta) on_delta(deltas_);
  }
  [[nodiscard]] std::uint64_t deltas() const { return deltas_; }
  [[nodiscard]] double ms_since_first() const { return since_first_.ms(); }

  std::function<void(std::uint64_t count)> on_delta;

 private:
  std::uint64_t events_ = 0;
  std::uint64_t deltas_ = 0;
  Stopwatch since_first_;
};

std::int64_t Microseconds(double ms) { return static_cast<std::int64_t>(ms * 1000); }

/// A loop, a client and one model.
class Asker {
 public:
  Asker(Dialect dialect, const std::string& url)
      : provider_(loop_, {.http = http_, .clock = SystemClock(), .random = random_},
                  {.model = EmulatedModel(dialect, url), .key = "sk-bench"}, std::nullopt, {}) {}

  Loop& loop() { return loop_; }

  provider::CallResult Ask(std::string_view prompt, provider::Sink& sink,
                           const CancelToken& cancel = {}) {
    return loop_.RunUntilDone(Stream(prompt, sink, cancel));
  }

  Async<provider::CallResult> Stream(std::string_view prompt, provider::Sink& sink,
                                     CancelToken cancel) {
    const provider::Request request = Asking(prompt);
    const Result<provider::WireRequest> wire = provider_.Encode(request);
    CHECK(wire, "a request without images can be encoded");
    co_return co_await provider_.Stream(request, *wire, sink, std::move(cancel));
  }

 private:
  Random random_{1};
  Loop loop_;
  net::HttpClient http_{loop_};
  provider::HttpProvider provider_;
};

int Complain(const provider::CallResult& call) {
  const std::string why = call.reply.failure ? call.reply.failure->message : "it ended by itself";
  fmt::print("a call came to another end than it should: {}\n", why);
  return 1;
}

int Decode(Dialect dialect, const std::string& url, std::string_view prompt) {
  Asker asker(dialect, url);
  CountingSink sink;
  const provider::CallResult call = asker.Ask(prompt, sink);
  if (call.reply.failure) return Complain(call);
  DecodeReport report;
  report.deltas = sink.deltas();
  report.stream_us = Microseconds(sink.ms_since_first());
  report.rss_kb = PeakRssKb();
  fmt::print("{}\n", Encode(report));
  return 0;
}

Async<void> AskOneOfMany(Asker& asker, const Stopwatch& watch, std::size_t count,
                         std::vector<double>& ends, std::uint64_t& done) {
  CountingSink sink;
  const provider::CallResult call = co_await asker.Stream(kSlow, sink, CancelToken());
  if (!call.reply.failure) ++done;
  ends.push_back(watch.ms());
  if (ends.size() == count) asker.loop().Stop();
}

int Many(const std::string& url, std::size_t count) {
  Asker asker(Dialect::kAnthropicMessages, url);
  CountingSink tiny;
  (void)asker.Ask(kTiny, tiny);  // Loads what the first call of a process loads.
  ManyReport report;
  report.start_rss_kb = PeakRssKb();
  std::vector<double> ends;
  const Stopwatch watch;
  for (std::size_t i = 0; i < count; ++i)
    asker.loop().Spawn(AskOneOfMany(asker, watch, count, ends, report.done));
  asker.loop().Run();
  report.first_us = Microseconds(ends.front());
  report.last_us = Microseconds(ends.back());
  report.rss_kb = PeakRssKb();
  fmt::print("{}\n", Encode(report));
  return 0;
}

/// Cancels from another thread: behind the third delta or, when none comes, after a while.
int Cancel(const std::string& url, const std::string& prompt, std::size_t count) {
  constexpr std::uint64_t kDeltasBefore = 3;
  constexpr std::chrono::milliseconds kWhile{20};
  Asker asker(Dialect::kAnthropicMessages, url);
  CancelReport report;
  for (std::size_t i = 0; i < count; ++i) {
    CancelSource source;
    CountingSink sink;
    std::binary_semaphore under_way{0};
    sink.on_delta = [&](std::uint64_t deltas) {
      if (deltas == kDeltasBefore) under_way.release();
    };
    Stopwatch since_cancel;
    std::jthread other([&] {
      if (prompt == kSilent)
        std::this_thread::sleep_for(kWhile);
      else
        under_way.acquire();
      since_cancel = Stopwatch();
      source.Cancel();
    });
    const provider::CallResult call = asker.Ask(prompt, sink, source.token());
    const double ms = since_cancel.ms();
    const bool cancelled =
        call.reply.failure && call.reply.failure->kind == provider::FailureKind::kCancelled;
    if (!cancelled) {
      if (sink.deltas() < kDeltasBefore) under_way.release();
      return Complain(call);
    }
    report.us.push_back(Microseconds(ms));
  }
  fmt::print("{}\n", Encode(report));
  return 0;
}

}  // namespace

provider::Model EmulatedModel(Dialect dialect, const std::string& url) {
  provider::Model model;
  model.provider = "emulator";
  model.id = "m";
  model.dialect = dialect;
  model.base_url = url;
  if (dialect == Dialect::kGoogleGenerativeAi) model.base_url += "/v1beta";
  if (dialect == Dialect::kOpenAiCompletions || dialect == Dialect::kOpenAiResponses)
    model.base_url += "/v1";
  model.max_output = 4096;
  model.context_window = 100'000;
  return model;
}

provider::Request Asking(std::string_view text) {
  provider::Request request;
  provider::UserInput input;
  input.blocks.emplace_back(protocol::TextBlock{.text = std::string(text)});
  request.entries.emplace_back(std::move(input));
  return request;
}

int ModelChild(const std::vector<std::string>& args) {
  const auto number = [&](std::size_t i) { return std::strtoull(args[i].c_str(), nullptr, 10); };
  if (args.size() == 4 && args[0] == "decode") {
    const std::optional<Dialect> dialect = provider::DialectFrom(args[1]);
    return dialect ? Decode(*dialect, args[2], args[3]) : 2;
  }
  if (args.size() == 3 && args[0] == "many") return Many(args[1], number(2));
  if (args.size() == 4 && args[0] == "cancel") return Cancel(args[1], args[2], number(3));
  return 2;
}

}  // namespace stet::bench
