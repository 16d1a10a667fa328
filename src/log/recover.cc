#include "log/recover.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "log/index_file.h"
#include "log/line.h"
#include "log/scan.h"

namespace stet::log {
namespace {

constexpr std::string_view kHeaderStart = "{\"version\":";
constexpr std::string_view kBadCrc = "its crc does not fit its bytes";
/// More than a line can hold is cut off unread; what is copied aside is bounded by it too.
constexpr std::uint64_t kMaxAsideBytes = kMaxLineBytes;

Result<std::string> ReadBytes(int fd, std::uint64_t offset, std::uint64_t length) {
  std::string bytes(std::min(length, kMaxAsideBytes), '\0');
  ASSIGN_OR_RETURN(const std::size_t got, Pread(fd, std::span(bytes.data(), bytes.size()), offset));
  bytes.resize(got);
  return bytes;
}

Status PutAside(const Paths& paths, std::string_view kind, std::uint64_t offset,
                std::string_view bytes) {
  RETURN_IF_ERROR(MakeDirs(paths.aside()));
  const std::string path =
      fmt::format("{}/{}-{}-{}.bin", paths.aside(), kind, offset, FastHashHex(bytes));
  if (Exists(path)) return {};
  RETURN_IF_ERROR(ReplaceFile(path, bytes, Durable::kYes));
  return SyncDir(paths.dir);
}

std::optional<protocol::Header> ReadHeader(std::string_view line) {
  if (!line.starts_with(kHeaderStart) || !CheckLine(line)) return std::nullopt;
  Result<protocol::Header> header = Decode<protocol::Header>(Unsealed(line));
  return header ? std::optional(*std::move(header)) : std::nullopt;
}

/// Folds bytes that are not one good line; returns the end of the last good piece. What stands
/// behind it in a line that does not end is torn, and goes as a whole.
std::uint64_t AddPieces(Index& index, const ScannedLine& line) {
  std::uint64_t good_end = line.offset;
  const std::vector<Piece> pieces = SplitDamaged(line.text);
  auto torn = pieces.end();
  while (!line.terminated && torn != pieces.begin() && !std::prev(torn)->good) --torn;
  for (auto piece = pieces.begin(); piece != torn; ++piece) {
    const std::uint64_t offset = line.offset + piece->offset;
    if (piece->good) {
      index.AddLine(line.text.substr(piece->offset, piece->length), offset);
      good_end = offset + piece->length;
    } else {
      // The LF of a damaged line is part of the damage.
      const bool takes_lf = std::next(piece) == pieces.end();
      index.AddDamage(offset, piece->length + (takes_lf ? 1 : 0), kBadCrc);
    }
  }
  if (pieces.empty()) index.AddDamage(line.offset, 1, "an empty line");
  return good_end;
}

/// The first line: the header where it is one, else whatever an event or damage.
Status ScanFirstLine(LineScanner& scanner, Scanned& scanned) {
  ScannedLine line;
  ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
  if (!any) {
    scanned.index.Report(
        {.kind = Fault::Kind::kEmptyFile, .detail = "the log has no bytes at all"});
    return {};
  }
  scanned.first_line_hash = FastHash(line.text);
  scanned.header = ReadHeader(line.text);
  scanned.header_on_line_1 = scanned.header.has_value();
  if (scanned.header && scanned.header->version > protocol::kLogVersion) {
    scanned.index.Report({.kind = Fault::Kind::kTooNew,
                          .detail = fmt::format("format version {}; this program reads up to {}",
                                                scanned.header->version, protocol::kLogVersion)});
  }
  return {};
}

Status ScanRest(LineScanner& scanner, Scanned& scanned) {
  ScannedLine line;
  while (true) {
    ASSIGN_OR_RETURN(const bool any, scanner.Next(&line));
    if (!any) return {};
    scanned.index.BeginLine();
    scanned.file_end = line.offset + line.text.size() + (line.terminated ? 1 : 0);
    if (line.offset == 0 && scanned.header_on_line_1) {
      scanned.index.set_bytes(scanned.file_end);
      scanned.good_end = scanned.file_end;
    } else if (CheckLine(line.text)) {
      if (line.offset == 0) {
        scanned.index.Report(
            {.kind = Fault::Kind::kMissingHeader, .detail = "line 1 is an event, not the header"});
      }
      scanned.index.AddLine(line.text, line.offset);
      scanned.good_end = scanned.file_end;
    } else if (line.terminated) {
      AddPieces(scanned.index, line);
      scanned.good_end = scanned.file_end;
      continue;
    } else {
      scanned.good_end = AddPieces(scanned.index, line);
      scanned.index.Report({.kind = Fault::Kind::kTornLine,
                            .offset = scanned.good_end,
                            .length = scanned.file_end - scanned.good_end,
                            .detail = "the last line does not end: its write was cut short"});
      scanned.missing_lf = scanned.good_end > line.offset;
      if (!scanned.missing_lf) scanned.index.DropLine();
      return {};
    }
    scanned.missing_lf = !line.terminated;
  }
}

/// Whether the lines that opening reads are good: the leaf, and while calls are open there the
/// whole step.
bool StepIsGood(int fd, const Index& index) {
  constexpr std::uint8_t kToolResult = protocol::kTypeNumber<protocol::ToolResult>;
  for (Ordinal at = index.leaf(); at != kNone; at = index.entries()[at].parent) {
    const Entry& entry = index.entries()[at];
    const Result<std::string> line = ReadBytes(fd, entry.offset, entry.length);
    if (!line || !CheckLine(*line)) return false;
    if (entry.open == 0 || entry.type != kToolResult) break;
  }
  return true;
}

}  // namespace

Result<Scanned> ScanLog(const Paths& paths, int fd, bool use_index, std::vector<Fault>* faults) {
  Scanned scanned;
  scanned.index.ReportTo(faults);
  LineScanner first(fd, 0);
  RETURN_IF_ERROR(ScanFirstLine(first, scanned));
  if (use_index) {
    ASSIGN_OR_RETURN(const FileStat stat, StatFd(fd));
    std::optional<Index> kept =
        IndexFile::Load(paths.index(), fd, stat.size, scanned.first_line_hash, &scanned.index_kept);
    if (kept) {
      scanned.index = *std::move(kept);
      scanned.index.ReportTo(faults);
    }
  }
  scanned.good_end = scanned.file_end = scanned.index.bytes();
  LineScanner scanner(fd, scanned.index.bytes());
  RETURN_IF_ERROR(ScanRest(scanner, scanned));
  scanned.index.ReportTo(nullptr);
  if (!scanned.header) scanned.header = scanned.index.state().rebuilt_header;
  // Damage that came after the index was made is not in it: where it would stop us, look again.
  if (use_index && !StepIsGood(fd, scanned.index)) return ScanLog(paths, fd, false, faults);
  return scanned;
}

Status MendTail(const Paths& paths, int fd, Scanned& scanned) {
  if (scanned.file_end > scanned.good_end) {
    ASSIGN_OR_RETURN(const std::string torn,
                     ReadBytes(fd, scanned.good_end, scanned.file_end - scanned.good_end));
    RETURN_IF_ERROR(PutAside(paths, "torn", scanned.good_end, torn));
    if (::ftruncate(fd, static_cast<off_t>(scanned.good_end)) != 0)
      return FailSystem(errno, "cut the torn line off the log");
    if (::fdatasync(fd) != 0) return FailSystem(errno, "flush the log");
    scanned.file_end = scanned.good_end;
  }
  if (scanned.missing_lf) {
    RETURN_IF_ERROR(WriteAll(fd, "\n"));
    scanned.good_end += 1;
    scanned.file_end = scanned.good_end;
    scanned.index.set_bytes(scanned.good_end);
    scanned.missing_lf = false;
  }
  return {};
}

Status CopyAside(const Paths& paths, int fd, const Damage& damage) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(fd, damage.offset, damage.length));
  return PutAside(paths, "line", damage.offset, bytes);
}

std::optional<std::string> LostId(int fd, const Damage& damage) {
  constexpr std::uint64_t kPrefixBytes = 512;
  const Result<std::string> bytes =
      ReadBytes(fd, damage.offset, std::min(damage.length, kPrefixBytes));
  if (!bytes) return std::nullopt;
  const std::optional<Prefix> prefix = ReadPrefix(*bytes);
  // Damaged bytes may say anything: only what looks like an id of ours is believed.
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!prefix || prefix->id.empty() || !std::ranges::all_of(prefix->id, plain)) return std::nullopt;
  return std::string(prefix->id);
}

}  // namespace stet::log
