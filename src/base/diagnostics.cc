#include "base/diagnostics.h"

#include <mutex>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/fs.h"
#include "base/plain_file.h"
#include "base/secrets.h"
#include "base/utf8.h"

namespace stet {

namespace {

struct Sink {
  std::mutex mutex;
  std::string path;
  Fd fd;
  std::size_t max_bytes = Diagnostics::kMaxFileBytes;
};

Sink& TheSink() {
  // Never destroyed, so that destructors of static objects may still log.
  static Sink& sink = *new Sink;
  return sink;
}

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kDebug: return "debug";
    case Level::kInfo: return "info";
    case Level::kWarn: return "warn";
    case Level::kError: return "error";
  }
  return "unknown";
}

/// The path below src/, whatever the build folder was.
std::string_view ShortFile(std::string_view file) {
  const std::size_t at = file.rfind("src/");
  return at == std::string_view::npos ? file : file.substr(at + 4);
}

/// Keeps an entry on one line and a terminal that shows it unharmed.
void AppendEscaped(std::string& out, std::string_view text) {
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\\') {
      out += "\\\\";
    } else if ((byte < 0x20 && letter != '\t') || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += letter;
    }
  }
}

std::string FormatLine(Level level, const char* file, int line, std::string_view text) {
  static constexpr std::string_view kCutMark = "...";
  constexpr std::size_t kRoom = Diagnostics::kMaxLineBytes - kCutMark.size() - 1;
  std::string out = fmt::format("{} {} {}/{} {}:{} ", FormatUtc(SystemClock().Now()),
                                LevelName(level), ::getpid(), ::gettid(), ShortFile(file), line);
  AppendEscaped(out, text.substr(0, Diagnostics::kMaxLineBytes));
  if (out.size() > kRoom) {
    out.resize(Utf8PrefixLength(out, kRoom));
    out += kCutMark;
  }
  out += '\n';
  return out;
}

Result<Fd> OpenLog(const std::string& path) {
  return OpenPlainFile(path, O_WRONLY | O_APPEND | O_CREAT);
}

bool HasRoom(const Sink& sink, std::size_t size) {
  const auto stat = StatFd(sink.fd.get());
  return stat && stat->size + size <= sink.max_bytes;
}

/// Moves a full file aside, or, when another process has done so, goes over to the new one. The
/// lock on the full file keeps two processes from moving aside each other's new one.
void Rotate(Sink& sink) {
  if (::flock(sink.fd.get(), LOCK_EX | LOCK_NB) != 0) return;
  const auto here = StatFd(sink.fd.get());
  const auto there = StatFile(sink.path);
  if (here && there && here->inode == there->inode && here->device == there->device)
      [[maybe_unused]]
    const auto ignored = Rename(sink.path, sink.path + ".1");
  if (auto next = OpenLog(sink.path)) sink.fd = *std::move(next);
}

void WriteLine(Sink& sink, const std::string& text) {
  if (!HasRoom(sink, text.size())) Rotate(sink);
  if (!HasRoom(sink, text.size())) return;
  [[maybe_unused]] const ssize_t ignored = ::write(sink.fd.get(), text.data(), text.size());
}

}  // namespace

Status Diagnostics::Open(const std::string& path, Level minimum) {
  Sink& sink = TheSink();
  const std::scoped_lock lock(sink.mutex);
  minimum_ = kClosed;
  sink.fd.reset();
  ASSIGN_OR_RETURN(sink.fd, OpenLog(path));
  sink.path = path;
  minimum_ = static_cast<int>(minimum);
  return {};
}

void Diagnostics::Close() {
  Sink& sink = TheSink();
  const std::scoped_lock lock(sink.mutex);
  minimum_ = kClosed;
  sink.fd.reset();
}

void Diagnostics::Write(Level level, const char* file, int line, fmt::string_view format,
                        fmt::format_args args) noexcept {
  // Ignoring errors on purpose, the ones thrown included: a log line is never worth a failure.
  try {
    const std::string text = FormatLine(level, file, line, MaskSecrets(fmt::vformat(format, args)));
    Sink& sink = TheSink();
    const std::scoped_lock lock(sink.mutex);
    if (sink.fd) WriteLine(sink, text);
  } catch (...) {
    return;
  }
}

void Diagnostics::WriteIn(const std::string& path, Level level, const char* file, int line,
                          fmt::string_view format, fmt::format_args args) noexcept {
  // As above.
  try {
    const std::string text = FormatLine(level, file, line, MaskSecrets(fmt::vformat(format, args)));
    auto fd = OpenLog(path);
    if (!fd) return;
    Sink sink{.path = path, .fd = *std::move(fd), .max_bytes = kMaxOtherBytes};
    WriteLine(sink, text);
  } catch (...) {
    return;
  }
}

}  // namespace stet
