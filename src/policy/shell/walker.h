// The walker behind shell_walk.h: one for a line, and one for each script that a command in it
// gives to a shell. Statements are in shell_walk.cc, their words and redirections in
// shell_walk_words.cc, what is run in shell_walk_run.cc.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/shell/shell.h"
#include "policy/shell/tree.h"
#include "policy/shell/unwrap.h"
#include "policy/shell/word.h"

namespace stet::policy {

/// The folders in which a command may find itself. An empty name: anywhere.
using Folders = std::vector<std::string>;

/// All of both; anywhere, when they are too many to follow.
Folders Union(Folders a, const Folders& b);

/// Where the shell is when a statement went well, and when it failed. Empty: it does not go on.
struct After {
  Folders ok;
  Folders failed;
};

/// What all scripts of a line share.
struct WalkedLine {
  ShellAnalysis& out;
  std::size_t nodes_left = kMaxShellNodes;
};

class ShellWalker {
 public:
  ShellWalker(const SyntaxTree& tree, WalkedLine& line, ShellScope scope, int depth, int wrapper);

  Result<After> Program(const Folders& in) { return Sequence(tree_.Children(tree_.root()), in); }

 private:
  using Nodes = std::vector<NodeId>;

  /// Statements one behind the other; the tokens between them say nothing more.
  Result<After> Sequence(const Nodes& nodes, const Folders& in);

  Result<After> Statement(NodeId node, const Folders& in);

  static After Same(const Folders& in) { return {in, in}; }

  Result<After> List(NodeId node, const Folders& in);

  void ForgetChanged(const ShellScope& before);

  /// Each in a shell of its own.
  Result<After> Pipeline(NodeId node, const Folders& in);

  /// The commands from `begin` on read what those of the range write, unless they read another's.
  void Feed(std::size_t begin, std::size_t fed_from, std::size_t fed_to);

  /// In a copy of this shell: what changes in it stays there.
  Result<After> InSubshell(const Nodes& nodes, const Folders& in);

  Result<After> Negated(NodeId node, const Folders& in);

  Result<After> Branch(NodeId node, const Folders& in);

  Result<After> Loop(NodeId node, const Folders& in);

  /// Remembers what the variable of a `for` may be, where its words are known and nothing in it may
  /// give it another value.
  Status ListWords(NodeId node, const Folders& in);
  [[nodiscard]] bool MayChange(NodeId node, std::string_view name) const;

  /// What it would run when it is called, which may be anywhere.
  Result<After> Function(NodeId node, const Folders& in);

  static bool IsWord(Syntax kind);

  static bool IsExpression(Syntax kind);

  /// The words of a node. What its substitutions run is walked; what is odd about it is kept for
  /// the command that it belongs to.
  struct Pending {
    bool odd = false;
    bool evaluates = false;
  };
  Result<std::vector<ShellWord>> Expand(NodeId node, const Folders& in, Pending& pending);

  /// $HOME and $PWD, unless the line sets them.
  void SetPlaces();

  /// Everything that is run to make the text of a node.
  Status Substitutions(NodeId node, const Folders& in);

  /// Arithmetic and tests: nothing is run but the substitutions, unless a value is evaluated again.
  Status Evaluate(NodeId node, const Folders& in);

  Result<After> Test(NodeId node, const Folders& in);

  /// `[ ... ]`: a builtin, whose words come from where they like.
  Result<After> Bracket(NodeId node, const Folders& in);

  Result<After> Assign(const Nodes& nodes, const Folders& in);

  void Remember(const ShellAssignment& assignment);

  Result<ShellAssignment> Assignment(NodeId node, const Folders& in, ShellCommand& command);

  Result<After> Declare(NodeId node, const Folders& in);

  Result<After> Redirected(NodeId node, const Folders& in);

  /// What stands behind a heredoc on its line: `cat <<A | sort`, `cat <<A && b`.
  Result<After> Tails(const Nodes& redirects, After after, const Folders& in);

  Result<After> Command(NodeId node, Nodes redirects, const Folders& in);

  Status Emit(const Nodes& words, const Nodes& redirects, const Nodes& assignments,
              const Folders& in);

  Result<After> EmitCommand(const Nodes& words, const Nodes& redirects, const Nodes& assignments,
                            const Folders& in);

  Status Redirect(NodeId node, const Folders& in, ShellCommand& command, Pending& pending);

  /// Its text ends where bash ends it, or it is refused.
  Status Heredoc(NodeId node, const Folders& in, ShellCommand& command, Pending& pending);

  Status CheckHeredoc(NodeId start, NodeId body, NodeId end, const std::string& delimiter) const;

  /// A whole command: pushed and judged, then what it starts.
  Result<After> Run(ShellCommand command, const Folders& in, int wrappers);

  struct Outer {
    int self;
    bool privileged;
    int wrappers;
    std::string program;
    std::vector<ShellRedirect> redirects;
  };

  Result<After> Inner(const Unwrapped& inner, const Folders& in, const Outer& outer);

  Status Script(const std::string& script, const Folders& in, const Outer& outer);

  static std::vector<std::string> Certain(const Folders& in);

  /// Judges a command and adds it. `effect` is the least that it counts as.
  Status Push(ShellCommand command, const Folders& in, ShellEffect effect = ShellEffect::kUnknown);

  /// Where a word leads to.
  [[nodiscard]] static Folders FoldersOf(const ShellWord& word, const Folders& in);

  Result<After> Moved(const std::string& program, const std::vector<ShellWord>& words,
                      const Folders& in);

  /// Builtins that give variables new values.
  void Forget(const std::string& program, const std::vector<ShellWord>& words);

  /// Whatever is set below a node has no certain value.
  void ForgetAssigned(NodeId node);

  /// Whether a name stands where it gets a value, not where it is used.
  [[nodiscard]] bool IsSet(NodeId id) const;

  const SyntaxTree& tree_;
  WalkedLine& line_;
  ShellScope scope_;
  std::set<std::string, std::less<>> functions_;
  std::set<std::string, std::less<>> assigned_;
  Pending pending_;
  int depth_;
  int wrapper_;
  int list_depth_ = 0;
  bool moves_ = false;  // Somewhere in it the folder may be changed.
  bool tracks_ = true;  // Variables are what they were set to.
};

}  // namespace stet::policy
