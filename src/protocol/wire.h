// The messages that a host and its clients exchange, and what they carry, as plain data.
// doc/format/wire.md owns it; protocol/methods.h has the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

inline constexpr std::int64_t kWireVersion = 1;

struct WireError {
  STET_FIELDS(WireError,
              (Text, code),
              (Text, message),
              (OptionalInt, pid))  // Of the process that works on the session.
};
using OptionalWireError = std::optional<WireError>;

/// The first message of a client.
struct Hello {
  static constexpr std::string_view kTag = "hello";
  STET_FIELDS(Hello,
              (std::int64_t, version),
              (OptionalText, token),
              (Text, client_id),  // Its own; empty: it is given one.
              (Text, name),
              (Text, program))
};

struct Welcome {
  static constexpr std::string_view kTag = "welcome";
  STET_FIELDS(Welcome,
              (std::int64_t, version),
              (Text, program),
              (Text, device_id),
              (Text, host_id),
              (Text, client_id),
              (Texts, rights))
};

/// The last message before the host closes.
struct Bye {
  static constexpr std::string_view kTag = "bye";
  STET_FIELDS(Bye, (WireError, error))
};

struct WireRequest {
  static constexpr std::string_view kTag = "request";
  STET_FIELDS(WireRequest, (Text, request_id), (Text, method), (OptionalRaw, params))
};

struct WireReply {
  static constexpr std::string_view kTag = "reply";
  STET_FIELDS(WireReply, (Text, request_id), (OptionalRaw, result), (OptionalWireError, error))
};

/// A stored line, as it is.
struct EventPush {
  static constexpr std::string_view kTag = "event";
  STET_FIELDS(EventPush, (Text, session_id), (std::int64_t, epoch), (Raw, event))
};

struct TransientPush {
  static constexpr std::string_view kTag = "transient";
  STET_FIELDS(TransientPush,
              (Text, session_id),
              (std::int64_t, epoch),
              (Raw, transient),
              (std::optional<std::uint64_t>, from_seq))  // Of the first that this one stands for.
};

/// What is said so far in a block of a message that is being written.
struct PartialBlock {
  STET_FIELDS(PartialBlock,
              (std::int64_t, index),
              (Text, kind),  // text, thinking, tool_call
              (Text, text),
              (OptionalText, tool_call_id),
              (OptionalText, tool_name))
};
using PartialBlocks = std::vector<PartialBlock>;

struct PartialMessage {
  STET_FIELDS(PartialMessage,
              (Text, event_id),
              (OptionalText, parent_id),
              (Text, role),
              (OptionalText, model),
              (PartialBlocks, blocks))
};
using PartialMessages = std::vector<PartialMessage>;

/// A call that runs.
struct RunningCall {
  STET_FIELDS(RunningCall,
              (Text, event_id),
              (Text, tool_call_id),
              (Text, tool_name),
              (Raw, args),  // {} when they are long: the message has them.
              (std::int64_t, began_at),  // Unix milliseconds.
              (Text, output))  // The end of what it wrote so far.
};
using RunningCalls = std::vector<RunningCall>;

/// The client has everything up to here; from now on it hears what happens.
struct LivePush {
  static constexpr std::string_view kTag = "live";
  STET_FIELDS(LivePush,
              (Text, session_id),
              (std::int64_t, epoch),
              (std::uint64_t, seq),
              (PartialMessages, partial),
              (OptionalText, turn_id),  // The turn that runs,
              (OptionalInt, turn_began_at),  // since then: Unix milliseconds.
              (RunningCalls, running))
};

struct Ping {
  static constexpr std::string_view kTag = "ping";
  STET_FIELDS(Ping, (OptionalText, request_id))
};
struct Pong {
  static constexpr std::string_view kTag = "pong";
  STET_FIELDS(Pong, (OptionalText, request_id))
};

// Either side asks: a host asks a client for what it has offered (protocol/services.h).
using FromClient = std::variant<Hello, WireRequest, WireReply, Ping, Raw>;
using FromHost = std::variant<Welcome, Bye, WireRequest, WireReply, EventPush, TransientPush,
                              LivePush, Pong, Raw>;

/// What a client knows of a session: the last that it saw of any kind, and the last event.
struct ResyncAnchor {
  STET_FIELDS(ResyncAnchor,
              (std::int64_t, epoch),
              (std::uint64_t, seq),
              (std::uint64_t, persistent_seq),
              (Text, persistent_id))
};
using OptionalResyncAnchor = std::optional<ResyncAnchor>;

struct Subscribe {
  STET_FIELDS(Subscribe,
              (Text, session_id),
              (OptionalResyncAnchor, anchor),
              (OptionalInt, recent))  // Without an anchor: so many of the last events first.
};

namespace resync {
inline constexpr std::string_view kStream = "stream_resume";
inline constexpr std::string_view kPersistent = "persistent_fallback";
inline constexpr std::string_view kReload = "full_reload";
inline constexpr std::string_view kRecent = "recent";
}  // namespace resync

using Raws = std::vector<Raw>;
using OptionalRaws = std::optional<Raws>;

struct Subscribed {
  STET_FIELDS(Subscribed,
              (Text, mode),
              (std::int64_t, epoch),
              (std::uint64_t, seq),  // Where the session stands.
              (OptionalRaws, events))  // With `recent`.
};

/// A folder that the host knows as a project.
struct Project {
  STET_FIELDS(Project,
              (Text, project_id),
              (Text, path),
              (Text, name),
              (std::int64_t, added_at))
};
using Projects = std::vector<Project>;

struct HostStatus {
  STET_FIELDS(HostStatus,
              (std::int64_t, pid),
              (Text, host_id),
              (Text, device_id),
              (Text, program),
              (Text, socket),
              (Text, address),  // Empty: no TCP.
              (Text, launched),  // user, or client: it leaves with its last client.
              (std::int64_t, uptime_ms),
              (std::int64_t, sessions),  // Awake.
              (std::int64_t, working),  // Of them, with a turn or a background command.
              (std::int64_t, clients),
              (std::uint64_t, memory_bytes))
};

/// How a host is started.
struct HostLaunch {
  STET_FIELDS(HostLaunch,
              (Text, launched),  // user or client
              (OptionalText, listen),  // "ADDRESS:PORT"; absent: as configured
              (bool, exposed),  // It may listen elsewhere than on loopback.
              (OptionalText, certificate),
              (OptionalText, key),
              (std::int64_t, ready_fd))  // Told when it listens; below 0: none.
};

/// host.json: what a host says of itself, for clients of the same user.
struct HostState {
  STET_FIELDS(HostState,
              (std::int64_t, pid),
              (Text, host_id),
              (Text, program),
              (Text, socket),
              (Text, address),
              (Text, token),
              (Text, launched),
              (OptionalText, fingerprint),  // Of the certificate, with TLS.
              (std::int64_t, started_at),
              (OptionalInt, stopped_at))
};

/// How a host is found.
struct HostReport {
  STET_FIELDS(HostReport,
              (Text, state),  // running, stopped, or orphan (it died without saying so)
              (std::optional<HostStatus>, status))
};

struct Browsed {
  STET_FIELDS(Browsed, (Text, path), (OptionalText, parent), (Texts, folders))
};

/// A client that may connect over the network with its token.
struct TokenRow {
  STET_FIELDS(TokenRow, (Text, name), (Texts, rights), (std::int64_t, created_at))
};
using TokenRows = std::vector<TokenRow>;

FromClient ReadFromClient(std::string_view message);
FromHost ReadFromHost(std::string_view message);
WireError ToWire(const Error& error);
Error FromWire(const WireError& error);

/// `object` (an object's text) with sessionId before its members: a request whose address names the
/// session.
std::string ForSession(std::string_view session_id, std::string_view object);

}  // namespace stet::protocol
