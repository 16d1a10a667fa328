#include "store/intake.h"

#include <optional>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/wildcard.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "protocol/ids.h"
#include "store/tar_reader.h"

namespace stet::store {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

enum class What { kLog, kSummary, kBlob };

/// A file of a session, by its name below the session's folder.
std::optional<What> WhatIs(const std::vector<std::string_view>& parts) {
  if (parts.size() == 1 && parts[0] == "events.jsonl") return What::kLog;
  if (parts.size() == 1 && parts[0] == "summary.json") return What::kSummary;
  if (parts.size() == 2 && parts[0] == "blobs" && log::Blobs::IsName(std::string(parts[1])))
    return What::kBlob;
  return std::nullopt;
}

struct Place {
  std::string path;  // Below the folder.
  What what = What::kLog;
};

/// Where a member goes: of a session at the tar's top or in one folder of it, or of a child of that
/// one. Nothing when it is none of a session's files, or its name leads elsewhere.
std::optional<Place> PlaceOf(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  if (name.starts_with('/') || name.contains('\0')) return std::nullopt;
  std::vector<std::string_view> parts = PathParts(name);
  Place place;
  for (const std::string_view part : parts) {
    if (part == "." || part == ".." || part.size() > 255) return std::nullopt;
    (place.path += place.path.empty() ? "" : "/") += part;
  }
  for (const std::size_t folders : {0, 1}) {
    if (parts.size() <= folders) break;
    std::vector<std::string_view> own(parts.begin() + static_cast<std::ptrdiff_t>(folders),
                                      parts.end());
    if (own.size() > 2 && own[0] == "agents" && protocol::IsSessionId(own[1]))
      own.erase(own.begin(), own.begin() + 2);
    if (const std::optional<What> what = WhatIs(own)) {
      place.what = *what;
      return place;
    }
  }
  return std::nullopt;
}

/// Writes files within the limits.
class Writer {
 public:
  Writer(std::string into, const IntakeLimits& limits) : into_(std::move(into)), limits_(limits) {}

  Status Begin(const Place& place) {
    if (++files_ > limits_.files)
      return Fail(Code::kInvalid,
                  fmt::format("it has more than {} files of a session", limits_.files));
    const std::string path = into_ + "/" + place.path;
    RETURN_IF_ERROR(MakeDirs(ParentDir(path)));
    Result<Fd> made = OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!made && made.error().code == Code::kConflict)
      return Fail(Code::kInvalid, fmt::format("it has {} twice", place.path));
    if (!made) return std::unexpected(std::move(made).error());
    file_ = *std::move(made);
    name_ = place.path;
    what_ = place.what;
    bytes_ = lines_ = line_ = log_values_ = line_values_ = 0;
    in_string_ = escaped_ = false;
    return {};
  }

  Status Write(std::string_view piece) {
    bytes_ += piece.size();
    all_ += piece.size();
    if (all_ > limits_.all_bytes) return TooMuch("all of it together", limits_.all_bytes, "bytes");
    if (what_ == What::kSummary && bytes_ > limits_.summary_bytes)
      return TooMuch(name_, limits_.summary_bytes, "bytes");
    if (what_ == What::kLog) RETURN_IF_ERROR(CheckLog(piece));
    return WriteAll(file_.get(), piece);
  }

 private:
  Status CheckLog(std::string_view piece) {
    if (bytes_ > limits_.log_bytes) return TooMuch(name_, limits_.log_bytes, "bytes");
    while (!piece.empty()) {
      const std::size_t lf = piece.find('\n');
      const std::string_view part = piece.substr(0, lf);
      line_ += part.size();
      CountValues(part);
      if (line_ > limits_.line_bytes)
        return TooMuch("a line of " + name_, limits_.line_bytes, "bytes");
      if (line_values_ > limits_.line_values)
        return TooMuch("a line of " + name_, limits_.line_values, "values");
      if (lf == std::string_view::npos) break;
      log_values_ += line_values_;
      if (log_values_ > limits_.log_values) return TooMuch(name_, limits_.log_values, "values");
      if (++lines_ > limits_.log_lines) return TooMuch(name_, limits_.log_lines, "lines");
      line_ = line_values_ = 0;
      in_string_ = escaped_ = false;
      piece.remove_prefix(lf + 1);
    }
    return {};
  }

  /// Each value but the first has one of these before it, outside of strings.
  void CountValues(std::string_view part) {
    for (const char c : part) {
      if (in_string_) {
        if (c == '"' && !escaped_) in_string_ = false;
        escaped_ = c == '\\' && !escaped_;
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[' || c == ',') {
        ++line_values_;
      }
    }
  }

  static Status TooMuch(const std::string& what, std::uint64_t most, std::string_view unit) {
    return Fail(Code::kInvalid,
                fmt::format("{} has more than {} {}: no session is taken in that is larger", what,
                            most, unit));
  }

  std::string into_;
  const IntakeLimits& limits_;
  std::uint64_t files_ = 0;
  std::uint64_t all_ = 0;
  Fd file_;
  std::string name_;
  What what_ = What::kLog;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t log_values_ = 0;
  // Of the line that is under way.
  std::uint64_t line_ = 0;  // Bytes.
  std::uint64_t line_values_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

void LeftOut::Add(std::string name) {
  ++count;
  names.insert(std::move(name));
  if (names.size() > kNamed) names.erase(std::prev(names.end()));
}

Result<LeftOut> TakeTar(const std::string& path, const std::string& into,
                        const IntakeLimits& limits) {
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY));
  ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd.get()));
  TarReader tar(fd.get(), stat.size);
  Writer writer(into, limits);
  LeftOut left_out;
  std::string buffer(kPieceBytes, '\0');
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<TarMember> member, tar.Next());
    if (!member) return left_out;
    if (member->kind == TarMember::Kind::kFolder) continue;
    const std::optional<Place> place =
        member->kind == TarMember::Kind::kFile ? PlaceOf(member->name) : std::nullopt;
    if (!place) {
      left_out.Add(member->name);
      continue;
    }
    RETURN_IF_ERROR(writer.Begin(*place));
    for (;;) {
      ASSIGN_OR_RETURN(const std::size_t got, tar.Read(buffer));
      if (got == 0) break;
      RETURN_IF_ERROR(writer.Write(std::string_view(buffer).substr(0, got)));
    }
  }
}

Status TakeJsonl(const std::string& path, const std::string& into, const IntakeLimits& limits) {
  // A copy, never a link: the session will be written, the user's file must not be.
  ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY));
  Writer writer(into, limits);
  RETURN_IF_ERROR(writer.Begin({.path = "events.jsonl", .what = What::kLog}));
  std::string buffer(kPieceBytes, '\0');
  for (std::uint64_t offset = 0;;) {
    ASSIGN_OR_RETURN(const std::size_t got, Pread(fd.get(), buffer, offset));
    if (got == 0) return {};
    RETURN_IF_ERROR(writer.Write(std::string_view(buffer).substr(0, got)));
    offset += got;
  }
}

}  // namespace stet::store
