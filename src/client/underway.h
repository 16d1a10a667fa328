// Underway: what a watcher was told of things that are not finished: messages being written, tools
// that run, turns. Says what it must be told so that it stands where the host does, after
// transients were missed: no text twice, none lost, and nothing left open that has ended.
//
// Pure: no clock, no thread. Bounded by the caps below; beyond them a message is told anew as a
// whole instead of being gone on with.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/event.h"
#include "protocol/transient.h"
#include "protocol/wire.h"

namespace stet::client {

using Payloads = std::vector<protocol::TransientPayload>;

class Underway {
 public:
  static constexpr std::size_t kMaxText = std::size_t{32} << 20;  // Of all messages.
  static constexpr std::size_t kMaxMessages = 64;
  static constexpr std::size_t kMaxBlocks = 4096;  // Of a message.
  static constexpr std::size_t kMaxCalls = 1024;
  static constexpr std::size_t kMaxTurns = 1024;

  /// The watcher is told this transient. False when it need not be: it was told that the turn
  /// ended.
  bool Note(const protocol::Transient& transient);
  /// A turn that was begun here, or runs when the watcher comes: its end will be told.
  void NoteTurn(const std::string& turn_id);

  /// The watcher is told this event.
  void Take(const protocol::Event& event, std::int64_t epoch);

  /// The host stands at {epoch, seq}, with these messages being written: what the watcher must
  /// hear. Turns and calls whose beginning or end is in the log, and was not told, are told.
  Payloads Reconcile(const protocol::LivePush& live);

  /// Everything that was heard until now is history: of its turns only those that were begun here
  /// are told to have ended.
  void ForgetTurns();

  /// Turns that began, and whose end the watcher was not told. That of a process that died may
  /// stand in the log without a RuntimeEnd that follows it.
  [[nodiscard]] std::vector<std::string> open_turns() const;
  [[nodiscard]] bool has_open_turn() const;
  /// They are no longer running: what the watcher must hear. Turns that have ended stay as they
  /// are.
  Payloads EndTurns(const std::vector<std::string>& turn_ids);
  /// The same for one of which the host says how it ended.
  Payloads EndTurn(const protocol::RuntimeEnd& end);

 private:
  struct Block {
    std::string kind;
    std::string text;
    bool ended = false;
  };
  struct Message {
    std::map<std::int64_t, Block> blocks;
    std::size_t bytes = 0;
    bool lost = false;  // More than is kept: it cannot be gone on with.
  };
  struct Call {
    std::string event_id;
    std::int64_t began_at = 0;  // Unix milliseconds; 0: not known.
    std::int64_t took_ms = 0;
    std::optional<bool> failed;  // It has its result, says the log, at this position.
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
  };
  struct Turn {
    std::string id;
    bool own = false;                   // Begun here, or known to run when the watcher came.
    bool begun = false;                 // The watcher was told its beginning.
    bool told = false;                  // That it ended.
    std::optional<std::string> reason;  // It ended, says the log, at this position.
    std::int64_t epoch = 0;
    std::uint64_t seq = 0;
  };

  void Add(const std::string& event_id, std::int64_t index, std::string_view kind,
           const std::string& text);
  void Erase(const std::string& event_id);
  Turn& TurnOf(const std::string& id);
  void NoteTurn(const protocol::Event& event, const protocol::Turn& turn, std::int64_t epoch);
  void TellCalls(const protocol::LivePush& live, Payloads& out);
  void TellTurns(const protocol::LivePush& live, Payloads& out);
  void TellRunningTurn(const protocol::LivePush& live, Payloads& out);
  void TellRunning(const protocol::RunningCall& call, Payloads& out);
  [[nodiscard]] bool GoesOn(const Message& message, const protocol::PartialMessage& partial) const;
  void Tell(const protocol::PartialMessage& partial, Payloads& out);
  void TellBlock(const protocol::PartialMessage& partial, const protocol::PartialBlock& block,
                 Payloads& out);

  std::map<std::string, Message, std::less<>> messages_;
  std::size_t bytes_ = 0;
  std::map<std::string, Call, std::less<>> calls_;
  std::deque<Turn> turns_;
};

}  // namespace stet::client
