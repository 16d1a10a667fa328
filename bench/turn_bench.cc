// turn_bench: measures what stet adds to a turn, with the real program against the emulator in this
// process. One JSON line per measurement.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/temp_dir.h"
#include "bench/cost.h"
#include "bench/measure.h"
#include "bench/steps.h"
#include "emulator/emulator.h"
#include "json/view.h"

namespace stet::bench {
namespace {

constexpr int kSteps = 500;
constexpr int kRuns = 15;
constexpr std::size_t kEdge = 100;  // Steps at either end that are compared.

constexpr std::string_view kHelp =
    R"(turn_bench: measures what stet adds to a turn, one JSON line per measurement.

  steps    500 steps, each the Read of a small file: from the end of a reply to the next request
  one_shot `stet -p` with one reply: from exec to the request, and the most memory; median of 15

It takes no arguments. Measure on a quiet machine, with a release build.
)";

/// Reads another file at every step.
std::string ReadsScript() {
  return StepsScript(kSteps, "Read", [](JsonWriter& json, int step) {
    json.Member("file_path", fmt::format("f{}.txt", step));
  });
}

class Bench {
 public:
  Status Run() {
    ASSIGN_OR_RETURN(emulator_, emulator::Emulator::Start(ReadsScript()));
    RETURN_IF_ERROR(MakeDirs(project_));
    RETURN_IF_ERROR(MakeDirs(home_));
    RETURN_IF_ERROR(ReplaceFile(home_ + "/config.toml", ConfigFor(*emulator_), Durable::kNo));
    for (int file = 0; file < kSteps; ++file)
      RETURN_IF_ERROR(ReplaceFile(fmt::format("{}/f{}.txt", project_, file),
                                  fmt::format("a small file, number {}\n", file), Durable::kNo));
    ::setenv("STET_HOME", home_.c_str(), 1);
    // First, while this process is small: a child's peak counts what it was forked from.
    RETURN_IF_ERROR(MeasureOneShot());
    RETURN_IF_ERROR(emulator_->SetScript(ReadsScript()));
    return MeasureSteps();
  }

 private:
  [[nodiscard]] std::vector<std::string> Command() const {
    return {STET_PROGRAM, "-p", "--cwd", project_, "go"};
  }

  Status MeasureSteps() {
    ASSIGN_OR_RETURN(const Cost cost, RunMeasured(Command()));
    ASSIGN_OR_RETURN(const std::vector<double> gaps, GapsOf(*emulator_, kSteps));
    const std::vector<double> first(gaps.begin(), gaps.begin() + kEdge);
    const std::vector<double> last(gaps.end() - kEdge, gaps.end());
    fmt::print(
        "{{\"what\":\"steps\",\"steps\":{},\"median_ms\":{:.3f},\"first_median_ms\":{:.3f},"
        "\"last_median_ms\":{:.3f},\"last_request_kb\":{},\"wall_ms\":{:.0f},\"cpu_ms\":{:.0f},"
        "\"rss_mb\":{:.1f}}}\n",
        kSteps, Median(gaps), Median(first), Median(last),
        emulator_->Requests().back().body.text.size() / 1024, cost.wall_ms, cost.cpu_ms,
        static_cast<double>(cost.rss_kb) / 1024);
    return {};
  }

  Status MeasureOneShot() {
    std::vector<double> waits;
    std::vector<double> memory;
    std::vector<double> walls;
    for (int run = 0; run < kRuns; ++run) {
      RETURN_IF_ERROR(
          emulator_->SetScript(R"({"replies":[{"times":0,"blocks":[{"text":"Yes."}]}]})"));
      ASSIGN_OR_RETURN(const Cost cost, RunMeasured(Command()));
      const std::vector<emulator::RequestRecord> requests = emulator_->Requests();
      if (requests.empty()) return Fail(Code::kIo, "nothing was asked");
      waits.push_back(static_cast<double>(requests[0].received_us - cost.started_us) / 1000);
      walls.push_back(cost.wall_ms);
      memory.push_back(static_cast<double>(cost.rss_kb) / 1024);
    }
    fmt::print(
        "{{\"what\":\"one_shot\",\"to_request_ms\":{:.2f},\"wall_ms\":{:.2f},\"rss_mb\":{:.1f}}}\n",
        Median(waits), Median(walls), Median(memory));
    return {};
  }

  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  std::string home_ = dir_.path() + "/home";
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace
}  // namespace stet::bench

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool asked = std::string_view(argv[1]) == "--help";
    fmt::print(asked ? stdout : stderr, "{}", stet::bench::kHelp);
    return asked ? 0 : 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const stet::Status measured = stet::bench::Bench().Run();
  if (measured) return 0;
  fmt::print(stderr, "{}\n", measured.error().Text());
  return 1;
}
