// Manifest: what a project's files were at a moment: each file, link and folder with its mode, and
// where its content is kept.
//
// It is stored as text (doc/format/checkpoint.md), whole or as the difference to the one before;
// every few differences it is stored whole, so that reading one back is bounded. Text comes from a
// disk: Parse takes any bytes, and gives kCorrupt for what makes no sense. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::tool {

/// Where a file's content can be had from.
struct Kept {
  enum class In : std::uint8_t { kNowhere, kCopies, kGit };
  In in = In::kNowhere;
  std::string id;  // The SHA-256 of a copy; the id of git's object.

  friend bool operator==(const Kept&, const Kept&) = default;
};

struct ManifestEntry {
  enum class Kind : std::uint8_t { kFile, kLink, kFolder };
  Kind kind = Kind::kFile;
  std::uint32_t mode = 0;  // Permission bits.
  // Of files and links, as lstat(2) said: for noticing a change, never put back.
  std::uint64_t size = 0;
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  Kept kept = {};           // Of a file.
  std::string target = {};  // Of a link.

  /// Whether lstat(2) would say the same of both.
  [[nodiscard]] bool LooksLike(const ManifestEntry& other) const;
  /// Whether putting one back in the place of the other would change nothing. For files whose
  /// contents are kept in different ways, or not at all, this says no.
  [[nodiscard]] bool IsSameAs(const ManifestEntry& other) const;

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

using OptionalEntry = std::optional<ManifestEntry>;
using ManifestKind = ManifestEntry::Kind;

inline bool IsFolder(const OptionalEntry& entry) {
  return entry && entry->kind == ManifestKind::kFolder;
}

/// Of what stat(2) calls the mode: those that are kept and put back.
inline constexpr std::uint32_t kEntryModeBits = 07777;

/// What is there, as `before` and `after` of a file fact say it; nothing when that is not known.
std::optional<std::string> FactIdOf(const ManifestEntry& entry);

/// By path, relative to the project.
using ManifestEntries = std::map<std::string, ManifestEntry, std::less<>>;

struct ManifestText {
  std::optional<std::string> base;  // The manifest that this is a difference to, by its name.
  ManifestEntries entries;          // All, or those that are new or others.
  std::set<std::string> gone;       // Of the base.
};

std::string EncodeManifest(const ManifestText& manifest);
Result<ManifestText> ParseManifest(std::string_view text);

}  // namespace stet::tool
