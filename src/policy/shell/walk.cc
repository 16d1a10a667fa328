#include "policy/shell/walk.h"

#include <algorithm>

#include "policy/shell/heredoc.h"
#include "policy/shell/judge.h"
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
  for (const NodeId part : tree_.Children(node)) {
    if (tree_.Kind(part) != Syntax::kToken) RETURN_IF_ERROR(InSubshell({part}, in));
  }
  return Same(in);
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
  for (const NodeId part : tree_.Children(node)) {
    const Syntax kind = tree_.Kind(part);
    if (kind == Syntax::kVariableName && IsOddVariable(tree_.Text(part)))
      return Refuse("a loop in it sets a variable that programs obey");
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
  return Same(moves_ ? Folders{""} : in);
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
  // In [[ ]] numbers are arithmetic; -v and -R look into subscripts.
  bool evaluates = text.starts_with("((");
  for (const std::string_view sign :
       {" -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge ", "-v ", "-R "})
    evaluates = evaluates || (text.contains(sign) && (text.starts_with("[[") || sign.size() == 3));
  if (evaluates) RETURN_IF_ERROR(Evaluate(node, in));
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
      ASSIGN_OR_RETURN(const After tail, Statement(part, Union(in, after.ok)));
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
