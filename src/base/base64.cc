#include "base/base64.h"

#include <sodium.h>

namespace stet {

void AppendBase64(std::string& out, std::string_view bytes) {
  const std::size_t old_size = out.size();
  const std::size_t room =
      sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL);  // With its NUL.
  out.resize(old_size + room);
  sodium_bin2base64(out.data() + old_size, room,
                    reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), " \r\n", &size, &end, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || end != text.data() + text.size()) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace stet
