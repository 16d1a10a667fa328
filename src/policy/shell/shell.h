// What a shell command would do, read from its syntax and a table of programs.
//
// AnalyseShell finds every simple command that a line would run: in pipelines, lists, subshells,
// functions and substitutions, behind sudo, env, timeout and the like, in `bash -c`, `eval`,
// `xargs` and `find -exec`; and says of each what it does. It fails closed: what was not parsed, is
// longer than kMaxShellBytes, has more than kMaxShellNodes nodes or is nested too deeply is not
// understood, and what is understood only in part is never called read-only. It reads no file and
// no environment: the same line in the same place has the same answer. Safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stet::policy {

inline constexpr std::size_t kMaxShellBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxShellNodes = 50'000;

/// Where a line starts. Real paths; an empty home is not known.
struct ShellPlace {
  std::string cwd;
  std::string home;
  bool no_dashes = false;  // No name in cwd begins with a dash: a pattern becomes no option.
  friend bool operator==(const ShellPlace&, const ShellPlace&) = default;
};

/// One word as the program gets it, quotes taken off.
struct ShellWord {
  enum class Kind {
    kKnown,
    kPattern,  // A glob: `text` is the pattern.
    kUnknown,  // `text` is its known beginning, then source.
  };
  std::string text;
  Kind kind = Kind::kKnown;
  std::size_t fixed = 0;      // How many bytes of `text` are certain; all of a known word.
  bool maybe_option = false;  // Not known, and it may become something that begins with a dash.
  /// Not known, but one of these: `"$f"` in a loop over words that are.
  std::vector<ShellWord> any_of = {};
  [[nodiscard]] bool known() const { return kind == Kind::kKnown; }
  friend bool operator==(const ShellWord&, const ShellWord&) = default;
};

struct ShellAssignment {
  std::string name;
  ShellWord value;
  friend bool operator==(const ShellAssignment&, const ShellAssignment&) = default;
};

struct ShellRedirect {
  enum class Kind {
    kRead,
    kOverwrite,
    kAppend,
    kDuplicate,  // Of another descriptor, or it is closed: no file.
    kText,       // A heredoc or here-string: the target is what is read.
  };
  Kind kind = Kind::kRead;
  ShellWord target;
  friend bool operator==(const ShellRedirect&, const ShellRedirect&) = default;
};

struct ShellPath {
  enum class Reach {
    kExact,     // This file, or the names in this folder.
    kTree,      // And everything below it.
    kMatches,   // Something in or below this folder.
    kAnywhere,  // Not known.
  };
  std::string path;  // Absolute, without "." and ".."; empty for kAnywhere.
  Reach reach = Reach::kExact;
  std::string name;  // Of kMatches: the pattern below `path`; empty when there is none.
  /// Absolute, with its ".." as written: behind a link they lead elsewhere than by the text alone.
  std::string given = {};
  bool links = false;  // Of kTree: links in it are followed.
  friend bool operator==(const ShellPath& a, const ShellPath& b) {
    return a.path == b.path && a.reach == b.reach && a.name == b.name;
  }
};

/// From harmless to worst.
enum class ShellEffect {
  kReadOnly,
  kWrites,       // Changes files, in a way that can be undone.
  kRunsProject,  // Runs code of the project: builds, tests, its scripts.
  kFetches,      // Only gets something from the network.
  kUnknown,
  kProcess,   // Signals, services, jobs of others.
  kNetwork,   // May send something.
  kDestroys,  // What cannot be restored may be lost.
};

/// "read-only", "writes", ...
std::string_view ShellEffectName(ShellEffect effect);

/// One simple command.
struct ShellCommand {
  std::vector<ShellWord> words;  // The program first. Empty: assignments or redirections alone.
  std::vector<ShellAssignment> assignments;
  std::vector<ShellRedirect> redirects;
  std::vector<std::string> folders;  // It runs in one of these; none: not known where.
  int wrapper = -1;                  // The command, by its place in the list, that starts this one.
  /// Those whose output is its input: places in the list, the last excluded.
  int fed_from = 0;
  int fed_to = 0;
  bool wraps = false;  // It only starts others, which follow in the list.

  ShellEffect effect = ShellEffect::kUnknown;
  std::vector<ShellPath> reads;
  std::vector<ShellPath> writes;  // Made or changed.
  std::vector<ShellPath> loses;   // Deleted or overwritten.
  bool privileged = false;        // As another user.
  bool odd = false;               // Runs something in a way that is not written by chance.
  bool unclear = false;  // In some part it is not known what it does, whatever the worst is.
  bool heavy = false;    // Its code, in a language of its own, may lose or send something.
  bool foreign = false;  // Its program is not known: its words may be a command.
  bool defines = false;  // A function: what a name stands for is not what it was.
  bool is_git = false;
  bool git_elsewhere = false;  // git in another folder than the start.
  bool sets_git = false;       // git writes its configuration.
  /// So it does when one of these is a branch of another repository's, which it then follows.
  std::vector<std::string> may_follow = {};
  bool shows_history = false;  // git shows what is in files, in any of the repository.
  /// Which program git would run there because the repository says so; filled in by the caller,
  /// which looks at the disk. Empty: none.
  std::string git_runs = {};
  std::string why;  // For people, where it is not read-only: "rm deletes files".
  friend bool operator==(const ShellCommand&, const ShellCommand&) = default;

  [[nodiscard]] bool reversible() const {
    return effect <= ShellEffect::kFetches && loses.empty() && !odd && !heavy;
  }
};

struct ShellAnalysis {
  bool understood = true;
  std::string why;  // Why not.
  std::string line;
  ShellPlace place;
  std::vector<ShellCommand> commands;
  friend bool operator==(const ShellAnalysis&, const ShellAnalysis&) = default;
};

ShellAnalysis AnalyseShell(std::string_view line, const ShellPlace& place);

/// Understood, and nothing in it does more than read.
bool IsReadOnly(const ShellAnalysis& analysis);

}  // namespace stet::policy
