// Paths that words of a command name, made absolute by text alone. Pure: links are not followed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/shell.h"

namespace stet::policy {

/// Absolute and without "." and "..".
std::string AbsolutePath(std::string_view folder, std::string_view path);

/// Whether `path` is `folder` or lies below it. Both absolute.
bool IsInside(std::string_view path, std::string_view folder);

/// What a word names in any of the folders; kAnywhere when that is not known.
std::vector<ShellPath> PathsOf(const ShellWord& word, std::span<const std::string> folders,
                               ShellPath::Reach reach = ShellPath::Reach::kExact);

/// /dev/null, /dev/stdout and the like: writing there changes nothing.
bool IsSink(std::string_view path);

/// Whether it lies in a folder for temporary files.
bool IsTemporary(std::string_view path);

}  // namespace stet::policy
