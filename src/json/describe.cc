#include "json/describe.h"

namespace stet {

std::optional<std::string> PeekMember(JsonReader reader, std::string_view name) {
  if (!reader.EnterObject()) return std::nullopt;
  std::string_view key;
  while (reader.NextMember(&key)) {
    if (key == name) {
      std::string value;
      if (!reader.String(&value)) return std::nullopt;
      return value;
    }
    if (!reader.Skip()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace stet
