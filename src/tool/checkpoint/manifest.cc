#include "tool/checkpoint/manifest.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"

namespace stet::tool {
namespace {

constexpr std::string_view kTitle = "stet manifest 1";
constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Blanks, control characters and "%" as "%20": a path is bytes, and a line has one.
void AppendEscaped(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != 0x7F && c != '%') {
      out += c;
      continue;
    }
    out += '%';
    out += kHexDigits[byte >> 4U];
    out += kHexDigits[byte & 15U];
  }
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      bytes += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const std::size_t high = kHexDigits.find(text[at + 1]);
    const std::size_t low = kHexDigits.find(text[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4U | low);
    at += 2;
  }
  return bytes;
}

/// No path that leads out of the project, or into a repository's own folder, comes from a text.
bool IsPath(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part == ".git") return false;
    if (slash == path.size()) return true;
    path.remove_prefix(slash + 1);
  }
}

bool IsId(std::string_view id) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (id.size() == kSha1 || id.size() == kSha256) &&
         id.find_first_not_of(kHexDigits) == std::string_view::npos;
}

std::string_view TakeWord(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Number>
bool TakeNumber(std::string_view& line, Number& number, int base = 10) {
  const std::string_view word = TakeWord(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return error == std::errc() && end == word.data() + word.size();
}

bool TakeKept(std::string_view& line, Kept& kept) {
  const std::string_view word = TakeWord(line);
  if (word == "-") return true;
  if (word.empty() || !IsId(word.substr(1))) return false;
  kept = {.in = word[0] == 'g' ? Kept::In::kGit : Kept::In::kCopies,
          .id = std::string(word.substr(1))};
  return word[0] == 'g' || word[0] == 'c';
}

void AppendEntry(std::string& out, std::string_view path, const ManifestEntry& entry) {
  if (entry.kind == ManifestKind::kFolder) {
    fmt::format_to(std::back_inserter(out), "d {:o} ", entry.mode);
  } else {
    fmt::format_to(std::back_inserter(out), "{} {:o} {} {} {} {} ",
                   entry.kind == ManifestKind::kLink ? 'l' : 'f', entry.mode, entry.size,
                   entry.mtime_ns, entry.ctime_ns, entry.inode);
    if (entry.kind == ManifestKind::kLink)
      AppendEscaped(out, entry.target);
    else if (entry.kept.in == Kept::In::kNowhere)
      out += '-';
    else
      (out += entry.kept.in == Kept::In::kGit ? 'g' : 'c') += entry.kept.id;
    out += ' ';
  }
  AppendEscaped(out, path);
  out += '\n';
}

/// What stands behind the kind, up to the path.
bool TakeEntry(std::string_view kind, std::string_view& line, ManifestEntry& entry) {
  if (!TakeNumber(line, entry.mode, 8) || entry.mode > kEntryModeBits) return false;
  if (kind == "d") {
    entry.kind = ManifestKind::kFolder;
    return true;
  }
  if (!TakeNumber(line, entry.size) || !TakeNumber(line, entry.mtime_ns) ||
      !TakeNumber(line, entry.ctime_ns) || !TakeNumber(line, entry.inode))
    return false;
  if (kind == "f") return TakeKept(line, entry.kept);
  entry.kind = ManifestKind::kLink;
  const auto target = Unescaped(TakeWord(line));
  if (kind != "l" || !target || target->find('\0') != std::string::npos) return false;
  entry.target = *target;
  return true;
}

bool TakeLine(std::string_view line, ManifestText& manifest) {
  const std::string_view kind = TakeWord(line);
  ManifestEntry entry;
  if (kind != "-" && !TakeEntry(kind, line, entry)) return false;
  const auto path = Unescaped(line);
  if (!path || !IsPath(*path)) return false;
  if (kind == "-") return manifest.base && manifest.gone.insert(*path).second;
  return manifest.entries.try_emplace(*path, std::move(entry)).second;
}

}  // namespace

bool ManifestEntry::LooksLike(const ManifestEntry& other) const {
  return kind == other.kind && mode == other.mode && size == other.size &&
         mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns && inode == other.inode;
}

bool ManifestEntry::IsSameAs(const ManifestEntry& other) const {
  if (kind != other.kind || target != other.target) return false;
  if (kind == ManifestKind::kLink) return true;
  if (mode != other.mode) return false;
  return kind == ManifestKind::kFolder || (kept == other.kept && kept.in != Kept::In::kNowhere);
}

std::optional<std::string> FactIdOf(const ManifestEntry& entry) {
  if (entry.kind == ManifestKind::kFolder) return "folder";
  if (entry.kind == ManifestKind::kLink) return "link:" + Sha256Hex(entry.target);
  if (entry.kept.in == Kept::In::kCopies) return entry.kept.id;
  if (entry.kept.in == Kept::In::kGit) return "git:" + entry.kept.id;
  return std::nullopt;
}

std::string EncodeManifest(const ManifestText& manifest) {
  std::string out(kTitle);
  if (manifest.base) (out += ' ') += *manifest.base;
  out += '\n';
  for (const std::string& path : manifest.gone) {
    out += "- ";
    AppendEscaped(out, path);
    out += '\n';
  }
  for (const auto& [path, entry] : manifest.entries) AppendEntry(out, path, entry);
  return out;
}

Result<ManifestText> ParseManifest(std::string_view text) {
  const auto corrupt = [](std::size_t line) {
    return Fail(Code::kCorrupt, fmt::format("line {} of a manifest makes no sense", line));
  };
  ManifestText manifest;
  std::size_t number = 0;
  if (!text.ends_with('\n')) return corrupt(0);
  for (const std::string_view line : SplitLines(text)) {
    if (++number > 1) {
      if (!TakeLine(line, manifest)) return corrupt(number);
      continue;
    }
    if (!line.starts_with(kTitle)) return corrupt(number);
    std::string_view base = line.substr(kTitle.size());
    if (base.empty()) continue;
    base.remove_prefix(1);
    if (line[kTitle.size()] != ' ' || !IsId(base)) return corrupt(number);
    manifest.base = base;
  }
  return manifest;
}

}  // namespace stet::tool
