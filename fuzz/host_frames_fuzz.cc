// What a host says to a client, from arbitrary bytes, a message a line: the client never crashes,
// no event is told twice in a row at its place, and every path and turn ends.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/projection.h"
#include "client/stream.h"
#include "protocol/wire.h"

namespace stet::fuzz {
namespace {

/// What a face would keep of it.
struct Face {
  std::map<std::uint64_t, std::string> told;  // The last at each seq.
  client::Projection projection{64};

  void Hear(const protocol::Event* event, const protocol::Transient* transient) {
    CHECK((event == nullptr) != (transient == nullptr), "one of the two");
    if (transient != nullptr) return;
    std::string& last = told[event->seq];
    CHECK(last.empty() || last != event->id, "an event is told once");
    last = event->id;
    projection.Take(*event);
  }
};

void Take(client::Stream& stream, std::string_view message) {
  const protocol::FromHost read = protocol::ReadFromHost(message);
  if (const auto* event = std::get_if<protocol::EventPush>(&read)) stream.Take(*event);
  if (const auto* news = std::get_if<protocol::TransientPush>(&read)) stream.Take(*news);
  if (const auto* live = std::get_if<protocol::LivePush>(&read)) stream.Take(*live);
  const auto* reply = std::get_if<protocol::WireReply>(&read);
  if (reply == nullptr || !reply->result) return;
  if (const auto told = Decode<protocol::Subscribed>(reply->result->text)) stream.Begin(*told);
}

void Play(std::string_view text, client::StreamOptions options) {
  Face face;
  options.watcher = [&](const protocol::Event* event, const protocol::Transient* transient) {
    face.Hear(event, transient);
  };
  client::Stream stream(std::move(options));
  stream.NoteTurn("t");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Take(stream, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    CHECK(Decode<protocol::Subscribe>(Encode(stream.Next())), "what it asks for can be read");
  }
  stream.EndTurns(stream.open_turns());
  CHECK(stream.open_turns().empty(), "every turn ends");
  CHECK(face.projection.Path(face.told.size() + 1).size() <= face.told.size(), "paths end");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Play(text, {});
  Play(text, {.recent = 3, .history = false});
  return 0;
}

}  // namespace stet::fuzz
