#include "log/verify.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "log/blobs.h"
#include "log/index_file.h"
#include "log/line.h"
#include "log/recover.h"
#include "log/scan.h"

namespace stet::log {
namespace {

struct FaultWords {
  Fault::Kind kind;
  std::string_view name;
  std::string_view title;
};

constexpr auto kWords = std::to_array<FaultWords>({
    {Fault::Kind::kEmptyFile, "empty_file", "empty file"},
    {Fault::Kind::kMissingHeader, "missing_header", "missing header"},
    {Fault::Kind::kDamagedHeader, "damaged_header", "damaged header"},
    {Fault::Kind::kTooNew, "too_new", "newer format"},
    {Fault::Kind::kDamagedLine, "damaged_line", "damaged line"},
    {Fault::Kind::kTornLine, "torn_line", "torn last line"},
    {Fault::Kind::kDuplicateId, "duplicate_id", "duplicate id"},
    {Fault::Kind::kUnknownParent, "unknown_parent", "unknown parent"},
    {Fault::Kind::kParentCycle, "parent_cycle", "parent cycle"},
    {Fault::Kind::kSeqNotGrowing, "seq_not_growing", "seq does not grow"},
    {Fault::Kind::kUnreadableEvent, "unreadable_event", "unreadable event"},
    {Fault::Kind::kUnknownCritical, "unknown_critical", "unknown critical type"},
    {Fault::Kind::kMissingBlob, "missing_blob", "missing blob"},
    {Fault::Kind::kDamagedBlob, "damaged_blob", "damaged blob"},
    {Fault::Kind::kStaleIndex, "stale_index", "index does not fit"},
});

const FaultWords& WordsOf(Fault::Kind kind) {
  return *std::ranges::find(kWords, kind, &FaultWords::kind);
}

/// More are not looked for.
constexpr std::size_t kMaxBlobNames = 100'000;

void Add(std::vector<Fault>& faults, Fault fault) {
  if (faults.size() < kMaxFaults) faults.push_back(std::move(fault));
}

void NameBlocks(const protocol::Blocks& blocks, std::set<std::string>& names) {
  for (const protocol::Block& block : blocks) {
    if (const auto* image = std::get_if<protocol::ImageBlock>(&block)) names.insert(image->blob);
  }
}

/// The blobs that an event cannot do without.
void NameBlobs(const protocol::Payload& payload, std::set<std::string>& names) {
  if (const auto* result = std::get_if<protocol::ToolResult>(&payload))
    names.insert(result->blobs.begin(), result->blobs.end());
  if (const auto* user = std::get_if<protocol::UserMessage>(&payload))
    NameBlocks(user->message.blocks, names);
  if (const auto* swap = std::get_if<protocol::ContentReplacement>(&payload);
      swap != nullptr && swap->blob)
    names.insert(*swap->blob);
  if (const auto* fact = std::get_if<protocol::FileFact>(&payload);
      fact != nullptr && fact->before_blob)
    names.insert(*fact->before_blob);
  if (const auto* call = std::get_if<protocol::ModelCall>(&payload);
      call != nullptr && call->toolset)
    names.insert(*call->toolset);
  if (const auto* toolset = std::get_if<protocol::Toolset>(&payload)) names.insert(toolset->blob);
  if (const auto* evidence = std::get_if<protocol::Evidence>(&payload);
      evidence != nullptr && evidence->blob)
    names.insert(*evidence->blob);
}

/// Decodes every good line: what a fold need not look at.
class Reading {
 public:
  explicit Reading(Verdict& verdict)
      : verdict_(verdict), has_unknown_(std::ranges::any_of(verdict.faults, [](const Fault& fault) {
          return fault.kind == Fault::Kind::kUnknownParent;
        })) {}

  Status ReadAll(int fd, const Index& index) {
    LineScanner scanner(fd, 0);
    ScannedLine line;
    std::size_t next = 0;
    std::uint64_t number = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
      if (!any) break;
      ++number;
      const std::uint64_t end = line.offset + line.text.size();
      for (; next < index.entries().size() && index.entries()[next].offset < end; ++next) {
        const Entry& entry = index.entries()[next];
        ReadEvent(line.text.substr(entry.offset - line.offset, entry.length), entry.offset, number);
      }
    }
    NameCycles();
    return {};
  }

  void CheckBlobs(const Blobs& blobs) {
    for (const auto& name : names_) {
      const Status checked = blobs.Check(name);
      if (checked) continue;
      const bool missing = checked.error().code == Code::kNotFound;
      Add(verdict_.faults, {.kind = missing ? Fault::Kind::kMissingBlob : Fault::Kind::kDamagedBlob,
                            .id = name,
                            .detail = missing ? "an event names it, but there is no such blob"
                                              : checked.error().Text()});
    }
    verdict_.blobs = names_.size();
  }

 private:
  /// For all cycles together: a log may be made so that the way up from each event is long.
  static constexpr std::size_t kMaxSteps = 20'000'000;

  void ReadEvent(std::string_view line, std::uint64_t offset, std::uint64_t number) {
    ++verdict_.events;
    const Result<protocol::Event> event = protocol::DecodeEvent(line);
    const auto* unknown = event ? std::get_if<protocol::UnknownEvent>(&event->payload) : nullptr;
    if (!event || (unknown != nullptr && !unknown->problem.empty())) {
      Add(verdict_.faults, {.kind = Fault::Kind::kUnreadableEvent,
                            .line = number,
                            .offset = offset,
                            .length = line.size(),
                            .id = event ? event->id : "",
                            .detail = event ? unknown->problem : event.error().Text()});
    }
    if (!event) return;
    if (names_.size() < kMaxBlobNames) NameBlobs(event->payload, names_);
    if (has_unknown_ && event->parent_id)
      parents_.emplace(FastHash(event->id), FastHash(*event->parent_id));
  }

  /// An unknown parent that stands below its child, and leads back to it, is a cycle.
  void NameCycles() {
    std::size_t left = kMaxSteps;
    for (Fault& fault : verdict_.faults) {
      if (fault.kind != Fault::Kind::kUnknownParent) continue;
      std::uint64_t at = FastHash(fault.parent_id);
      for (std::size_t steps = 0; steps <= parents_.size() && left > 0; ++steps, --left) {
        if (at == FastHash(fault.id)) {
          fault.kind = Fault::Kind::kParentCycle;
          fault.detail = fmt::format(
              "its parent {} stands below it and leads back to it; it hangs on the leaf before it",
              fault.parent_id);
          break;
        }
        const auto above = parents_.find(at);
        if (above == parents_.end()) break;
        at = above->second;
      }
    }
  }

  Verdict& verdict_;
  std::set<std::string> names_;
  bool has_unknown_;                                          // An event has an unknown parent.
  std::unordered_map<std::uint64_t, std::uint64_t> parents_;  // By hashes of ids.
};

bool SameEntries(const Index& kept, const Index& scanned) {
  const auto same = [](const Entry& a, const Entry& b) {
    return a.offset == b.offset && a.seq == b.seq && a.id_hash == b.id_hash &&
           a.parent == b.parent && a.open == b.open && a.type == b.type && a.flags == b.flags;
  };
  return kept.entries().size() <= scanned.entries().size() &&
         std::equal(kept.entries().begin(), kept.entries().end(), scanned.entries().begin(), same);
}

void MarkRecorded(Verdict& verdict, const Scanned& scanned) {
  for (Fault& fault : verdict.faults) {
    const bool header =
        fault.kind == Fault::Kind::kMissingHeader || fault.kind == Fault::Kind::kEmptyFile;
    if (header) fault.recorded = scanned.index.state().rebuilt_header.has_value();
    if (fault.kind != Fault::Kind::kDamagedLine && fault.kind != Fault::Kind::kDamagedHeader)
      continue;
    // In file order.
    const std::vector<Damage>& damages = scanned.index.damages();
    const auto after = std::ranges::upper_bound(damages, fault.offset, {}, &Damage::offset);
    if (after == damages.begin()) continue;
    const Damage& damage = *std::prev(after);
    if (damage.recorded != 0 && fault.offset < damage.offset + damage.length) fault.recorded = true;
  }
}

}  // namespace

std::string_view FaultName(Fault::Kind kind) { return WordsOf(kind).name; }
std::string_view FaultTitle(Fault::Kind kind) { return WordsOf(kind).title; }

Result<Verdict> Verify(const std::string& dir) {
  const Paths paths{dir};
  ASSIGN_OR_RETURN(const Fd fd, OpenPlainFile(paths.events(), O_RDONLY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  Verdict verdict;
  ASSIGN_OR_RETURN(const Scanned scanned,
                   ScanLog(paths, fd.get(), /*use_index=*/false, &verdict.faults));
  verdict.lines = scanned.index.lines();
  verdict.bytes = stat.size;
  MarkRecorded(verdict, scanned);
  Reading reading(verdict);
  RETURN_IF_ERROR(reading.ReadAll(fd.get(), scanned.index));
  std::ranges::stable_sort(verdict.faults, {}, &Fault::offset);
  reading.CheckBlobs(Blobs(paths.blobs()));
  const std::optional<Index> kept =
      IndexFile::Load(paths.index(), fd.get(), stat.size, scanned.first_line_hash);
  if (kept && !SameEntries(*kept, scanned.index)) {
    verdict.faults.push_back({.kind = Fault::Kind::kStaleIndex,
                              .detail = "it says something else than the log; the log is right"});
  }
  return verdict;
}

bool Verdict::sound() const {
  return std::ranges::all_of(faults, [](const Fault& fault) { return fault.recorded; });
}

std::vector<std::string> PlanRepair(const Verdict& verdict) {
  std::vector<std::string> plan;
  for (const Fault& fault : verdict.faults) {
    if (fault.recorded) continue;
    switch (fault.kind) {
      case Fault::Kind::kTornLine:
        plan.push_back(
            fmt::format("copy the {} torn bytes at byte {} aside and cut them off the log",
                        fault.length, fault.offset));
        break;
      case Fault::Kind::kDamagedLine:
        plan.push_back(fmt::format(
            "copy damaged line {} aside, leave it in place, and record the gap", fault.line));
        break;
      case Fault::Kind::kDamagedHeader:
      case Fault::Kind::kMissingHeader:
      case Fault::Kind::kEmptyFile:
        plan.emplace_back(
            "rebuild the header from the folder's name and the summary, into a gap event");
        break;
      case Fault::Kind::kStaleIndex: plan.emplace_back("write the index anew from the log"); break;
      default: break;
    }
  }
  return plan;
}

Status Repair(const std::string& dir, Options options) {
  options.mode = Mode::kWrite;
  options.use_index = false;
  ASSIGN_OR_RETURN(const std::unique_ptr<Log> log, Log::Open(dir, std::move(options)));
  return log->Close();
}

}  // namespace stet::log
