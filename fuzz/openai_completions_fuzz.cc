// The decoder of openai-completions on arbitrary bytes: it never crashes, it ends or fails, and its
// events do not depend on how the bytes are cut.
#include <cstddef>
#include <cstdint>

#include "fuzz/heard_reply.h"

namespace stet::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CheckSplit(provider::Dialect::kOpenAiCompletions, &provider::openai_completions::MakeDecoder,
             data, size);
  return 0;
}

}  // namespace stet::fuzz
