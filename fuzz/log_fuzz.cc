// Arbitrary bytes as a log. The first byte says whether lines are taken as they are (even) or
// sealed, so that the fold is reached behind the crc; a line that does not look like an object is
// never sealed. It also says whether a writer opens it too (its bits 1 and 2 are 0). Opening never
// crashes or hangs, no good line is lost, the tree is sound, a writer mends what it finds once, and
// the index says what a scan says.
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "fuzz/session_folder.h"
#include "log/line.h"
#include "log/log.h"
#include "log/recover.h"
#include "log/tree.h"
#include "log/verify.h"

namespace stet::fuzz {
namespace {

std::string Sealed(std::string_view text, std::size_t* good_lines) {
  std::string out;
  while (!text.empty()) {
    const std::size_t lf = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, lf);
    text.remove_prefix(std::min(lf + 1, text.size()));
    const std::size_t start = out.size();
    out += line;
    if (!line.starts_with('{') || !line.ends_with('}')) {
      out += '\n';
      continue;
    }
    log::SealLine(out, start);
    *good_lines += log::ReadPrefix(std::string_view(out).substr(start)) ? 1 : 0;
  }
  return out;
}

void CheckTree(const log::Index& index, std::uint64_t bytes) {
  std::uint64_t end = 0;
  for (log::Ordinal i = 0; i < index.entries().size(); ++i) {
    const log::Entry& entry = index.entries()[i];
    CHECK(entry.parent == log::kNone || entry.parent < i, "a parent stands above its child");
    CHECK(entry.offset >= end && entry.offset + entry.length <= bytes,
          "entries follow each other in the file");
    end = entry.offset + entry.length;
  }
  for (const log::Damage& damage : index.damages()) {
    CHECK(damage.bridge == log::kNone || damage.bridge < index.entries().size(),
          "a bridge is an event");
  }
  CHECK(index.leaf() == log::kNone || index.leaf() < index.entries().size(),
        "the leaf is an event");
  CHECK(log::PathTo(index, index.leaf()).size() <= index.entries().size(), "a path ends");
  (void)log::ControlsOn(index, index.leaf());
  const log::Tree tree(index);
  for (const log::Ordinal leaf : tree.Leaves())
    CHECK(tree.Children(leaf).empty(), "a leaf has no children");
  (void)tree.BranchPoints();
}

void CheckSame(const log::Index& a, const log::Index& b) {
  CHECK(a.entries().size() == b.entries().size(), "as many entries");
  for (std::size_t i = 0; i < a.entries().size(); ++i) {
    const log::Entry& x = a.entries()[i];
    const log::Entry& y = b.entries()[i];
    CHECK(x.offset == y.offset && x.length == y.length && x.parent == y.parent &&
              x.flags == y.flags && x.open == y.open,
          "the same entries");
  }
  CHECK(a.leaf() == b.leaf(), "the same leaf");
  CHECK(a.lines() == b.lines() && a.bytes() == b.bytes(), "the same lines and bytes");
  CHECK(a.damages().size() == b.damages().size(), "the same damages");
  CHECK(Encode(a.state()) == Encode(b.state()), "the same state");
}

std::unique_ptr<log::Log> Open(const std::string& dir, log::Mode mode, bool use_index) {
  Result<std::unique_ptr<log::Log>> log =
      log::Log::Open(dir, {.mode = mode, .use_index = use_index});
  if (!log && log.error().code != Code::kTooNew) {
    fmt::print(stderr, "{}\n", log.error().Text());
    CHECK(false, "damage never prevents opening");
  }
  return log ? *std::move(log) : nullptr;
}

std::size_t Gaps(const log::Log& log) {
  return static_cast<std::size_t>(std::ranges::count(
      log.index().entries(), protocol::kTypeNumber<protocol::Gap>, &log::Entry::type));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static SessionFolder folder;
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t good_lines = 0;
  const std::string events = data[0] % 2 == 0 ? std::string(text) : Sealed(text, &good_lines);
  folder.Reset(events);
  const std::string dir = folder.dir();

  std::size_t readable = 0;
  {
    const auto reader = Open(dir, log::Mode::kRead, true);
    if (!reader) return 0;
    CheckTree(reader->index(), events.size());
    CHECK(reader->index().entries().size() >= good_lines, "no good line is lost");
    CHECK(reader
              ->Read(0,
                     [&](const log::Entry&, std::string_view line) {
                       ++readable;
                       return log::CheckLine(line);
                     })
              .has_value(),
          "reading works");
    CHECK(readable == reader->index().entries().size(), "every entry is readable");
    const auto verdict = log::Verify(dir);
    CHECK(verdict.has_value(), "there is something to verify");
    (void)log::PlanRepair(*verdict);
  }
  if ((data[0] & 6U) != 0) return 0;
  std::size_t gaps = 0;
  for (int round = 0; round < 2; ++round) {
    const auto writer = Open(dir, log::Mode::kWrite, true);
    if (!writer) return 0;
    CHECK(round == 0 || Gaps(*writer) == gaps, "damage is recorded once");
    gaps = Gaps(*writer);
    for (const log::Damage& damage : writer->index().damages())
      CHECK(damage.recorded == 1, "damage is recorded");
    std::vector<log::Draft> batch;
    batch.push_back({.payload = protocol::Custom{.kind = "fuzz"}});
    CHECK(writer->Append(std::move(batch)).has_value(), "the session stays writable");
    CHECK(writer->Close().has_value(), "closing works");
  }
  const auto indexed = Open(dir, log::Mode::kRead, true);
  const auto scanned = Open(dir, log::Mode::kRead, false);
  CheckTree(scanned->index(), UINT64_MAX);
  CheckSame(indexed->index(), scanned->index());
  CHECK(scanned->index().entries().size() >= readable + 4, "everything is still there");
  return 0;
}

}  // namespace stet::fuzz
