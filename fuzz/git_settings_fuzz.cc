// Git configurations out of arbitrary bytes: reading them never crashes, what is read has a name as
// git compares it, and what git could take for a command is never harmless.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "tool/git/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = stet::tool::ParseGitSettings(text);
  if (!settings) return 0;
  for (const stet::tool::GitSetting& setting : *settings) {
    CHECK(setting.name.find('.') != std::string::npos, "a setting has a section");
    CHECK(setting.name.size() + setting.value.size() <= size + 8, "nothing is made up");
    const bool harmless = stet::tool::IsHarmless(setting);
    CHECK(!harmless || !setting.value.starts_with('!'), "a command is not harmless");
  }
  return 0;
}
