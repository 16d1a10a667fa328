// What a host asks a client that has offered it. A method's right is the offer that it needs.
#pragma once

#include "protocol/method.h"
#include "protocol/params.h"
#include "protocol/services.h"

namespace stet::protocol {
namespace method {

struct FileRead : Takes<protocol::FileRead, FileText> {
  static constexpr MethodInfo kInfo = {.name = "file.read",
                                       .right = offer::kRead,
                                       .help = "A file's text, as the client's editor has it."};
};
struct FileWrite : Takes<protocol::FileWrite, Nothing> {
  static constexpr MethodInfo kInfo = {
      .name = "file.write", .right = offer::kWrite, .help = "Writes a file through the editor."};
};
struct TerminalAwait : Takes<TerminalRef, TerminalEnd> {
  static constexpr MethodInfo kInfo = {.name = "terminal.await",
                                       .right = offer::kTerminal,
                                       .help = "Answered when the terminal's command has ended."};
};
struct TerminalKill : Takes<TerminalRef, Nothing> {
  static constexpr MethodInfo kInfo = {.name = "terminal.kill",
                                       .right = offer::kTerminal,
                                       .help = "Ends the command; the terminal stays."};
};
struct TerminalOpen : Takes<protocol::TerminalOpen, TerminalOpened> {
  static constexpr MethodInfo kInfo = {.name = "terminal.open",
                                       .right = offer::kTerminal,
                                       .help = "Starts a command in a terminal of the client's."};
};
struct TerminalRelease : Takes<TerminalRef, Nothing> {
  static constexpr MethodInfo kInfo = {.name = "terminal.release",
                                       .right = offer::kTerminal,
                                       .help = "The terminal is not needed any more."};
};
struct TerminalText : Takes<TerminalRef, protocol::TerminalText> {
  static constexpr MethodInfo kInfo = {
      .name = "terminal.text", .right = offer::kTerminal, .help = "The command's output so far."};
};

}  // namespace method

using ClientMethods =
    MethodList<method::FileRead, method::FileWrite, method::TerminalAwait, method::TerminalKill,
               method::TerminalOpen, method::TerminalRelease, method::TerminalText>;

}  // namespace stet::protocol
