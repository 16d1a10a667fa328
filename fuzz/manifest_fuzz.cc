// A manifest of a checkpoint from arbitrary bytes: what is read is written so that it is read the
// same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "tool/checkpoint/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = stet::tool::ParseManifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) return 0;
  const auto again = stet::tool::ParseManifest(stet::tool::EncodeManifest(*manifest));
  CHECK(again && again->entries == manifest->entries && again->gone == manifest->gone,
        "a manifest that was read is written so that it is read the same");
  return 0;
}
