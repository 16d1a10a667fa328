// Which commands are tests or builds, so that their exit code proves something. Pure, from a fixed
// table: a command that is not plainly one is none.
#pragma once

#include <optional>
#include <string_view>

namespace stet::policy {

enum class CheckKind { kTest, kBuild };

/// "test", "build".
std::string_view CheckKindName(CheckKind kind);

/// What the last command of a chain joined by `&&` is. Absent when the exit code may be that of
/// something else (pipes, lists, commands in the background), or when nothing is really run
/// (--help, --dry-run).
std::optional<CheckKind> CheckKindOf(std::string_view command);

}  // namespace stet::policy
