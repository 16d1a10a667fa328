// Words, assignments and redirections of the commands in a line.
#include <algorithm>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/walker.h"

namespace stet::policy {
bool ShellWalker::IsWord(Syntax kind) {
  switch (kind) {
    case Syntax::kWord:
    case Syntax::kNumber:
    case Syntax::kString:
    case Syntax::kRawString:
    case Syntax::kAnsiCString:
    case Syntax::kTranslatedString:
    case Syntax::kConcatenation:
    case Syntax::kSimpleExpansion:
    case Syntax::kExpansion:
    case Syntax::kCommandSubstitution:
    case Syntax::kProcessSubstitution:
    case Syntax::kArithmeticExpansion:
    case Syntax::kBraceExpression:
    case Syntax::kCommandName:
    case Syntax::kTestOperator:
    case Syntax::kRegex:
    case Syntax::kVariableName: return true;
    default: return false;
  }
}

Result<std::vector<ShellWord>> ShellWalker::Expand(NodeId node, const Folders& in,
                                                   Pending& pending) {
  RETURN_IF_ERROR(Substitutions(node, in));
  scope_.cwd = in.size() == 1 ? in[0] : "";
  SetPlaces();
  ASSIGN_OR_RETURN(Expanded expanded, ExpandWord(tree_, node, scope_));
  pending.odd = pending.odd || expanded.odd;
  pending.evaluates = pending.evaluates || expanded.evaluates;
  if (expanded.evaluates) scope_.variables.clear();  // Arithmetic may set them.
  return std::move(expanded.words);
}

void ShellWalker::SetPlaces() {
  const ShellPlace& place = line_.out.place;
  scope_.no_dashes = place.no_dashes && !scope_.cwd.empty() && scope_.cwd == place.cwd;
  if (!scope_.home.empty() && !assigned_.contains("HOME")) scope_.variables["HOME"] = scope_.home;
  if (scope_.cwd.empty() || assigned_.contains("PWD"))
    scope_.variables.erase("PWD");
  else
    scope_.variables["PWD"] = scope_.cwd;
}

Status ShellWalker::Substitutions(NodeId node, const Folders& in) {
  for (NodeId id = node; id < tree_.Behind(node);) {
    const Syntax kind = tree_.Kind(id);
    if (kind != Syntax::kCommandSubstitution && kind != Syntax::kProcessSubstitution) {
      ++id;
      continue;
    }
    Nodes inside;
    for (const NodeId part : tree_.Children(id)) {
      if (tree_.Kind(part) == Syntax::kFileRedirect)
        RETURN_IF_ERROR(Emit({}, {part}, {}, in));
      else
        inside.push_back(part);
    }
    RETURN_IF_ERROR(InSubshell(inside, in));
    id = tree_.Behind(id);
  }
  return {};
}

Status ShellWalker::Evaluate(NodeId node, const Folders& in) {
  RETURN_IF_ERROR(Substitutions(node, in));
  // The node itself may be all there is: `for ((; i; ))`.
  const bool numbers =
      tree_.Behind(node) == node + 1
          ? tree_.Text(node).find_first_not_of("0123456789") == std::string_view::npos
          : !TakesValues(tree_, node);
  if (numbers) return {};
  scope_.variables.clear();  // It may set them as well.
  ShellCommand command;
  command.why = "arithmetic evaluates what a name holds";
  return Push(std::move(command), in);
}

Result<After> ShellWalker::Assign(const Nodes& nodes, const Folders& in) {
  ShellCommand command;
  command.effect = ShellEffect::kReadOnly;
  for (const NodeId node : nodes) {
    ASSIGN_OR_RETURN(ShellAssignment assignment, Assignment(node, in, command));
    Remember(assignment);
    command.assignments.push_back(std::move(assignment));
  }
  RETURN_IF_ERROR(Push(std::move(command), in, ShellEffect::kReadOnly));
  return Same(in);
}

void ShellWalker::Remember(const ShellAssignment& assignment) {
  assigned_.insert(assignment.name);
  if (assignment.value.known() && tracks_)
    scope_.variables[assignment.name] = assignment.value.text;
  else
    scope_.variables.erase(assignment.name);
}

Result<ShellAssignment> ShellWalker::Assignment(NodeId node, const Folders& in,
                                                ShellCommand& command) {
  const Nodes parts = tree_.Children(node);
  if (parts.size() < 2) return Refuse("an assignment in it is not plain");
  RETURN_IF_ERROR(Substitutions(parts[0], in));
  ShellAssignment assignment;
  std::string_view name = tree_.Text(parts[0]);
  // A subscript is evaluated.
  if (tree_.Kind(parts[0]) == Syntax::kSubscript) {
    const std::string_view index = name.substr(std::min(name.find('['), name.size()));
    if (index.find_first_not_of("[]0123456789") != std::string_view::npos)
      Raise(command, ShellEffect::kUnknown, "a subscript is evaluated");
    name = name.substr(0, name.find('['));
  }
  if (name.empty() ||
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") !=
          std::string_view::npos)
    return Refuse("an assignment in it is not plain");
  assignment.name = name;
  assignment.value = Known("");
  const bool plain = tree_.Text(parts[1]) == "=" && tree_.Kind(parts[0]) == Syntax::kVariableName;
  if (parts.size() > 2) {
    if (tree_.Kind(parts[2]) == Syntax::kArray || !plain) {
      RETURN_IF_ERROR(Substitutions(parts[2], in));
      if (tree_.Text(parts[2]).contains("]=") || tree_.Text(parts[2]).contains("]+="))
        Raise(command, ShellEffect::kUnknown, "a subscript is evaluated");
      assignment.value = Unknown("", tree_.Text(parts[2]), true);
    } else {
      Pending pending;
      ASSIGN_OR_RETURN(std::vector<ShellWord> words, Expand(parts[2], in, pending));
      command.odd = command.odd || pending.odd;
      if (pending.evaluates) Raise(command, ShellEffect::kUnknown, "arithmetic evaluates a name");
      // A glob is not expanded here.
      assignment.value = words.size() == 1 && words[0].kind != ShellWord::Kind::kPattern
                             ? words[0]
                             : Unknown("", tree_.Text(parts[2]), true);
    }
  }
  return assignment;
}

Result<After> ShellWalker::Declare(NodeId node, const Folders& in) {
  ShellCommand command;
  command.effect = ShellEffect::kReadOnly;
  if (tree_.Kind(node) == Syntax::kUnsetCommand) functions_.clear();
  const Nodes parts = tree_.Children(node);
  for (const NodeId part : parts) {
    if (tree_.Kind(part) == Syntax::kVariableAssignment) {
      ASSIGN_OR_RETURN(ShellAssignment assignment, Assignment(part, in, command));
      Remember(assignment);
      command.assignments.push_back(std::move(assignment));
      continue;
    }
    if (tree_.Kind(part) == Syntax::kToken) {
      command.words.push_back(Known(std::string(tree_.Text(part))));
      continue;
    }
    Pending pending;
    ASSIGN_OR_RETURN(std::vector<ShellWord> words, Expand(part, in, pending));
    command.odd = command.odd || pending.odd;
    for (ShellWord& word : words) {
      // References and attributes: a name may get another's value, or a changed one.
      if (word.text.starts_with('-') && word.text.find_first_not_of("-gxr") != std::string::npos) {
        tracks_ = false;
        scope_.variables.clear();
      }
      scope_.variables.erase(word.text);
      if (!word.known()) scope_.variables.clear();
      command.words.push_back(std::move(word));
    }
  }
  RETURN_IF_ERROR(Push(std::move(command), in, ShellEffect::kReadOnly));
  return Same(in);
}

Status ShellWalker::Redirect(NodeId node, const Folders& in, ShellCommand& command,
                             Pending& pending) {
  if (tree_.Kind(node) == Syntax::kHeredocRedirect) return Heredoc(node, in, command, pending);
  ShellRedirect redirect;
  bool targeted = false;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kFileDescriptor) continue;
    if (kind == Syntax::kToken) {
      const std::string_view sign = tree_.Text(part);
      redirect.kind = sign == "<"                     ? ShellRedirect::Kind::kRead
                      : sign == "<<<"                 ? ShellRedirect::Kind::kText
                      : sign == ">>" || sign == "&>>" ? ShellRedirect::Kind::kAppend
                      : sign == "<&" || sign == ">&" || sign.ends_with('-')
                          ? ShellRedirect::Kind::kDuplicate
                          : ShellRedirect::Kind::kOverwrite;
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<ShellWord> words, Expand(part, in, pending));
    // What follows the first is an argument again.
    if (targeted) {
      for (ShellWord& word : words) command.words.push_back(std::move(word));
      continue;
    }
    // Braces are not expanded here, or it fails.
    redirect.target =
        words.size() == 1 ? std::move(words[0]) : Unknown("", tree_.Text(part), false);
    targeted = true;
    // `>& -x` closes, and runs -x.
    if (redirect.kind == ShellRedirect::Kind::kDuplicate && tree_.Text(part).starts_with('-') &&
        tree_.Text(part).size() > 1)
      return Refuse("a redirection in it is not plain");
  }
  const bool number = redirect.target.known() &&
                      redirect.target.text.find_first_not_of("0123456789-") == std::string::npos;
  if (redirect.kind == ShellRedirect::Kind::kDuplicate && targeted && !number) {
    // `>& word` is a file, and bash expands the word once more: quotes do not keep it.
    if (redirect.target.text.find_first_of("$`\\'\"*?[~{<> \t\n") != std::string::npos)
      return Refuse("a redirection in it is expanded twice");
    redirect.kind = ShellRedirect::Kind::kOverwrite;
  }
  command.redirects.push_back(std::move(redirect));
  return {};
}

Status ShellWalker::Heredoc(NodeId node, const Folders& in, ShellCommand& command,
                            Pending& pending) {
  NodeId start = 0;
  NodeId body = 0;
  NodeId end = 0;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kHeredocStart) start = part;
    if (kind == Syntax::kHeredocBody) body = part;
    if (kind == Syntax::kHeredocEnd) end = part;
    if (kind == Syntax::kFileRedirect || kind == Syntax::kHerestringRedirect)
      RETURN_IF_ERROR(Redirect(part, in, command, pending));
    if (IsWord(kind)) {
      ASSIGN_OR_RETURN(std::vector<ShellWord> words, Expand(part, in, pending));
      for (ShellWord& word : words) command.words.push_back(std::move(word));
    }
  }
  if (start == 0 || end == 0) return Refuse("a heredoc in it has no end");
  std::string delimiter(tree_.Text(start));
  const bool raw = delimiter.find_first_of("'\"\\") != std::string::npos;
  std::erase_if(delimiter, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
  RETURN_IF_ERROR(CheckHeredoc(start, body, end, delimiter));
  ShellRedirect redirect{ShellRedirect::Kind::kText, Known("")};
  if (body != 0) {
    RETURN_IF_ERROR(Substitutions(body, in));
    ASSIGN_OR_RETURN(Expanded expanded, ExpandHeredoc(tree_, body, raw, scope_));
    pending.odd = pending.odd || expanded.odd;
    pending.evaluates = pending.evaluates || expanded.evaluates;
    if (!expanded.words.empty()) redirect.target = std::move(expanded.words[0]);
  }
  command.redirects.push_back(std::move(redirect));
  return {};
}

Status ShellWalker::CheckHeredoc(NodeId start, NodeId body, NodeId end,
                                 const std::string& delimiter) const {
  const std::string_view text = tree_.text();
  std::size_t line = text.find('\n', tree_.End(start));
  if (delimiter.empty() || line == std::string_view::npos)
    return Refuse("a heredoc in it is not plain");
  // Another one on the same line would begin first.
  const std::string_view rest = text.substr(tree_.End(start), line - tree_.End(start));
  if (rest.contains("<<") || rest.ends_with('\\')) return Refuse("two heredocs stand on one line");
  if (body != 0 && tree_.Begin(body) < line) return Refuse("a heredoc in it is not plain");
  while (line != std::string_view::npos) {
    const std::size_t begin = line + 1;
    line = text.find('\n', begin);
    std::string_view now = text.substr(std::min(begin, text.size()),
                                       line == std::string_view::npos ? line : line - begin);
    now.remove_prefix(std::min(now.find_first_not_of('\t'), now.size()));
    if (now != delimiter) continue;
    const std::string_view found = tree_.Text(end);
    const std::size_t tail = found.find_first_not_of("\t\n ");
    const bool same = tail != std::string_view::npos &&
                      tree_.Begin(end) + tail == static_cast<std::size_t>(now.data() - text.data());
    return same ? Status{} : Refuse("a heredoc in it ends elsewhere than it seems");
  }
  return Refuse("a heredoc in it has no end");
}

void ShellWalker::Forget(const std::string& program, const std::vector<ShellWord>& words) {
  if (program == "unset") functions_.clear();
  if (HasWord("source .", program)) scope_.variables.clear();
  if (!HasWord("read mapfile readarray printf getopts let unset wait declare local export",
               program))
    return;
  for (const ShellWord& word : words) {
    if (!word.known()) return scope_.variables.clear();
    const std::string name = word.text.substr(0, word.text.find_first_of("=["));
    scope_.variables.erase(name);
    assigned_.insert(name);
  }
}

void ShellWalker::ForgetAssigned(NodeId node) {
  for (NodeId id = node; id < tree_.Behind(node); ++id) {
    const Syntax kind = tree_.Kind(id);
    const bool builtin =
        kind == Syntax::kCommandName &&
        HasWord("read mapfile readarray printf getopts let eval source .", tree_.Text(id));
    if (builtin) return scope_.variables.clear();
    if (kind == Syntax::kVariableName) {
      const auto found = scope_.variables.find(tree_.Text(id));
      if (found != scope_.variables.end() && IsSet(id)) scope_.variables.erase(found);
    }
  }
}

bool ShellWalker::IsSet(NodeId id) const {
  const std::size_t begin = tree_.Begin(id);
  const char before = begin == 0 ? '\n' : tree_.text()[begin - 1];
  return before != '$' && before != '{' && before != '!' && before != '#';
}

}  // namespace stet::policy
