// command_bench: measures what a shell step costs beyond the command itself: the real program
// against the emulator in this process, and the same command by a bare `bash -c` in the same run.
// One JSON line per measurement.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/temp_dir.h"
#include "bench/measure.h"
#include "bench/steps.h"

namespace stet::bench {
namespace {

constexpr int kSteps = 100;
constexpr int kWarm = 5;  // The first ones start the keeper, try the sandbox and walk the project.
constexpr int kFilesInAFolder = 20;

constexpr std::string_view kHelp =
    R"(command_bench: measures what a shell step costs beyond a bare `bash -c`, one JSON line per measurement.

  500 and 20,000 files; for each: a command that only reads (mode default), one that a rule allows and that is
  kept in nothing, the same where a rule denies a file, one that edits (mode acceptEdits) and one in mode auto. Median of 95 steps each.

It takes no arguments. Measure on a quiet machine, with a release build.
)";

struct Kind {
  std::string_view name;
  std::string_view command;
  std::vector<std::string> options;
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"reads", "cat d0/f0.txt", {}},
      {"by_rule", "test -e d0 && touch d0/t", {"--allowed-tools", "Bash(touch *),Bash(test *)"}},
      {"denied",
       "test -e d0 && touch d0/t",
       {"--allowed-tools", "Bash(touch *),Bash(test *)", "--disallowed-tools", "Read(d0/f1.txt)"}},
      {"edits", "touch d0/t", {"--permission-mode", "acceptEdits"}},
      {"auto", "touch d0/t", {"--permission-mode", "auto"}}};
  return kinds;
}

class Bench {
 public:
  explicit Bench(int files) : files_(files) {}

  Status Run() {
    ASSIGN_OR_RETURN(emulator_, emulator::Emulator::Start(StepsScript(0, "Bash", {})));
    RETURN_IF_ERROR(MakeDirs(home_));
    RETURN_IF_ERROR(ReplaceFile(home_ + "/config.toml", ConfigFor(*emulator_), Durable::kNo));
    for (int file = 0; file < files_; ++file) {
      const std::string folder = fmt::format("{}/d{}", project_, file / kFilesInAFolder);
      RETURN_IF_ERROR(MakeDirs(folder));
      RETURN_IF_ERROR(ReplaceFile(fmt::format("{}/f{}.txt", folder, file % kFilesInAFolder),
                                  "a small file\n", Durable::kNo));
    }
    ::setenv("STET_HOME", home_.c_str(), 1);
    for (const Kind& kind : Kinds()) RETURN_IF_ERROR(Measure(kind));
    return {};
  }

 private:
  Status Measure(const Kind& kind) {
    RETURN_IF_ERROR(emulator_->SetScript(StepsScript(
        kSteps, "Bash", [&](JsonWriter& json, int) { json.Member("command", kind.command); })));
    std::vector<std::string> line{STET_PROGRAM, "-p", "--cwd", project_};
    line.insert(line.end(), kind.options.begin(), kind.options.end());
    line.emplace_back("go");
    RETURN_IF_ERROR(RunMeasured(line));
    ASSIGN_OR_RETURN(std::vector<double> gaps, GapsOf(*emulator_, kSteps));
    gaps.erase(gaps.begin(), gaps.begin() + kWarm);
    std::vector<double> bare;
    for (int run = 0; run < kSteps; ++run) {
      ASSIGN_OR_RETURN(
          const Cost cost,
          RunMeasured({"bash", "-c", fmt::format("cd {} && {}", project_, kind.command)}));
      bare.push_back(cost.wall_ms);
    }
    fmt::print(
        "{{\"what\":\"{}\",\"files\":{},\"step_ms\":{:.2f},\"bare_ms\":{:.2f},\"beyond_ms\":{:.2f},"
        "\"sandbox\":{}}}\n",
        kind.name, files_, Median(gaps), Median(bare), Median(gaps) - Median(bare), Sandbox());
    return {};
  }

  /// By what the last command was kept in, as the log has it.
  [[nodiscard]] std::string Sandbox() const {
    const Result<Cost> shown =
        RunMeasured({"bash", "-c",
                     fmt::format("cat \"$(ls -td {}/sessions/* | head -n 1)\"/events.jsonl | grep "
                                 "tool_started | tail -n 1 | "
                                 "grep -o '\"sandbox\":{{[^}}]*}}' || true",
                                 home_)});
    if (!shown || shown->out.empty()) return "null";
    return shown->out.substr(10, shown->out.find('\n') - 10);
  }

  int files_;
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
  for (const int files : {500, 20'000}) {
    const stet::Status measured = stet::bench::Bench(files).Run();
    if (measured) continue;
    fmt::print(stderr, "{}\n", measured.error().Text());
    return 1;
  }
  return 0;
}
