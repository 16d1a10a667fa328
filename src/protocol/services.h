// What a host asks of a client that has offered it, as plain data: the text of files as the
// client's editor has them, and terminals. doc/format/wire.md owns it; protocol/methods.h has the
// methods.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/content.h"

namespace stet::protocol {

/// What a client may offer.
namespace offer {
inline constexpr std::string_view kRead = "read";
inline constexpr std::string_view kWrite = "write";
inline constexpr std::string_view kTerminal = "terminal";
}  // namespace offer

/// All that the client offers from now on.
struct Offer {
  STET_FIELDS(Offer, (Text, session_id), (Texts, offers))
};

struct FileRead {
  STET_FIELDS(FileRead, (Text, session_id), (Text, path))  // A real path.
};
struct FileText {
  STET_FIELDS(FileText, (OptionalText, text))  // Never absent; a client may say anything.
};
struct FileWrite {
  STET_FIELDS(FileWrite, (Text, session_id), (Text, path), (Text, text))
};

struct TerminalOpen {
  STET_FIELDS(TerminalOpen,
              (Text, session_id),
              (Text, command),
              (Texts, args),
              (Texts, environment),  // "NAME=value" each, beside the client's own.
              (Text, cwd),
              (std::int64_t, max_bytes))  // Of its output: the last ones are kept.
};
struct TerminalOpened {
  STET_FIELDS(TerminalOpened, (OptionalText, terminal_id))  // Never absent, as above.
};
struct TerminalRef {
  STET_FIELDS(TerminalRef, (Text, session_id), (Text, terminal_id))
};
/// How the command ended: one of the two.
struct TerminalEnd {
  STET_FIELDS(TerminalEnd, (OptionalInt, exit_code), (OptionalText, signal))
};
struct TerminalText {
  STET_FIELDS(TerminalText, (OptionalText, text), (bool, truncated))
};

}  // namespace stet::protocol
