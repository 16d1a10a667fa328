// Edits of a good index file, and arbitrary bytes in its place, beside a good log. Opening never
// crashes; unless the crcs of the groups are made to fit the edits (first byte odd), which no
// accident does, it gives what a scan gives.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <fuzzer/FuzzedDataProvider.h>

#include "base/clock.h"
#include "base/hash.h"
#include "fuzz/session_folder.h"
#include "log/log.h"
#include "log/tree.h"

namespace stet::fuzz {
namespace {

constexpr std::size_t kFileStart = 24;   // Magic, layout, hash of the first line.
constexpr std::size_t kGroupStart = 32;  // Magic, four counts, unused, crc.
constexpr std::size_t kCrcAt = 24;
constexpr std::uint64_t kItemBytes[] = {40, 16, 24, 1};  // Entries, keys, damages, checkpoint.

/// A session that was closed three times, each time with a group more in its index.
struct Session {
  Session() {
    folder.Reset("");
    CHECK(Remove(folder.dir() + "/events.jsonl").has_value(), "made anew");
    protocol::Header header;
    header.session_id = "ses_fuzz";
    CHECK(log::Log::Create(folder.dir(), header, options).has_value(), "a log can be made");
    for (int group = 0; group < 3; ++group) {
      const auto log = log::Log::Open(folder.dir(), options);
      CHECK(log.has_value(), "a log can be opened");
      for (int i = 0; i < 4; ++i) {
        std::vector<log::Draft> batch;
        batch.push_back(
            {.payload = protocol::UserMessage{.client_message_id = std::to_string(group * 4 + i)}});
        batch.push_back({.payload = protocol::Custom{.kind = "note"}});
        CHECK((*log)->Append(std::move(batch)).has_value(), "append");
      }
    }
    index = *ReadFile(folder.dir() + "/index");
    scanned = *log::Log::Open(folder.dir(), {.use_index = false});
  }

  SessionFolder folder;
  FakeClock clock;
  Random random{5};
  log::Options options = {.mode = log::Mode::kWrite, .clock = &clock, .random = &random};
  std::string index;
  std::unique_ptr<log::Log> scanned;
};

/// Gives every group the crc that its body has now.
void FitCrcs(std::string& index) {
  std::size_t at = kFileStart;
  while (at + kGroupStart <= index.size()) {
    std::uint64_t body = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint32_t count = 0;
      std::memcpy(&count, index.data() + at + 4 + i * 4, sizeof count);
      body += count * kItemBytes[i];
    }
    if (body > index.size() - at - kGroupStart) return;
    const std::uint64_t crc = FastHash(std::string_view(index).substr(at + kGroupStart, body));
    std::memcpy(index.data() + at + kCrcAt, &crc, sizeof crc);
    at += kGroupStart + body;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Session session;
  FuzzedDataProvider input(data, size);
  const auto mode = input.ConsumeIntegral<std::uint8_t>();
  const bool forged = mode % 2 == 1;
  std::string index = session.index;
  if (mode % 4 == 2) {
    index = input.ConsumeRemainingBytesAsString();
  } else {
    if (input.ConsumeBool())
      index.resize(input.ConsumeIntegralInRange<std::size_t>(0, index.size()));
    while (input.remaining_bytes() >= 5 && !index.empty()) {
      const auto at = input.ConsumeIntegralInRange<std::size_t>(0, index.size() - 1);
      index[at] = static_cast<char>(input.ConsumeIntegral<std::uint8_t>());
    }
  }
  if (forged) FitCrcs(index);
  CHECK(ReplaceFile(session.folder.dir() + "/index", index, Durable::kNo).has_value(),
        "the index can be written");

  const auto log = log::Log::Open(session.folder.dir(), {});
  if (forged && !log)
    return 0;  // A forged index may point at what is no event; it may not do more.
  CHECK(log.has_value(), "a bad index never prevents opening");
  const auto& there = (*log)->index();
  (void)log::PathTo(there, there.leaf());
  (void)log::ControlsOn(there, there.leaf());
  (void)(*log)->Read(0, [](const log::Entry&, std::string_view) { return true; });
  if (forged) return 0;
  const auto& right = session.scanned->index();
  CHECK(there.entries().size() == right.entries().size() && there.leaf() == right.leaf(),
        "the same tree");
  CHECK(there.keys().size() == right.keys().size() && there.state() == right.state(),
        "the same state");
  CHECK(std::memcmp(there.entries().data(), right.entries().data(),
                    right.entries().size() * sizeof(log::Entry)) == 0,
        "the same entries");
  return 0;
}

}  // namespace stet::fuzz
