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

}  // namespace stet
