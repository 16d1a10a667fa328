// An index of git from arbitrary bytes: reading it never crashes and takes no more than it is
// given.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tool/git/index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const stet::tool::GitIndex index = stet::tool::GitIndex::Parse(bytes, UINT64_MAX);
  CHECK(index.size() <= size, "every entry has bytes of its own");
  return 0;
}
