#include "policy/shell/walk.h"

#include <algorithm>

#include "policy/shell/heredoc.h"
#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/walker.h"

namespace stet::policy {
namespace {

constexpr std::size_t kMaxFolders = 4;

}  // namespace

Folders Union(Folders a, const Folders& b) {
  for (const std::string& folder : b) {
    if (std::ranges::find(a, folder) == a.end()) a.push_back(folder);
  }
  if (a.size() > kMaxFolders) return {""};
  return a;
}

ShellWalker::ShellWalker(const SyntaxTree& tree, WalkedLine& line, ShellScope scope, int depth,
                         int wrapper)
    : tree_(tree), line_(line), scope_(std::move(scope)), depth_(depth), wrapper_(wrapper) {
  for (const std::string_view name : {"cd", "pushd", "popd"})
    moves_ = moves_ || tree_.text().contains(name);
}

Result<After> ShellWalker::Sequence(const Nodes& nodes, const Folders& in) {
  After after{in, in};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (tree_.Kind(nodes[i]) == Syntax::kToken) continue;
    Folders now = Union(after.ok, after.failed);
    if (now.empty()) now = {""};  // Behind an exit. It does not run, but who knows.
    const bool aside = i + 1 < nodes.size() && tree_.Text(nodes[i + 1]) == "&";
    ASSIGN_OR_RETURN(after, aside ? InSubshell({nodes[i]}, now) : Statement(nodes[i], now));
  }
  return after;
}

Result<After> ShellWalker::Statement(NodeId node, const Folders& in) {
  switch (tree_.Kind(node)) {
    case Syntax::kCommand: return Command(node, {}, in);
    case Syntax::kList: return List(node, in);
    case Syntax::kPipeline: return Pipeline(node, in);
    case Syntax::kRedirectedStatement: return Redirected(node, in);
    case Syntax::kSubshell: return InSubshell(tree_.Children(node), in);
    case Syntax::kCompoundStatement:
    case Syntax::kProgram: return Sequence(tree_.Children(node), in);
    case Syntax::kNegatedCommand: return Negated(node, in);
    case Syntax::kVariableAssignment: return Assign({node}, in);
    case Syntax::kVariableAssignments: return Assign(tree_.Children(node), in);
    case Syntax::kDeclarationCommand:
    case Syntax::kUnsetCommand: return Declare(node, in);
    case Syntax::kTestCommand: return Test(node, in);
    case Syntax::kIfStatement:
    case Syntax::kElifClause:
    case Syntax::kElseClause:
    case Syntax::kCaseStatement:
    case Syntax::kCaseItem: return Branch(node, in);
    case Syntax::kForStatement:
    case Syntax::kCStyleForStatement:
    case Syntax::kWhileStatement:
    case Syntax::kDoGroup: return Loop(node, in);
    case Syntax::kFunctionDefinition: return Function(node, in);
    default: return Refuse("it has a statement that is not known");
  }
}

Result<After> ShellWalker::List(NodeId node, const Folders& in) {
  const Nodes parts = tree_.Children(node);
  if (parts.size() != 3) return Refuse("a list in it is not plain");
  const std::string_view joint = tree_.Text(parts[1]);
  const bool outermost = list_depth_++ == 0;
  const ShellScope before = scope_;
  const std::set<std::string, std::less<>> functions = functions_;
  ASSIGN_OR_RETURN(const After left, Statement(parts[0], in));
  Folders next = joint == "&&" ? left.ok : left.failed;
  if (next.empty()) next = {""};
  ASSIGN_OR_RETURN(const After right, Statement(parts[2], next));
  --list_depth_;
  // What only one side set is not certain behind the list.
  if (outermost) {
    ForgetChanged(before);
    functions_ = functions;
  }
  if (joint == "&&") return After{right.ok, Union(left.failed, right.failed)};
  return After{Union(left.ok, right.ok), right.failed};
}

void ShellWalker::ForgetChanged(const ShellScope& before) {
  std::erase_if(scope_.variables, [&](const auto& entry) {
    const auto found = before.variables.find(entry.first);
    return found == before.variables.end() || found->second != entry.second;
  });
}

Result<After> ShellWalker::Pipeline(NodeId node, const Folders& in) {
  std::size_t fed_from = line_.out.commands.size();
  std::size_t fed_to = fed_from;
  for (const NodeId part : tree_.Children(node)) {
    if (tree_.Kind(part) == Syntax::kToken) continue;
    const std::size_t begin = line_.out.commands.size();
    RETURN_IF_ERROR(InSubshell({part}, in));
    Feed(begin, fed_from, fed_to);
    fed_from = begin;
    fed_to = line_.out.commands.size();
  }
  return Same(in);
}

void ShellWalker::Feed(std::size_t begin, std::size_t fed_from, std::size_t fed_to) {
  for (std::size_t i = begin; i < line_.out.commands.size(); ++i) {
    ShellCommand& command = line_.out.commands[i];
    if (command.fed_to > command.fed_from) continue;  // By something nearer.
    command.fed_from = static_cast<int>(fed_from);
    command.fed_to = static_cast<int>(fed_to);
  }
}

Result<After> ShellWalker::InSubshell(const Nodes& nodes, const Folders& in) {
  const ShellScope scope = scope_;
  const std::set<std::string, std::less<>> functions = functions_;
  RETURN_IF_ERROR(Sequence(nodes, in));
  scope_ = scope;
  functions_ = functions;
  return Same(in);
}

Result<After> ShellWalker::Negated(NodeId node, const Folders& in) {
  const Nodes parts = tree_.Children(node);
  if (parts.size() != 2) return Refuse("a ! in it is not plain");
  ASSIGN_OR_RETURN(const After after, Statement(parts[1], in));
  return After{after.failed, after.ok};
}

Result<After> ShellWalker::Branch(NodeId node, const Folders& in) {
  const std::set<std::string, std::less<>> functions = functions_;
  Folders all = in;
  Folders now = in;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kToken || kind == Syntax::kExtglobPattern) continue;
    if (IsWord(kind)) {
      RETURN_IF_ERROR(Expand(part, now, pending_));
      continue;
    }
    ASSIGN_OR_RETURN(const After after, Statement(part, now));
    all = Union(all, Union(after.ok, after.failed));
    now = all;
  }
  ForgetAssigned(node);
  functions_ = functions;
  return Same(all);
}

Result<After> ShellWalker::Loop(NodeId node, const Folders& in) {
  ForgetAssigned(node);
  const std::set<std::string, std::less<>> functions = functions_;
  const Folders inside = moves_ ? Folders{""} : in;
  auto lists = scope_.lists;
  RETURN_IF_ERROR(ListWords(node, inside));
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kVariableName && IsOddVariable(tree_.Text(part)))
      return Refuse("a loop in it sets a variable that programs obey");
    if (kind == Syntax::kVariableName) {
      ShellCommand sets;
      sets.assignments.push_back({std::string(tree_.Text(part)), Unknown("", "...", true)});
      RETURN_IF_ERROR(Push(std::move(sets), inside, ShellEffect::kReadOnly));
    }
    if (kind == Syntax::kToken || kind == Syntax::kVariableName) continue;
    if (IsExpression(kind) || kind == Syntax::kVariableAssignment) {
      RETURN_IF_ERROR(Evaluate(part, inside));
      continue;
    }
    if (IsWord(kind)) {
      RETURN_IF_ERROR(Expand(part, inside, pending_));
      continue;
    }
    RETURN_IF_ERROR(Statement(part, inside));
  }
  functions_ = functions;
  scope_.lists = std::move(lists);
  return Same(moves_ ? Folders{""} : in);
}

Status ShellWalker::ListWords(NodeId node, const Folders& in) {
  if (tree_.Kind(node) != Syntax::kForStatement || moves_ || !functions_.empty()) return {};
  std::string name;
  std::vector<ShellWord> words;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kVariableName) name = tree_.Text(part);
    if (kind == Syntax::kVariableName || !IsWord(kind)) continue;
    scope_.cwd = in.size() == 1 ? in[0] : "";
    SetPlaces();
    ASSIGN_OR_RETURN(const Expanded expanded, ExpandWord(tree_, part, scope_));
    for (const ShellWord& word : expanded.words) {
      // Behind a blank it would be divided again where it stands without quotes.
      if (word.kind == ShellWord::Kind::kUnknown ||
          (word.known() && word.text.find_first_of(" \t\n*?[") != std::string::npos))
        return {};
      words.push_back(word);
    }
  }
  constexpr std::size_t kMaxListed = 64;
  if (name.empty() || words.empty() || words.size() > kMaxListed || MayChange(node, name))
    return {};
  scope_.lists[name] = std::move(words);
  return {};
}

bool ShellWalker::MayChange(NodeId node, std::string_view name) const {
  int sets = 0;
  for (NodeId id = node; id < tree_.Behind(node); ++id) {
    const Syntax kind = tree_.Kind(id);
    const std::string_view text = tree_.Text(id);
    if (kind == Syntax::kVariableName && text == name && IsSet(id) && ++sets > 1) return true;
    if (kind == Syntax::kExpansion && text.contains('=')) return true;
    if (kind == Syntax::kDeclarationCommand || kind == Syntax::kUnsetCommand) return true;
    if (kind != Syntax::kCommandName) continue;
    if (text.find_first_of("$\"'\\`*?[{") != std::string_view::npos) return true;
    if (HasWord("read mapfile readarray getopts let eval source . trap builtin command", text))
      return true;
    if (text == "printf" && tree_.Text(node).contains("-v")) return true;
  }
  return false;
}

Result<After> ShellWalker::Function(NodeId node, const Folders& in) {
  const ShellScope scope = scope_;
  ForgetAssigned(node);
  const Nodes parts = tree_.Children(node);
  std::string name;
  for (const NodeId part : parts) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kToken) continue;
    if (kind == Syntax::kWord && name.empty()) {
      name = tree_.Text(part);
    } else if (kind == Syntax::kFileRedirect || kind == Syntax::kHerestringRedirect) {
      return Refuse("a function in it is redirected");
    } else {
      RETURN_IF_ERROR(Statement(part, moves_ ? Folders{""} : in));
    }
  }
  scope_ = scope;
  ForgetAssigned(node);
  functions_.insert(name);
  ShellCommand defined;
  defined.defines = true;
  RETURN_IF_ERROR(Push(std::move(defined), in, ShellEffect::kReadOnly));
  return Same(in);
}

bool ShellWalker::IsExpression(Syntax kind) {
  return kind == Syntax::kBinaryExpression || kind == Syntax::kUnaryExpression ||
         kind == Syntax::kPostfixExpression || kind == Syntax::kParenthesizedExpression ||
         kind == Syntax::kTernaryExpression;
}

Result<After> ShellWalker::Test(NodeId node, const Folders& in) {
  const std::string_view text = tree_.Text(node);
  RETURN_IF_ERROR(Substitutions(node, in));
  for (NodeId id = node; id < tree_.Behind(node); ++id) {
    if (tree_.Kind(id) == Syntax::kRedirectedStatement || tree_.Kind(id) == Syntax::kFileRedirect)
      return Refuse("a test in it is redirected");
  }
  if (text.starts_with("[") && !text.starts_with("[[")) return Bracket(node, in);
  // In [[ ]] numbers are arithmetic; -v and -R look into subscripts.
  bool evaluates = text.starts_with("((");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\n\\()", at), text.size());
    evaluates = evaluates || HasWord("-eq -ne -lt -le -gt -ge -v -R", text.substr(at, end - at));
    at = end + 1;
  }
  if (evaluates) RETURN_IF_ERROR(Evaluate(node, in));
  return Same(in);
}

Result<After> ShellWalker::Bracket(NodeId node, const Folders& in) {
  ShellCommand command;
  command.effect = ShellEffect::kReadOnly;
  for (NodeId id = node + 1; id < tree_.Behind(node);) {
    const Syntax kind = tree_.Kind(id);
    const bool token = kind == Syntax::kToken || kind == Syntax::kTestOperator;
    if (!token && !IsWord(kind) && kind != Syntax::kExtglobPattern) {
      ++id;  // An expression: its parts follow.
      continue;
    }
    // To bash these are no comparisons here: `[ a > b ]` writes b.
    if (token && tree_.Text(id).find_first_of("<>&|;") != std::string_view::npos)
      return Refuse("a test in it is redirected");
    if (token) {
      command.words.push_back(Known(std::string(tree_.Text(id))));
    } else {
      scope_.cwd = in.size() == 1 ? in[0] : "";
      SetPlaces();
      ASSIGN_OR_RETURN(Expanded expanded, ExpandWord(tree_, id, scope_));
      command.odd = command.odd || expanded.odd;
      if (expanded.evaluates) Raise(command, ShellEffect::kUnknown, "arithmetic evaluates a name");
      for (ShellWord& word : expanded.words) command.words.push_back(std::move(word));
    }
    id = tree_.Behind(id);
  }
  RETURN_IF_ERROR(Push(std::move(command), in, ShellEffect::kReadOnly));
  return Same(in);
}

Result<After> ShellWalker::Redirected(NodeId node, const Folders& in) {
  Nodes redirects;
  NodeId body = 0;
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    const bool redirect = kind == Syntax::kFileRedirect || kind == Syntax::kHeredocRedirect ||
                          kind == Syntax::kHerestringRedirect;
    if (redirect)
      redirects.push_back(part);
    else if (body == 0)
      body = part;
    else
      return Refuse("a redirection in it is not plain");
  }
  if (body == 0) {
    RETURN_IF_ERROR(Emit({}, redirects, {}, in));
    return Tails(redirects, Same(in), in);
  }
  if (tree_.Kind(body) == Syntax::kCommand) {
    ASSIGN_OR_RETURN(const After after, Command(body, redirects, in));
    return Tails(redirects, after, in);
  }
  ASSIGN_OR_RETURN(const After after, Statement(body, in));
  // The grammar takes `a && b > c` for a redirection of both; c is opened where b runs.
  const bool list = tree_.Kind(body) == Syntax::kList;
  const Folders where = list ? Union(after.ok, after.failed) : in;
  const std::size_t before = line_.out.commands.size();
  RETURN_IF_ERROR(Emit({}, redirects, {}, where));
  if (before < line_.out.commands.size() && !line_.out.commands[before].words.empty())
    return Refuse("words stand behind a redirection in it");
  return Tails(redirects, after, where);
}

Result<After> ShellWalker::Tails(const Nodes& redirects, After after, const Folders& in) {
  for (const NodeId redirect : redirects) {
    if (tree_.Kind(redirect) != Syntax::kHeredocRedirect) continue;
    for (const NodeId part : tree_.Children(redirect)) {
      const Syntax kind = tree_.Kind(part);
      const bool known = kind == Syntax::kToken || kind == Syntax::kFileDescriptor ||
                         kind == Syntax::kHeredocStart || kind == Syntax::kHeredocBody ||
                         kind == Syntax::kHeredocEnd || kind == Syntax::kFileRedirect ||
                         kind == Syntax::kHerestringRedirect || IsWord(kind);
      if (known) continue;
      const std::size_t begin = line_.out.commands.size();
      ASSIGN_OR_RETURN(const After tail, Statement(part, Union(in, after.ok)));
      Feed(begin, 0, begin);  // Behind a pipe, it may be.
      after = {Union(after.ok, tail.ok), Union(after.failed, tail.failed)};
    }
  }
  return after;
}

Status WalkShell(std::string_view line, ShellAnalysis& analysis) {
  WalkedLine walked{analysis};
  const std::string text = WithHeredocsLast(line);
  ASSIGN_OR_RETURN(const SyntaxTree tree, SyntaxTree::Parse(text, walked.nodes_left));
  walked.nodes_left -= std::min(walked.nodes_left, tree.size());
  ShellScope scope;
  scope.home = analysis.place.home;
  ShellWalker walker(tree, walked, std::move(scope), 0, -1);
  RETURN_IF_ERROR(walker.Program({analysis.place.cwd}));
  return {};
}

}  // namespace stet::policy
