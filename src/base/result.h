// Result: a value or an Error. Every call that can fail for a reason outside the program returns
// one.
//
// Errors are values with few names; each Code says what the caller does next. Nothing in this
// project throws across a module's border: a library's exceptions end in its wrapper. CHECK is for
// our own bugs only and is never reachable from input.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace stet {

/// Named for what the caller does about it.
enum class Code {
  kInvalid,   // The request is wrong: correct it.
  kNotFound,  // There is no such thing: name another.
  kConflict,  // The state moved on, or the thing exists already: look again, then decide.
  kBusy,      // Another process or client holds it, or it is not at rest: wait, or ask the holder
              // named in the message.
  kDenied,    // The system or a policy forbids it: ask for the right.
  kAuth,      // A credential is missing or refused: bring one.
  kTooNew,    // Written by a newer version: upgrade.
  kUnsupported,  // This build or this machine cannot do it.
  kCorrupt,      // The data is damaged: verify, repair.
  kFull,         // No room left: make room, then try again; nothing was lost.
  kIo,           // The storage or the system failed: stop writing.
  kUnavailable,  // It may work later: try again.
  kTimeout,      // The deadline passed.
  kCancelled,    // The caller asked to stop.
};

/// The code's stable name as it appears in JSON and logs: "not_found".
std::string_view CodeName(Code code);

struct Error {
  Code code = Code::kInvalid;
  std::string message;  // What happened, with the user's noun, then what to do.
  std::string
      context;  // What was being done, outermost first; empty where the message says it all.

  Error(Code error_code, std::string text) : code(error_code), message(std::move(text)) {}

  /// The same error, said to have happened while doing `what`.
  Error While(std::string_view what) &&;

  /// "context: message", for people.
  [[nodiscard]] std::string Text() const;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> Fail(Code code, std::string message) {
  return std::unexpected(Error(code, std::move(message)));
}

/// An Error for the system call failure `error_number` (an errno), met while doing `what` ("open
/// /a/b").
Error SystemError(int error_number, std::string_view what);

inline std::unexpected<Error> FailSystem(int error_number, std::string_view what) {
  return std::unexpected(SystemError(error_number, what));
}

[[noreturn]] void CheckFailed(const char* file, int line, const char* sentence);

}  // namespace stet

#define STET_CONCAT_(a, b) a##b
#define STET_CONCAT(a, b) STET_CONCAT_(a, b)

/// RETURN_IF_ERROR(Call()): hands an error on to the caller.
#define RETURN_IF_ERROR(expression)                           \
  do {                                                        \
    if (auto stet_status = (expression); !stet_status)        \
      return std::unexpected(std::move(stet_status).error()); \
  } while (false)

/// ASSIGN_OR_RETURN(auto x, Call()): the value, or the error handed on to the caller.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(STET_CONCAT(stet_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(result, declaration, expression)        \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)

/// CHECK(condition, "what must be true"): ends the process; for our own bugs, never for input.
#define CHECK(condition, sentence) \
  ((condition) ? (void)0 : ::stet::CheckFailed(__FILE__, __LINE__, sentence))
