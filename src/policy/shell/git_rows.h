// The table of git's subcommands: what each does, and its options. Data; pure.
#pragma once

#include <string_view>

namespace stet::policy {

enum class Git { kLooks, kChanges, kFetches, kSends, kLoses, kRuns };

struct GitRow {
  std::string_view subcommands;
  Git what = Git::kLooks;
  /// As in option.h. Of what only looks all that are known: with another one it is not known what
  /// it does. Of the others those that turn it into something else.
  std::string_view options;
};

/// Null: it is not known.
const GitRow* FindGitRow(std::string_view subcommand);

/// The options of `branch` and `tag` with which they list; with another one they may change.
std::string_view GitListOptions(std::string_view subcommand);

/// The options of `config` that read it.
std::string_view GitConfigOptions();

}  // namespace stet::policy
