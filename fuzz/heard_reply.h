// A reply that a decoder hears from arbitrary bytes, as the lines of its events and what came of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "provider/dialect.h"
#include "provider/sse.h"

namespace stet::fuzz {

class WritingSink : public provider::Sink {
 public:
  void On(const provider::StreamEvent& event) override { text += Encode(event) + "\n"; }
  std::string text;
};

/// Feeds `bytes` in two pieces, cut at `split`, through the parser of events.
inline std::string Hear(provider::Dialect dialect,
                        std::unique_ptr<provider::Decoder> (*make)(provider::ReplyBuilder&),
                        std::string_view bytes, std::size_t split) {
  const provider::Model model{.provider = "p", .id = "m", .dialect = dialect};
  WritingSink sink;
  Random ids(1);
  provider::ReplyBuilder builder(model, sink, ids);
  const std::unique_ptr<provider::Decoder> decoder = make(builder);
  const auto on_event = [&](std::string_view event, std::string_view data) {
    decoder->On(ReplaceInvalidUtf8(event), ReplaceInvalidUtf8(data));
  };
  provider::SseParser parser;
  parser.Feed(bytes.substr(0, split), on_event);
  parser.Feed(bytes.substr(split), on_event);
  parser.Finish(on_event);
  decoder->Finish();
  CHECK(builder.done(), "a decoder that is finished has ended or failed its builder");
  const bool ended = builder.ended();
  provider::Reply reply = builder.TakeReply();
  CHECK(reply.failure.has_value() == !ended, "a reply ends or fails");
  if (const auto& usage = reply.content.usage) {
    CHECK(usage->input >= 0 && usage->output >= 0, "no count is negative");
    CHECK(usage->reasoning.value_or(0) <= usage->output, "reasoning is a part of the output");
  }
  CHECK(IsValidUtf8(sink.text), "the stream is UTF-8");
  return sink.text + Encode(reply.content) + (reply.failure ? reply.failure->message : "");
}

/// The first byte of the input says where the rest is cut; the cut makes no difference.
inline void CheckSplit(provider::Dialect dialect,
                       std::unique_ptr<provider::Decoder> (*make)(provider::ReplyBuilder&),
                       const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = bytes.size() * data[0] / 255;
  CHECK(Hear(dialect, make, bytes, split) == Hear(dialect, make, bytes, bytes.size()),
        "a reply is the same in any pieces");
}

}  // namespace stet::fuzz
