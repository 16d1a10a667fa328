// Events, transients and headers from arbitrary text: decoding never crashes, and encoding what was
// decoded is a fixed point that loses no unknown member.
#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/event.h"
#include "protocol/header.h"
#include "protocol/transient.h"

namespace stet::fuzz {
namespace {

/// Encodes twice, by way of a decode in between.
template <class T>
void CheckFixedPoint(const T& value) {
  const std::string once = Encode(value);
  const Result<T> again = Decode<T>(once);
  CHECK(again.has_value(), "what we encode can be decoded");
  CHECK(Encode(*again) == once, "and encodes to the same bytes");
}

void CheckEvent(std::string_view text) {
  const Result<protocol::Event> event = protocol::DecodeEvent(text);
  if (!event) return;
  std::string once;
  protocol::EncodeEvent(*event, once);
  CHECK(CheckJson(once).has_value(), "an encoded event is JSON");
  const Result<protocol::Event> again = protocol::DecodeEvent(once);
  CHECK(again.has_value(), "what we encode can be decoded");
  std::string twice;
  protocol::EncodeEvent(*again, twice);
  CHECK(twice == once, "and encodes to the same bytes");
  CHECK(again->payload.index() == event->payload.index(), "as the same type");
  CHECK(again->seq == event->seq, "with the same seq");
  std::visit(
      [&](const auto& payload) {
        if (!payload.extra.empty())
          CHECK(
              text.find(payload.extra.substr(0, payload.extra.find(':'))) != std::string_view::npos,
              "unknown members keep their names");
      },
      static_cast<const protocol::PayloadVariant&>(event->payload));
  (void)protocol::PlaceOf(event->payload);
  (void)protocol::FlushOf(event->payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckEvent(text);
  if (const auto header = Decode<protocol::Header>(text)) CheckFixedPoint(*header);
  if (const auto transient = protocol::DecodeTransient(text)) CheckFixedPoint(*transient);
  return 0;
}

}  // namespace stet::fuzz
