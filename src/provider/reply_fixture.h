// A whole reply through the parser and a dialect's decoder, as text that tests and fuzzers compare.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "base/utf8.h"
#include "protocol/ids.h"
#include "provider/dialect.h"
#include "provider/sse.h"

namespace stet::provider {

/// Keeps the stream, one event a line.
class EventText : public Sink {
 public:
  void On(const StreamEvent& event) override { text += Encode(event) + "\n"; }

  std::string text;
};

struct Decoded {
  std::string events;
  bool ended = false;
  Reply reply;
};

using DecoderMaker = std::unique_ptr<Decoder> (*)(ReplyBuilder&);
using Pieces = std::vector<std::string_view>;

/// The reply that comes in these pieces. Ids are the same every time.
inline Decoded DecodeReply(const Model& model, DecoderMaker make, const Pieces& pieces) {
  EventText sink;
  Random ids(1);
  ReplyBuilder builder(model, sink, ids);
  const std::unique_ptr<Decoder> decoder = make(builder);
  const auto on_event = [&](std::string_view event, std::string_view data) {
    decoder->On(event, ReplaceInvalidUtf8(data));
  };
  SseParser parser;
  for (const std::string_view piece : pieces) (void)parser.Feed(piece, on_event);
  (void)parser.Finish(on_event);
  decoder->Finish();
  const bool ended = builder.ended();
  return {.events = std::move(sink.text), .ended = ended, .reply = builder.TakeReply()};
}

/// `bytes` in pieces of 1 to `longest` bytes.
inline Pieces Split(std::string_view bytes, std::size_t longest, Random& random) {
  Pieces pieces;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1 + random.Below(longest));
    pieces.push_back(piece);
    bytes.remove_prefix(piece.size());
  }
  return pieces;
}

/// `events` with the ids of DecodeReply's first two calls in the places of ID1 and ID2.
inline std::string WithIds(std::string events) {
  Random ids(1);
  for (const std::string_view name : {"ID1", "ID2"}) {
    const std::string id = protocol::NewToolCallId(ids);
    events = Replaced(events, name, id);
  }
  return events;
}

}  // namespace stet::provider
