// Web pages out of arbitrary bytes: valid text, and never much more of it than there was.
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "base/utf8.h"
#include "tool/html_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string text = stet::tool::HtmlText(bytes);
  CHECK(stet::IsValidUtf8(text), "the text is valid");
  CHECK(text.size() <= 8 * size + 16, "and bounded by the page");
  return 0;
}
