// model_bench: measures how replies of models are read, against `stet emulator` in a process of its
// own on loopback. One JSON line per measurement.
//
// Decoding is compared with curl, which reads the same bytes and throws them away, in alternating
// runs; both pay for starting and for loading libcurl. Our side is a fresh process each time too
// (model_bench --child ...).
#include <cstdio>

#include <poll.h>
#include <unistd.h>

#include "base/json_view.h"
#include "base/json_writer.h"
#include "base/subprocess.h"
#include "bench/cost.h"
#include "bench/measure.h"
#include "bench/model_child.h"
#include "provider/dialect.h"

namespace stet::bench {
namespace {

using provider::Dialect;

constexpr int kRuns = 15;
constexpr std::int64_t kDeltas = 20'000;
constexpr std::int64_t kDeltaBytes = 16;
constexpr std::size_t kStreams = 200;
constexpr std::size_t kCancels = 100;
constexpr Dialect kDialects[] = {Dialect::kAnthropicMessages, Dialect::kOpenAiCompletions,
                                 Dialect::kOpenAiResponses, Dialect::kGoogleGenerativeAi};

double Ms(std::int64_t us) { return static_cast<double>(us) / 1000; }

/// `bytes` of ASCII, with what JSON must escape now and then.
std::string SomeText(std::int64_t bytes) {
  constexpr std::string_view kLine = "    if (name == \"first\") return Row{name, count + 1};\n";
  const auto size = static_cast<std::size_t>(bytes);
  std::string text;
  while (text.size() < size) text += kLine;
  text.resize(size);
  return text;
}

std::string Script() {
  std::string script;
  JsonWriter json(script);
  const auto begin = [&](std::string_view prompt) {
    json.BeginObject().Member("times", 0).Key("when").BeginObject();
    json.Member("lastUser", prompt).EndObject();
  };
  const auto text = [&](const std::string& said) {
    json.Key("blocks").BeginArray().BeginObject().Member("text", said).EndObject().EndArray();
  };
  json.BeginObject().Key("replies").BeginArray();
  begin(kTiny);
  text("Yes.");
  json.EndObject();
  begin(kLong);
  text(SomeText(kDeltas * kDeltaBytes));
  json.Member("delta", kDeltaBytes).Member("write", 65'536).EndObject();
  begin(kSlow);
  text(SomeText(100 * kDeltaBytes));
  json.Member("delta", kDeltaBytes).Member("pauseMs", 20).EndObject();
  begin(kSilent);
  json.Key("fault").BeginObject().Member("kind", "half_open").EndObject().EndObject();
  json.EndArray().EndObject();
  return script;
}

/// Waits until the emulator says where it listens.
Result<std::string> UrlOf(Subprocess& emulator) {
  constexpr std::string_view kMark = "listening on ";
  std::string said;
  while (said.find('\n') == std::string::npos) {
    pollfd one{.fd = emulator.stdout_fd(), .events = POLLIN, .revents = 0};
    char bytes[256];
    const ssize_t got =
        ::poll(&one, 1, 10'000) > 0 ? ::read(emulator.stdout_fd(), bytes, sizeof bytes) : 0;
    if (got <= 0) return Fail(Code::kIo, "the emulator does not start");
    said.append(bytes, static_cast<std::size_t>(got));
  }
  return said.substr(kMark.size(), said.find('\n') - kMark.size());
}

template <class Report>
Result<Report> RunChild(std::vector<std::string> words, Cost* cost = nullptr) {
  words.insert(words.begin(), {"/proc/self/exe", "--child"});
  ASSIGN_OR_RETURN(const Cost used, RunMeasured(words));
  if (cost != nullptr) *cost = used;
  return Decode<Report>(used.out);
}

/// curl with the request that our side sends; it says how long the body took.
Result<std::vector<std::string>> CurlCommand(Dialect dialect, const std::string& url,
                                             const std::string& dir) {
  const provider::Model model = EmulatedModel(dialect, url);
  ASSIGN_OR_RETURN(const provider::WireRequest wire, provider::EncodeRequest(model, Asking(kLong)));
  const std::string body = dir + "/body.json";
  RETURN_IF_ERROR(ReplaceFile(body, wire.body, Durable::kNo));
  std::vector<std::string> command = {"curl", "-sfN", "-o", "/dev/null", "-X", "POST"};
  command.insert(command.end(), {"-w", "%{time_starttransfer} %{time_total}"});
  for (const auto& [name, value] : wire.headers)
    command.insert(command.end(), {"-H", fmt::format("{}: {}", name, value)});
  command.insert(command.end(), {"--data-binary", "@" + body, wire.url});
  return command;
}

struct Side {
  std::vector<double> wall;
  std::vector<double> cpu;
  std::vector<double> stream;  // From the first byte on.

  void Add(const Cost& cost, double stream_ms) {
    wall.push_back(cost.wall_ms);
    cpu.push_back(cost.cpu_ms);
    stream.push_back(stream_ms);
  }
};

Status MeasureDecoding(Dialect dialect, const std::string& url, const std::string& dir) {
  const std::string name(provider::DialectName(dialect));
  ASSIGN_OR_RETURN(const std::vector<std::string> curl, CurlCommand(dialect, url, dir));
  Side ours;
  Side theirs;
  std::vector<double> extra;
  for (int i = 0; i < kRuns; ++i) {
    ASSIGN_OR_RETURN(const Cost curl_cost, RunMeasured(curl));
    double start = 0;
    double total = 0;
    if (std::sscanf(curl_cost.out.c_str(), "%lf %lf", &start, &total) != 2)
      return Fail(Code::kIo, "curl does not say its times");
    theirs.Add(curl_cost, (total - start) * 1000);
    ASSIGN_OR_RETURN(const DecodeReport tiny,
                     RunChild<DecodeReport>({"decode", name, url, std::string(kTiny)}));
    Cost cost;
    ASSIGN_OR_RETURN(const DecodeReport report,
                     RunChild<DecodeReport>({"decode", name, url, std::string(kLong)}, &cost));
    if (report.deltas != static_cast<std::uint64_t>(kDeltas))
      return Fail(Code::kIo, fmt::format("{} deltas instead of {}", report.deltas, kDeltas));
    ours.Add(cost, Ms(report.stream_us));
    extra.push_back((static_cast<double>(report.rss_kb) - static_cast<double>(tiny.rss_kb)) / 1024);
  }
  fmt::print(
      "{{\"what\":\"decode\",\"dialect\":\"{}\",\"deltas\":{},\"wall_ms\":{:.1f},\"curl_wall_ms\":"
      "{:.1f},\"wall_ratio\":{:.2f},\"cpu_ms\":{:.1f},\"curl_cpu_ms\":{:.1f},\"cpu_ratio\":{:.2f},"
      "\"stream_ms\":{:.1f},\"curl_stream_ms\":{:.1f},\"extra_rss_mb\":{:.1f}}}\n",
      name, kDeltas, Median(ours.wall), Median(theirs.wall),
      Median(ours.wall) / Median(theirs.wall), Median(ours.cpu), Median(theirs.cpu),
      Median(ours.cpu) / Median(theirs.cpu), Median(ours.stream), Median(theirs.stream),
      Median(extra));
  return {};
}

Status MeasureMany(const std::string& url) {
  ASSIGN_OR_RETURN(const ManyReport report,
                   RunChild<ManyReport>({"many", url, std::to_string(kStreams)}));
  ASSIGN_OR_RETURN(const Cost stats, RunMeasured({"curl", "-sf", url + "/emulator/stats"}));
  const std::int64_t most = JsonView(stats.out)["maxActive"].IntOr(0);
  fmt::print(
      "{{\"what\":\"many\",\"streams\":{},\"done\":{},\"max_active\":{},\"first_ms\":{:.0f},"
      "\"last_ms\":{:.0f},\"spread_ms\":{:.0f},\"start_rss_mb\":{:.1f},\"rss_mb\":{:.1f}}}\n",
      kStreams, report.done, most, Ms(report.first_us), Ms(report.last_us),
      Ms(report.last_us - report.first_us), static_cast<double>(report.start_rss_kb) / 1024,
      static_cast<double>(report.rss_kb) / 1024);
  return {};
}

Status MeasureCancel(const std::string& url, std::string_view prompt, std::string_view when) {
  ASSIGN_OR_RETURN(
      const CancelReport report,
      RunChild<CancelReport>({"cancel", url, std::string(prompt), std::to_string(kCancels)}));
  std::vector<double> ms;
  for (const std::int64_t us : report.us) ms.push_back(Ms(us));
  fmt::print(
      "{{\"what\":\"cancel\",\"when\":\"{}\",\"cancels\":{},\"median_ms\":{:.2f},\"max_ms\":{:.2f}}"
      "}\n",
      when, ms.size(), Median(ms), std::ranges::max(ms));
  return {};
}

Status Measure(const std::string& dir) {
  const std::string script = dir + "/script.json";
  RETURN_IF_ERROR(ReplaceFile(script, Script(), Durable::kNo));
  SpawnOptions options;
  options.argv = {STET_PROGRAM, "emulator", "--script", script};
  ASSIGN_OR_RETURN(Subprocess emulator, Subprocess::Start(std::move(options)));
  ASSIGN_OR_RETURN(const std::string url, UrlOf(emulator));
  for (const Dialect dialect : kDialects) RETURN_IF_ERROR(MeasureDecoding(dialect, url, dir));
  RETURN_IF_ERROR(MeasureMany(url));
  RETURN_IF_ERROR(MeasureCancel(url, kSlow, "mid_stream"));
  return MeasureCancel(url, kSilent, "first_byte");
}

int Run(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0] == "--child") return ModelChild({args.begin() + 1, args.end()});
  ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const Result<std::string> dir = MakeTempDir(".", "model-bench-");
  if (!dir) {
    fmt::print(stderr, "{}\n", dir.error().Text());
    return 1;
  }
  const Status measured = Measure(*dir);
  (void)RemoveTree(*dir);  // Ignoring errors on purpose: the folder's name says what it is.
  if (measured) return 0;
  fmt::print(stderr, "{}\n", measured.error().Text());
  return 1;
}

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) { return stet::bench::Run(argc, argv); }
