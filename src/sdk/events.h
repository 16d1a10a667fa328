// StreamEvents: tells a session in stream-json, each event as soon as it is in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "face/result_json.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"
#include "sdk/asks.h"
#include "sdk/lines.h"
#include "sdk/partial_reply.h"

namespace stet::sdk {

class StreamEvents {
 public:
  struct Options {
    bool partial_messages = false;  // Replies as they come.
    bool replay_user_messages = false;
  };
  /// Takes a line without its end.
  using Write = std::function<void(std::string)>;

  StreamEvents(Options options, Write write) : options_(options), write_(std::move(write)) {}

  /// The session is open: tells how it stands, and asks what it waits for.
  void Begin(const protocol::LiveState& state);
  /// Asks what the session waits for and was not asked yet.
  void AskOpen(const protocol::LiveState& state);
  void Hear(const protocol::Event& event);
  void Hear(const protocol::Transient& transient);
  /// The turn has ended, or never began.
  void End(const protocol::TurnReport& report, const face::ResultMore& more);

  /// What was asked, for the answers.
  StreamAsks& asks() { return asks_; }

 private:
  void WriteParts(const std::vector<std::string>& parts, std::uint64_t seq);
  void WriteSome(std::optional<std::string> line);

  Options options_;
  Write write_;
  StreamLines lines_{""};
  PartialReply partial_;
  StreamAsks asks_;
  face::Spent spent_;
};

}  // namespace stet::sdk
