// Masking arbitrary text: it never crashes, what was masked stays as it is, and JSON stays JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secrets.h"
#include "json/json.h"
#include "policy/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)stet::MaskSecrets(text);
  (void)stet::policy::ParseRules(text);
  std::string json;
  stet::AppendJsonString(json, text);
  CHECK(stet::CheckJson(stet::MaskSecrets(json)).has_value(), "a JSON string stays one");
  return 0;
}
