// A reply in the dialect google_generative_ai from arbitrary bytes: it never crashes, says the same
// in two pieces as in one, and either ends or says why not.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "provider/reply_fixture.h"

namespace stet::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says where the rest is split.
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = bytes.size() * data[0] / 255;
  const provider::Model model{.dialect = provider::Dialect::kGoogleGenerativeAi};
  const auto decode = [&](const provider::Pieces& pieces) {
    return provider::DecodeReply(model, provider::google_generative_ai::MakeDecoder, pieces);
  };
  const provider::Decoded whole = decode({bytes});
  const provider::Decoded pieces = decode({bytes.substr(0, split), bytes.substr(split)});
  CHECK(whole.events == pieces.events, "pieces make no difference to the events");
  CHECK(Encode(whole.reply.content) == Encode(pieces.reply.content), "nor to what is kept");
  CHECK(whole.ended != whole.reply.failure.has_value(), "a reply ends or says why not");
  const protocol::OptionalUsage& usage = whole.reply.content.usage;
  CHECK(!usage || (usage->input >= 0 && usage->reasoning.value_or(0) <= usage->output),
        "reasoning is a part of output");
  return 0;
}

}  // namespace stet::fuzz
