// Attributes of git out of arbitrary bytes: reading them never crashes and ends, and what they say
// of a path is the same when it is asked again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "tool/git/attributes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stet::tool;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Up to the first NUL the top's, then those of a folder, then the user's.
  GitAttributes attributes(size % 2 == 1);
  std::string_view rest = text;
  for (int place = 0; place < 3; ++place) {
    const std::string_view part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    auto file = ParseGitAttributes(part, place != 1);
    if (!file)
      attributes.Doubt(place == 1 ? "a" : "");
    else if (place == 2)
      attributes.AddUsers(*std::move(file));
    else
      attributes.AddFolder(place == 0 ? "" : "a", *std::move(file));
  }
  attributes.Settle();
  for (const std::string_view path : {"x", "a/x.txt", "a/b/c.bin", ".gitattributes"})
    CHECK(attributes.Rewrites(path) == attributes.Rewrites(path), "an answer is no accident");
  return 0;
}
