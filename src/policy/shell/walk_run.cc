// Commands as they are run: judged, and followed into what they start.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/walker.h"

namespace stet::policy {
namespace {

constexpr int kMaxScripts = 6;    // `bash -c` inside `bash -c`.
constexpr int kMaxWrappers = 12;  // sudo env nice ...
constexpr std::size_t kMaxCommands = 4000;

bool IsKeyword(std::string_view text) {
  return HasWord(
      "! { } if then else elif fi do done case esac while until for select function in [[ ]] "
      "coproc",
      text);
}

}  // namespace

Result<After> ShellWalker::Command(NodeId node, Nodes redirects, const Folders& in) {
  Nodes words;
  Nodes assignments;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kVariableAssignment)
      assignments.push_back(part);
    else if (kind == Syntax::kFileRedirect || kind == Syntax::kHerestringRedirect)
      redirects.push_back(part);
    else if (kind == Syntax::kSubshell)
      return Refuse("a command in it is not plain");
    else if (kind == Syntax::kCommandName && IsKeyword(tree_.Text(part)))
      return Refuse("a keyword in it stands where a program should");
    else
      words.push_back(part);
  }
  return EmitCommand(words, redirects, assignments, in);
}

Status ShellWalker::Emit(const Nodes& words, const Nodes& redirects, const Nodes& assignments,
                         const Folders& in) {
  RETURN_IF_ERROR(EmitCommand(words, redirects, assignments, in));
  return {};
}

Result<After> ShellWalker::EmitCommand(const Nodes& words, const Nodes& redirects,
                                       const Nodes& assignments, const Folders& in) {
  ShellCommand command;
  command.effect = ShellEffect::kReadOnly;
  Pending pending = std::exchange(pending_, {});
  for (const NodeId node : assignments) {
    ASSIGN_OR_RETURN(ShellAssignment assignment, Assignment(node, in, command));
    command.assignments.push_back(std::move(assignment));
  }
  for (const NodeId node : words) {
    ASSIGN_OR_RETURN(std::vector<ShellWord> expanded, Expand(node, in, pending));
    for (ShellWord& word : expanded) command.words.push_back(std::move(word));
  }
  for (const NodeId node : redirects) {
    if (tree_.HasLostDash(node)) command.words.push_back(Known("-"));
    RETURN_IF_ERROR(Redirect(node, in, command, pending));
  }
  command.odd = command.odd || pending.odd;
  if (pending.evaluates)
    Raise(command, ShellEffect::kUnknown, "arithmetic evaluates what a name holds");
  return Run(std::move(command), in, 0);
}

Result<After> ShellWalker::Run(ShellCommand command, const Folders& in, int wrappers) {
  if (wrappers > kMaxWrappers) return Refuse("too many commands start each other");
  command.folders = Certain(in);
  const std::string program = ProgramName(command);
  // `command name` and other wrappers pass functions by.
  const bool own = wrappers == 0 && functions_.contains(program);
  std::optional<Unwrapped> inner = own ? std::nullopt : Unwrap(command);
  command.wraps = own || (inner && !HasWord("find gfind fd fdfind", program));
  if (inner) {
    command.privileged = command.privileged || inner->privileged;
    command.odd = command.odd || inner->unknown;
  }
  const int self = static_cast<int>(line_.out.commands.size());
  const bool privileged = command.privileged;
  const ShellEffect effect = inner ? inner->effect : ShellEffect::kReadOnly;
  const std::vector<ShellRedirect> redirects = command.redirects;
  const std::vector<ShellWord> words = command.words;
  if (command.wrapper < 0) command.wrapper = wrapper_;
  RETURN_IF_ERROR(Push(std::move(command), in, effect));
  if (inner && inner->unknown)
    Raise(line_.out.commands.back(), ShellEffect::kUnknown,
          fmt::format("what {} starts is not known", program));
  if (own) {
    scope_.variables.clear();  // It may have set any.
    return Same(moves_ ? Folders{""} : in);
  }
  if (inner) return Inner(*inner, in, {self, privileged, wrappers, program, redirects});
  Forget(program, words);
  return Moved(program, words, in);
}

Result<After> ShellWalker::Inner(const Unwrapped& inner, const Folders& in, const Outer& outer) {
  Folders where = in;
  if (inner.folder) where = FoldersOf(*inner.folder, in);
  After after = Same(in);
  for (const std::vector<ShellWord>& words : inner.commands) {
    ShellCommand command;
    command.words = words;
    command.assignments = inner.assignments;
    command.wrapper = outer.self;
    command.privileged = outer.privileged;
    command.effect = ShellEffect::kReadOnly;
    for (const ShellRedirect& redirect : outer.redirects) {
      if (redirect.kind == ShellRedirect::Kind::kText) command.redirects.push_back(redirect);
    }
    ASSIGN_OR_RETURN(const After ran, Run(std::move(command), where, outer.wrappers + 1));
    if (HasWord("builtin command", outer.program)) after = ran;
  }
  for (const std::string& script : inner.scripts) RETURN_IF_ERROR(Script(script, where, outer));
  if (outer.program == "eval") {
    scope_.variables.clear();
    return Same({""});
  }
  return after;
}

Status ShellWalker::Script(const std::string& script, const Folders& in, const Outer& outer) {
  if (depth_ >= kMaxScripts) return Refuse("shells start shells too often in it");
  const std::size_t first = line_.out.commands.size();
  ASSIGN_OR_RETURN(const SyntaxTree tree, SyntaxTree::Parse(script, line_.nodes_left));
  line_.nodes_left -= std::min(line_.nodes_left, tree.size());
  ShellScope scope;
  scope.home = assigned_.contains("HOME") ? "" : scope_.home;
  ShellWalker walker(tree, line_, std::move(scope), depth_ + 1, outer.self);
  RETURN_IF_ERROR(walker.Program(in));
  for (std::size_t i = first; i < line_.out.commands.size(); ++i)
    line_.out.commands[i].privileged = line_.out.commands[i].privileged || outer.privileged;
  return {};
}

std::vector<std::string> ShellWalker::Certain(const Folders& in) {
  return std::ranges::find(in, "") == in.end() ? in : std::vector<std::string>{};
}

Status ShellWalker::Push(ShellCommand command, const Folders& in, ShellEffect effect) {
  if (line_.out.commands.size() >= kMaxCommands) return Refuse("it has too many commands");
  command.folders = Certain(in);
  const ShellEffect before =
      std::max(effect, command.effect == ShellEffect::kUnknown && command.why.empty()
                           ? ShellEffect::kReadOnly
                           : command.effect);
  const std::string why = command.why;
  JudgeCommand(command, line_.out.place);
  Raise(command, before, why);
  if (command.wrapper < 0) command.wrapper = wrapper_;
  line_.out.commands.push_back(std::move(command));
  return {};
}

Folders ShellWalker::FoldersOf(const ShellWord& word, const Folders& in) {
  Folders out;
  for (ShellPath& path : PathsOf(word, Certain(in)))
    out =
        Union(std::move(out), {path.reach == ShellPath::Reach::kExact ? std::move(path.path) : ""});
  return out;
}

Result<After> ShellWalker::Moved(const std::string& program, const std::vector<ShellWord>& words,
                                 const Folders& in) {
  if (HasWord("exit return exec", program)) return After{};
  if (program == "false") return After{{}, in};
  if (HasWord("true :", program)) return After{in, {}};
  if (HasWord("cd pushd popd", program) && !moves_) return Refuse("cd is written in an odd way");
  if (program == "popd") return Same({""});
  if (program != "cd" && program != "pushd") return Same(in);
  const ParsedWords parsed =
      ParseOptions(std::span(words).subspan(1), "-L -P -e", OptionStyle::kFirst);
  if (parsed.operands.size() > 1 || parsed.unlisted) return Same({""});
  if (parsed.operands.empty()) return After{{program == "cd" ? scope_.home : ""}, in};
  const ShellWord& target = parsed.operands[0];
  if (target.known() && (target.text == "-" || assigned_.contains("CDPATH")))
    return After{{""}, in};
  return After{FoldersOf(target, in), in};
}

}  // namespace stet::policy
