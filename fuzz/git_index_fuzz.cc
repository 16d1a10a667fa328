// An index of git from arbitrary bytes, in both formats and with what it shares: reading it never
// crashes, takes no more than it is given, and gives paths in order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tool/git/index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stet::tool;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The last two bytes say how much of the rest is the file that is shared.
  std::string_view rest = bytes;
  std::size_t cut = 0;
  if (size > 2) {
    rest.remove_suffix(2);
    cut = std::min<std::size_t>(data[size - 2] * std::size_t{256} + data[size - 1], rest.size());
  }
  for (const GitFormat format : {GitFormat::kSha1, GitFormat::kSha256}) {
    for (const bool split : {false, true}) {
      const GitIndexFile file{.bytes = std::string(split ? rest.substr(cut) : bytes)};
      const GitIndexFile shared{.bytes = std::string(rest.substr(0, cut))};
      const auto index = GitIndex::Parse(
          file, format, [&](const std::string&) -> stet::Result<GitIndexFile> { return shared; });
      if (!index) continue;
      CHECK(index->entries().size() <= size, "every entry has bytes of its own");
      std::string_view last;
      for (const GitIndexEntry& entry : index->entries()) {
        CHECK(last <= entry.path && !entry.path.empty(), "paths are in order");
        const GitIndexEntry* found = index->Find(entry.path);
        CHECK(found == nullptr || found->path == entry.path, "what is found has the path");
        last = entry.path;
      }
    }
  }
  return 0;
}
