// log_bench [--bytes N] [--dir DIR]: measures the log on a generated session of N bytes (1 GB) in a
// new folder under DIR (the current one), which is removed at the end. One JSON line per
// measurement. Opening is measured in a fresh process each time (log_bench --child WHAT SESSION),
// with the file in the page cache, as `wc -l` has it too.
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/subprocess/subprocess.h"
#include "bench/append_measures.h"
#include "bench/generator.h"
#include "bench/measure.h"
#include "json/describe.h"
#include "log/tree.h"

namespace stet::bench {
namespace {

constexpr int kRuns = 7;
constexpr std::uint64_t kDefaultBytes = std::uint64_t{1} << 30;

/// What a child process says of itself.
struct ChildReport {
  STET_FIELDS(ChildReport, (std::int64_t, open_us), (std::int64_t, path_us),
              (std::int64_t, slice_us), (std::uint64_t, events), (std::uint64_t, path),
              (std::uint64_t, slice), (std::uint64_t, start_rss_kb), (std::uint64_t, path_rss_kb),
              (std::uint64_t, peak_rss_kb))
};

std::unique_ptr<log::Log> OpenOrDie(const std::string& dir, log::Options options) {
  Result<std::unique_ptr<log::Log>> log = log::Log::Open(dir, std::move(options));
  if (!log) {
    fmt::print(stderr, "{}\n", log.error().Text());
    std::exit(1);
  }
  return *std::move(log);
}

/// Opens, walks the path of the leaf, then decodes what stands behind its last compaction.
int Child(std::string_view what, const std::string& dir) {
  ChildReport report;
  report.start_rss_kb = PeakRssKb();
  const Stopwatch open;
  const std::unique_ptr<log::Log> log =
      OpenOrDie(dir, {.mode = what == "write" ? log::Mode::kWrite : log::Mode::kRead,
                      .use_index = what != "rebuild"});
  report.open_us = static_cast<std::int64_t>(open.ms() * 1000);
  const Stopwatch path_time;
  const std::vector<log::Ordinal> path = log::PathTo(log->index(), log->index().leaf());
  report.path_us = static_cast<std::int64_t>(path_time.ms() * 1000);
  report.path_rss_kb = PeakRssKb();
  report.events = log->index().entries().size();
  report.path = path.size();
  const Stopwatch slice_time;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Result<protocol::Event> event = log->EventAt(*at);
    if (!event) return 1;
    ++report.slice;
    if (std::holds_alternative<protocol::Compaction>(event->payload)) break;
  }
  report.slice_us = static_cast<std::int64_t>(slice_time.ms() * 1000);
  report.peak_rss_kb = PeakRssKb();
  fmt::print("{}\n", Encode(report));
  return 0;
}

Result<Finished> RunProgram(std::vector<std::string> argv) {
  SpawnOptions options;
  options.argv = std::move(argv);
  ASSIGN_OR_RETURN(Finished finished,
                   Subprocess::Run(std::move(options), Deadline::Never(), CancelToken()));
  if (finished.exit_code != 0) return Fail(Code::kIo, "a measured program failed: " + finished.err);
  return finished;
}

Result<ChildReport> RunChild(std::string what, const std::string& dir) {
  ASSIGN_OR_RETURN(const Finished finished,
                   RunProgram({"/proc/self/exe", "--child", std::move(what), dir}));
  return Decode<ChildReport>(finished.out);
}

Status MeasureOpening(const std::string& dir, std::string_view what) {
  std::vector<double> open;
  std::vector<double> total;
  std::vector<double> slice;
  std::uint64_t path_rss = 0;
  ChildReport last;
  for (int i = 0; i < kRuns; ++i) {
    ASSIGN_OR_RETURN(last, RunChild(std::string(what), dir));
    open.push_back(static_cast<double>(last.open_us) / 1000);
    total.push_back(static_cast<double>(last.open_us + last.path_us) / 1000);
    slice.push_back(static_cast<double>(last.slice_us) / 1000);
    path_rss = std::max(path_rss, last.path_rss_kb);
  }
  fmt::print(
      "{{\"what\":\"open_{}\",\"open_ms\":{:.2f},\"open_and_path_ms\":{:.2f},\"worst_ms\":{:.2f},"
      "\"rss_mb\":{:.1f},"
      "\"start_rss_mb\":{:.1f},\"events\":{},\"path\":{},\"slice_events\":{},\"slice_ms\":{:.2f},"
      "\"peak_rss_mb\":{:.1f}}}\n",
      what, Median(open), Median(total), std::ranges::max(total),
      static_cast<double>(path_rss) / 1024, static_cast<double>(last.start_rss_kb) / 1024,
      last.events, last.path, last.slice, Median(slice),
      static_cast<double>(last.peak_rss_kb) / 1024);
  return {};
}

/// Alternates, so that both meet the same neighbours.
Status MeasureRebuild(const std::string& dir) {
  std::vector<double> rebuild;
  std::vector<double> count;
  std::vector<double> ratio;
  std::uint64_t rss = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Stopwatch watch;
    RETURN_IF_ERROR(RunProgram({"wc", "-l", dir + "/events.jsonl"}));
    count.push_back(watch.ms());
    ASSIGN_OR_RETURN(const ChildReport report, RunChild("rebuild", dir));
    rebuild.push_back(static_cast<double>(report.open_us) / 1000);
    ratio.push_back(rebuild.back() / count.back());
    rss = std::max(rss, report.path_rss_kb);
  }
  fmt::print(
      "{{\"what\":\"rebuild\",\"rebuild_ms\":{:.1f},\"wc_ms\":{:.1f},\"ratio\":{:.2f},\"best_"
      "ratio\":{:.2f},"
      "\"worst_ratio\":{:.2f},\"rss_mb\":{:.1f}}}\n",
      Median(rebuild), Median(count), Median(ratio), std::ranges::min(ratio),
      std::ranges::max(ratio), static_cast<double>(rss) / 1024);
  return {};
}

Status MeasureCodec(const std::string& dir) {
  constexpr std::size_t kEvents = 20'000;
  std::vector<std::string> lines;
  std::uint64_t bytes = 0;
  {
    const std::unique_ptr<log::Log> log = OpenOrDie(dir, {});
    RETURN_IF_ERROR(log->Read(0, [&](const log::Entry&, std::string_view line) {
      bytes += line.size();
      lines.emplace_back(line);
      return lines.size() < kEvents;
    }));
  }
  std::vector<protocol::Event> events;
  events.reserve(lines.size());
  const Stopwatch decoding;
  for (const std::string& line : lines) {
    ASSIGN_OR_RETURN(protocol::Event event, protocol::DecodeEvent(line));
    events.push_back(std::move(event));
  }
  const double decode_ms = decoding.ms();
  std::string out;
  const Stopwatch encoding;
  for (const protocol::Event& event : events) {
    out.clear();
    protocol::EncodeEvent(event, out);
  }
  const double encode_ms = encoding.ms();
  const auto mb = static_cast<double>(bytes) / 1e6;
  fmt::print(
      "{{\"what\":\"codec\",\"events\":{},\"mb\":{:.0f},\"decode_mb_per_s\":{:.0f},\"encode_mb_per_"
      "s\":{:.0f}}}\n",
      lines.size(), mb, mb / decode_ms * 1000, mb / encode_ms * 1000);
  return {};
}

Status Measure(const std::string& dir, std::uint64_t bytes) {
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const Generated generated, GenerateSession(dir, {.bytes = bytes, .seed = 3}));
  fmt::print("{{\"what\":\"generate\",\"s\":{:.1f},\"events\":{},\"bytes\":{}}}\n",
             watch.ms() / 1000, generated.events, generated.bytes);
  RETURN_IF_ERROR(MeasureOpening(generated.dir, "read"));
  RETURN_IF_ERROR(MeasureOpening(generated.dir, "write"));
  RETURN_IF_ERROR(MeasureRebuild(generated.dir));
  RETURN_IF_ERROR(MeasureCodec(generated.dir));
  RETURN_IF_ERROR(MeasureRelaxedAppend(dir + "/one", 1));
  RETURN_IF_ERROR(MeasureRelaxedAppend(dir + "/batch", 16));
  RETURN_IF_ERROR(MeasureMixedAppend(dir + "/mix", generated.dir));
  RETURN_IF_ERROR(MeasureStrictAppend(dir + "/alone", 1));
  return MeasureStrictAppend(dir + "/many", 64);
}

int Run(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 3 && args[0] == "--child") return Child(args[1], args[2]);
  std::uint64_t bytes = kDefaultBytes;
  std::string parent = ".";
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
    if (args[i] == "--bytes")
      std::from_chars(args[i + 1].data(), args[i + 1].data() + args[i + 1].size(), bytes);
    if (args[i] == "--dir") parent = args[i + 1];
  }
  ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const Result<std::string> dir = MakeTempDir(parent, "log-bench-");
  if (!dir) {
    fmt::print(stderr, "{}\n", dir.error().Text());
    return 1;
  }
  const Status measured = Measure(*dir, bytes);
  (void)RemoveTree(*dir);  // Ignoring errors on purpose: the folder's name says what it is.
  if (measured) return 0;
  fmt::print(stderr, "{}\n", measured.error().Text());
  return 1;
}

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) { return stet::bench::Run(argc, argv); }
