// model_bench: measures how replies of models are read, against `stet emulator` in a process of its
// own on loopback. One JSON line per measurement.
//
// Decoding is compared with curl, which reads the same bytes and throws them away, in alternating
// runs; both pay for starting and for loading libcurl. Our side is a fresh process each time too
// (model_bench --child ...).
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <poll.h>
#include <unistd.h>

#include "base/subprocess/subprocess.h"
#include "bench/cost.h"
#include "bench/measure.h"
#include "bench/model_child.h"
#include "json/view.h"
#include "json/writer.h"
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

constexpr std::string_view kHelp =
    R"(model_bench: measures how replies of models are read, one JSON line per measurement.

  decode   20,000 text deltas in each dialect, against curl reading the same bytes; medians of 15
  many     200 streams at once in one process
  cancel   how long a call that was cancelled takes to end

It takes no arguments and about a minute. The server is `stet emulator`, built beside it. A script
for it stands in a folder in TMPDIR (/tmp) while it starts. Needs curl. Measure on a quiet machine.
)";

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

/// One line of results. Fails when standard output is closed.
Status Report(std::string line) {
  line += '\n';
  if (std::fputs(line.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    return FailSystem(errno, "write the results");
  return {};
}

/// curl with the request that our side sends; it says how long the body took.
Result<std::vector<std::string>> CurlCommand(Dialect dialect, const std::string& url) {
  const provider::Model model = EmulatedModel(dialect, url);
  ASSIGN_OR_RETURN(const provider::WireRequest wire, provider::EncodeRequest(model, Asking(kLong)));
  std::vector<std::string> command = {"curl", "-sfN", "-o", "/dev/null", "-X", "POST"};
  command.insert(command.end(), {"-w", "%{time_starttransfer} %{time_total}"});
  for (const auto& [name, value] : wire.headers)
    command.insert(command.end(), {"-H", fmt::format("{}: {}", name, value)});
  command.insert(command.end(), {"--data-binary", wire.body, wire.url});
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

Status MeasureDecoding(Dialect dialect, const std::string& url) {
  const std::string name(provider::DialectName(dialect));
  ASSIGN_OR_RETURN(const std::vector<std::string> curl, CurlCommand(dialect, url));
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
  return Report(fmt::format(
      "{{\"what\":\"decode\",\"dialect\":\"{}\",\"deltas\":{},\"wall_ms\":{:.1f},\"curl_wall_ms\":"
      "{:.1f},\"wall_ratio\":{:.2f},\"cpu_ms\":{:.1f},\"curl_cpu_ms\":{:.1f},\"cpu_ratio\":{:.2f},"
      "\"stream_ms\":{:.1f},\"curl_stream_ms\":{:.1f},\"extra_rss_mb\":{:.1f}}}",
      name, kDeltas, Median(ours.wall), Median(theirs.wall),
      Median(ours.wall) / Median(theirs.wall), Median(ours.cpu), Median(theirs.cpu),
      Median(ours.cpu) / Median(theirs.cpu), Median(ours.stream), Median(theirs.stream),
      Median(extra)));
}

Status MeasureMany(const std::string& url) {
  ASSIGN_OR_RETURN(const ManyReport report,
                   RunChild<ManyReport>({"many", url, std::to_string(kStreams)}));
  ASSIGN_OR_RETURN(const Cost stats, RunMeasured({"curl", "-sf", url + "/emulator/stats"}));
  const std::int64_t most = JsonView(stats.out)["maxActive"].IntOr(0);
  return Report(fmt::format(
      "{{\"what\":\"many\",\"streams\":{},\"done\":{},\"max_active\":{},\"first_ms\":{:.0f},"
      "\"last_ms\":{:.0f},\"spread_ms\":{:.0f},\"start_rss_mb\":{:.1f},\"rss_mb\":{:.1f}}}",
      kStreams, report.done, most, Ms(report.first_us), Ms(report.last_us),
      Ms(report.last_us - report.first_us), static_cast<double>(report.start_rss_kb) / 1024,
      static_cast<double>(report.rss_kb) / 1024));
}

Status MeasureCancel(const std::string& url, std::string_view prompt, std::string_view when) {
  ASSIGN_OR_RETURN(
      const CancelReport report,
      RunChild<CancelReport>({"cancel", url, std::string(prompt), std::to_string(kCancels)}));
  std::vector<double> ms;
  for (const std::int64_t us : report.us) ms.push_back(Ms(us));
  return Report(
      fmt::format("{{\"what\":\"cancel\",\"when\":\"{}\",\"cancels\":{},\"median_ms\":{:.2f},\"max_"
                  "ms\":{:.2f}}}",
                  when, ms.size(), Median(ms), std::ranges::max(ms)));
}

struct Emulator {
  Subprocess process;
  std::string url;
};

Result<Emulator> StartEmulator(const std::string& script) {
  RETURN_IF_ERROR(ReplaceFile(script, Script(), Durable::kNo));
  SpawnOptions options;
  options.argv = {STET_PROGRAM, "emulator", "--script", script};
  ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(std::move(options)));
  ASSIGN_OR_RETURN(std::string url, UrlOf(process));
  return Emulator{std::move(process), std::move(url)};
}

Result<Emulator> StartEmulator() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string parent = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  ASSIGN_OR_RETURN(const std::string dir, MakeTempDir(parent, "model-bench-"));
  Result<Emulator> emulator = StartEmulator(dir + "/script.json");
  (void)RemoveTree(
      dir);  // It is read by now. Ignoring errors on purpose: a name says what is left.
  return emulator;
}

Status Measure() {
  ASSIGN_OR_RETURN(const Emulator emulator, StartEmulator());
  const std::string& url = emulator.url;
  for (const Dialect dialect : kDialects) RETURN_IF_ERROR(MeasureDecoding(dialect, url));
  RETURN_IF_ERROR(MeasureMany(url));
  RETURN_IF_ERROR(MeasureCancel(url, kSlow, "mid_stream"));
  return MeasureCancel(url, kSilent, "first_byte");
}

int Run(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0] == "--child") return ModelChild({args.begin() + 1, args.end()});
  if (!args.empty()) {
    const bool asked = args[0] == "--help" || args[0] == "-h";
    fmt::print(asked ? stdout : stderr, "{}", kHelp);
    return asked ? 0 : 2;
  }
  std::signal(SIGPIPE, SIG_IGN);  // A reader that went away is an error of Report.
  const Status measured = Measure();
  if (measured) return 0;
  fmt::print(stderr, "{}\n", measured.error().Text());
  return 1;
}

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) { return stet::bench::Run(argc, argv); }
