// Diagnostics: the program's own log, for its developers. Not the event log, which is the user's
// data.
//
// One line per entry: "2026-01-31T23:59:59.123Z warn 1234/1240 lane/lane.cc:56 text", written by a
// single write(2) with O_APPEND, so lines of several processes never mix. At kMaxFileBytes the file
// becomes <path>.1, replacing the older one. Process-wide and thread-safe. Logging never fails the
// caller: what cannot be written is lost in silence. Closed, or below the level, a call costs one
// relaxed load and its arguments are not evaluated.
//
// Beside the program's file there may be others of the same kind, such as one for each session: a
// line is then written with STET_LOG_IN, which holds no file open and rotates at kMaxOtherBytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <fmt/core.h>

#include "base/result.h"

namespace stet {

enum class Level { kDebug, kInfo, kWarn, kError };

class Diagnostics {
 public:
  /// The file is rotated when it has grown to this.
  static constexpr std::size_t kMaxFileBytes = std::size_t{8} << 20;
  static constexpr std::size_t kMaxOtherBytes = std::size_t{1} << 20;
  /// A longer line is cut and ends in "...".
  static constexpr std::size_t kMaxLineBytes = 8192;

  /// Starts (or moves) logging; the file is made 0600 if missing, its folder is not. After an error
  /// logging is closed.
  static Status Open(const std::string& path, Level minimum);

  static void Close();

  static bool Enabled(Level level) {
    return static_cast<int>(level) >= minimum_.load(std::memory_order_relaxed);
  }

  template <class... Args>
  static void Log(Level level, const char* file, int line, fmt::format_string<Args...> format,
                  Args&&... args) noexcept {
    Write(level, file, line, format, fmt::make_format_args(args...));
  }

  /// The same into the file at `path`, whose folder must exist.
  template <class... Args>
  static void LogIn(const std::string& path, Level level, const char* file, int line,
                    fmt::format_string<Args...> format, Args&&... args) noexcept {
    WriteIn(path, level, file, line, format, fmt::make_format_args(args...));
  }

 private:
  static constexpr int kClosed = static_cast<int>(Level::kError) + 1;

  static void Write(Level level, const char* file, int line, fmt::string_view format,
                    fmt::format_args args) noexcept;
  static void WriteIn(const std::string& path, Level level, const char* file, int line,
                      fmt::string_view format, fmt::format_args args) noexcept;

  static inline std::atomic<int> minimum_ = kClosed;
};

}  // namespace stet

/// STET_LOG(kWarn, "no answer from {}", name)
#define STET_LOG(level, ...)                                                           \
  do {                                                                                 \
    if (::stet::Diagnostics::Enabled(::stet::Level::level))                            \
      ::stet::Diagnostics::Log(::stet::Level::level, __FILE__, __LINE__, __VA_ARGS__); \
  } while (false)

/// STET_LOG_IN(path, kInfo, "turn ended turn={} reason={}", id, reason)
#define STET_LOG_IN(path, level, ...)                                                          \
  do {                                                                                         \
    if (::stet::Diagnostics::Enabled(::stet::Level::level))                                    \
      ::stet::Diagnostics::LogIn(path, ::stet::Level::level, __FILE__, __LINE__, __VA_ARGS__); \
  } while (false)
