// Words of a shell command: quotes, escapes, variables, tildes, braces and globs, as bash has them.
// A word that could be read in two ways is refused. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/shell/shell.h"
#include "policy/shell/tree.h"

namespace stet::policy {

/// What is known when a word is expanded.
struct ShellScope {
  std::map<std::string, std::string, std::less<>> variables;         // Those with a certain value.
  std::map<std::string, std::vector<ShellWord>, std::less<>> lists;  // Those of loops over words.
  std::string home;                                                  // Empty: not known.
  std::string cwd;                                                   // Empty: not known.
  bool no_dashes = false;  // No name in cwd begins with a dash.
};

struct Expanded {
  std::vector<ShellWord> words;  // More than one where braces stand in it.
  bool odd = false;              // Written to hide what it is.
  bool evaluates = false;        // Arithmetic on a name: its value is evaluated, whatever it is.
};

/// Why a line is not understood: kUnsupported.
inline std::unexpected<Error> Refuse(std::string why) {
  return Fail(Code::kUnsupported, std::move(why));
}

/// kUnsupported when the node is no word, or is not as bash would read it.
Result<Expanded> ExpandWord(const SyntaxTree& tree, NodeId node, const ShellScope& scope);

/// Whether arithmetic takes anything but numbers: what a name or a text holds is evaluated again,
/// and a subscript in it runs commands.
bool TakesValues(const SyntaxTree& tree, NodeId node);

/// What `text` means between double quotes or in a heredoc; `node` has its expansions.
Result<Expanded> ExpandHeredoc(const SyntaxTree& tree, NodeId body, bool raw,
                               const ShellScope& scope);

/// A word that is known.
ShellWord Known(std::string text);
/// A word of which only the beginning is known. `splits`: it may become several.
ShellWord Unknown(std::string beginning, std::string_view source, bool splits);

}  // namespace stet::policy
