// Completion: scripts that complete stet's command line in a shell, made from what the command line
// itself is made of, so that they cannot go stale.
#pragma once

#include <string>
#include <vector>

namespace stet::cli {

struct OptionFacts {
  std::vector<std::string> names;  // With their dashes; empty for what is named by its place.
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;  // The only values there are; empty: any.
};

/// stet, or one of its verbs, with the verbs below it.
struct CommandFacts {
  std::string name;
  std::string description;
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;
};

/// `shell` is bash, zsh or fish.
std::string CompletionScript(const std::string& shell, const CommandFacts& program);

}  // namespace stet::cli
