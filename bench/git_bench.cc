// git_bench: measures what it costs to know which files git can give back: 20,000 tracked files,
// their objects loose and packed. One JSON line per measurement.
#include <cstdio>

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "bench/measure.h"
#include "tool/git/hold.h"

namespace stet::bench {
namespace {

constexpr int kFiles = 20'000;
constexpr int kFilesInAFolder = 20;
constexpr int kChanged = 10;
constexpr int kRuns = 5;

class Bench {
 public:
  Status Run() {
    for (int file = 0; file < kFiles; ++file) {
      const std::string folder = fmt::format("src/d{}", file / kFilesInAFolder);
      if (file % kFilesInAFolder == 0) RETURN_IF_ERROR(MakeDirs(root_ + "/" + folder));
      names_.push_back(fmt::format("{}/f{}.txt", folder, file % kFilesInAFolder));
      RETURN_IF_ERROR(ReplaceFile(root_ + "/" + names_.back(),
                                  fmt::format("file {} with some text in it\n", file),
                                  Durable::kNo));
    }
    RETURN_IF_ERROR(
        Git("init -q && printf '* text=auto\\n*.psd filter=lfs\\n' >.gitattributes && "
            "git add -A && git update-index --force-write-index && "
            "git -c gc.auto=0 -c user.name=u -c user.email=u@example.com commit -qm x"));
    RETURN_IF_ERROR(Measure("loose"));
    RETURN_IF_ERROR(Git("repack -qad && git prune-packed -q"));
    return Measure("packed");
  }

 private:
  Status Git(const std::string& command) {
    SpawnOptions options;
    options.argv = {"/bin/sh", "-c", "git " + command};
    options.cwd = root_;
    ASSIGN_OR_RETURN(
        const Finished ran,
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(2)), {}));
    return ran.exit_code == 0 ? Status() : Fail(Code::kInvalid, command + ": " + ran.err);
  }

  static void Print(std::string_view objects, std::string_view what, std::vector<double> times) {
    fmt::print("{{\"objects\":\"{}\",\"what\":\"{}\",\"median_ms\":{:.2f}}}\n", objects, what,
               Median(std::move(times)));
  }

  /// Of the processor, by us and by those who have ended.
  static double CpuMs() {
    double all = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      struct rusage used{};
      ::getrusage(who, &used);
      for (const timeval& time : {used.ru_utime, used.ru_stime})
        all += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    }
    return all;
  }

  Status Measure(std::string_view kind) {
    std::vector<double> all;
    std::vector<double> read;
    std::vector<double> ask;
    std::vector<double> has;
    std::vector<double> cpu;
    for (int run = 0; run < kRuns; ++run) {
      const double before = CpuMs();
      const Stopwatch watch;
      const tool::TrackedFiles files = tool::TrackedFiles::Read(root_);
      read.push_back(watch.ms());
      const Stopwatch asking;
      const std::vector<tool::GitObject> objects = ObjectsOf(files, names_);
      ask.push_back(asking.ms());
      const Stopwatch looking;
      const std::vector<bool> there = Reader(files).Has(objects);
      has.push_back(looking.ms());
      all.push_back(watch.ms());
      cpu.push_back(CpuMs() - before);
      const auto found = static_cast<std::size_t>(std::ranges::count(there, true));
      if (objects.size() != names_.size() || found != names_.size())
        return Fail(Code::kInvalid, fmt::format("{} of {} files are git's", found, names_.size()));
    }
    Print(kind, "read", std::move(read));
    Print(kind, "ask_all", std::move(ask));
    Print(kind, "has_all", std::move(has));
    Print(kind, "together", std::move(all));
    Print(kind, "together_cpu", std::move(cpu));
    return MeasureAgain(kind);
  }

  Status MeasureAgain(std::string_view kind) {
    const tool::TrackedFiles files = tool::TrackedFiles::Read(root_);
    const std::vector<std::string> changed(names_.begin(), names_.begin() + kChanged);
    const std::vector<tool::GitObject> objects = ObjectsOf(files, names_);
    std::vector<double> ten;
    std::vector<double> ten_has;
    for (int run = 0; run < kRuns; ++run) {
      const Stopwatch watch;
      if (files.Stale()) return Fail(Code::kInvalid, "nothing changed, and it is stale");
      const std::vector<tool::GitObject> some = ObjectsOf(files, changed);
      ten.push_back(watch.ms());
      (void)Reader(files).Has(some);
      ten_has.push_back(watch.ms());
    }
    Print(kind, "stale_and_ten", std::move(ten));
    Print(kind, "stale_and_ten_has", std::move(ten_has));
    tool::HeldObjects held(dir_.path() + "/held");
    const Stopwatch first;
    const std::vector<bool> could = held.Hold(files, objects);
    Print(kind, "hold_first", {first.ms()});
    if (std::ranges::count(could, false) > 0) return Fail(Code::kInvalid, "not all is held");
    std::vector<double> again;
    for (int run = 0; run < kRuns; ++run) {
      const Stopwatch watch;
      (void)held.Hold(files, {objects.data(), kChanged});
      (void)held.Release();
      again.push_back(watch.ms());
    }
    Print(kind, "hold_and_release_again", std::move(again));
    const Stopwatch end;
    held.LetGo();
    Print(kind, "let_go", {end.ms()});
    return {};
  }

  std::vector<tool::GitObject> ObjectsOf(const tool::TrackedFiles& files,
                                         const std::vector<std::string>& names) const {
    std::vector<tool::GitObject> objects;
    tool::HashBudget budget;
    for (const std::string& name : names) {
      struct stat now{};
      if (::lstat((root_ + "/" + name).c_str(), &now) != 0) continue;
      if (auto object = files.ObjectOf(name, now, budget)) objects.push_back(*std::move(object));
    }
    return objects;
  }

  [[nodiscard]] tool::GitObjects Reader(const tool::TrackedFiles& files) const {
    return {files.repository(0).format, files.repository(0).objects, dir_.path() + "/scratch"};
  }

  TempDir dir_;
  std::string root_ = dir_.path() + "/project";
  std::vector<std::string> names_;
};

}  // namespace
}  // namespace stet::bench

int main() {
  const stet::Status measured = stet::bench::Bench().Run();
  if (measured) return 0;
  fmt::print(stderr, "{}\n", measured.error().Text());
  return 1;
}
