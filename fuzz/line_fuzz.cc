// Lines from arbitrary bytes: a sealed line checks, its prefix says what its event says, and the
// pieces of a damaged stretch cover it and hold every whole line in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "log/line.h"
#include "protocol/event.h"

namespace stet::fuzz {
namespace {

void CheckPieces(std::string_view bytes) {
  std::size_t end = 0;
  for (const log::Piece& piece : log::SplitDamaged(bytes)) {
    CHECK(piece.offset == end && piece.length > 0, "pieces follow each other");
    CHECK(!piece.good || log::CheckLine(bytes.substr(piece.offset, piece.length)),
          "a good piece is a line");
    end += piece.length;
  }
  CHECK(end == bytes.size(), "pieces cover everything");
}

void CheckPrefix(const protocol::Event& event, std::string_view line) {
  const auto prefix = log::ReadPrefix(line);
  CHECK(prefix.has_value(), "an event's line has a prefix");
  CHECK(prefix->seq == event.seq, "seq");
  CHECK(prefix->id == log::EscapedText(event.id), "id");
  CHECK(prefix->parent_id.has_value() == event.parent_id.has_value(), "parent or none");
  if (event.parent_id) CHECK(*prefix->parent_id == log::EscapedText(*event.parent_id), "parent");
  if (std::holds_alternative<protocol::UnknownEvent>(event.payload)) return;
  CHECK(protocol::TypeNumber(prefix->type, prefix->role) == protocol::TypeNumber(event.payload),
        "type");
  CHECK(prefix->ts == event.stamp.ts, "ts");
  CHECK(prefix->critical == event.stamp.critical.value_or(false), "critical");
  CHECK(protocol::PlaceOf(protocol::TypeNumber(event.payload), prefix->op) ==
            protocol::PlaceOf(event.payload),
        "place");
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    CHECK(prefix->client_message_id == log::EscapedText(user->client_message_id.value_or("")),
          "clientMessageId");
    CHECK(prefix->queue_item_id == log::EscapedText(user->queue_item_id.value_or("")),
          "queueItemId");
  }
  if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
    CHECK(prefix->queue_item_id == log::EscapedText(item->queue_item_id.value_or("")),
          "queueItemId");
  }
}

void CheckEvent(std::string_view text) {
  // Line breaks between tokens stay in raw members; the log refuses such an event.
  if (text.find('\n') != std::string_view::npos) return;
  const Result<protocol::Event> event = protocol::DecodeEvent(text);
  if (!event) return;
  std::string line;
  protocol::EncodeEvent(*event, line);
  const std::string object = line;
  log::SealLine(line, 0);
  CHECK(line.back() == '\n' && line.find('\n') == line.size() - 1, "a line is one line");
  line.pop_back();
  CHECK(log::CheckLine(line), "a sealed line checks");
  CHECK(log::Unsealed(line) == object, "and can be unsealed");
  // What reads lines reads what was decoded from them, so both start from the line.
  const Result<protocol::Event> stored = protocol::DecodeEvent(line);
  CHECK(stored.has_value(), "a line can be decoded");
  CheckPrefix(*stored, line);

  std::string damaged = "}\"x" + line + "garbage";
  const std::vector<log::Piece> pieces = log::SplitDamaged(damaged);
  CHECK(pieces.size() == 3 && pieces[1].good && pieces[1].length == line.size(),
        "a whole line between garbage is found");
  for (const std::size_t at : {std::size_t{0}, line.size() / 2, line.size() - 3}) {
    line[at] = static_cast<char>(line[at] ^ 1);
    CHECK(!log::CheckLine(line), "a flipped bit is noticed");
    line[at] = static_cast<char>(line[at] ^ 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckPieces(text);
  (void)log::CheckLine(text);
  (void)log::ReadPrefix(text);
  CheckEvent(text);
  return 0;
}

}  // namespace stet::fuzz
