#include "policy/shell_walk.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "policy/shell_judge.h"
#include "policy/shell_option.h"
#include "policy/shell_path.h"
#include "policy/shell_tree.h"
#include "policy/shell_unwrap.h"
#include "policy/shell_word.h"

namespace stet::policy {
namespace {

constexpr int kMaxScripts = 6;    // `bash -c` inside `bash -c`.
constexpr int kMaxWrappers = 12;  // sudo env nice ...
constexpr std::size_t kMaxFolders = 4;
constexpr std::size_t kMaxCommands = 4000;

/// The folders in which a command may find itself. An empty name: anywhere.
using Folders = std::vector<std::string>;

/// Where the shell is when a statement went well, and when it failed. Empty: it does not go on.
struct After {
  Folders ok;
  Folders failed;
};

Folders Union(Folders a, const Folders& b) {
  for (const std::string& folder : b) {
    if (std::ranges::find(a, folder) == a.end()) a.push_back(folder);
  }
  if (a.size() > kMaxFolders) return {""};
  return a;
}

std::unexpected<Error> Refuse(std::string why) { return Fail(Code::kUnsupported, std::move(why)); }

/// What all scripts of a line share.
struct Shared {
  ShellAnalysis& out;
  std::size_t nodes_left = kMaxShellNodes;
};

class Walker {
 public:
  Walker(const SyntaxTree& tree, Shared& shared, ShellScope scope, int depth, int wrapper)
      : tree_(tree), shared_(shared), scope_(std::move(scope)), depth_(depth), wrapper_(wrapper) {
    for (NodeId id = 0; id < tree_.size(); ++id)
      moves_ = moves_ ||
               (tree_.Kind(id) == Syntax::kCommandName && HasWord("cd pushd popd", tree_.Text(id)));
  }

  Result<After> Program(const Folders& in) { return Sequence(tree_.Children(tree_.root()), in); }

 private:
  using Nodes = std::vector<NodeId>;

  /// Statements one behind the other; the tokens between them say nothing more.
  Result<After> Sequence(const Nodes& nodes, const Folders& in) {
    After after{in, in};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (tree_.Kind(nodes[i]) == Syntax::kToken) continue;
      Folders now = Union(after.ok, after.failed);
      if (now.empty()) now = {""};  // Behind an exit. It does not run, but who knows.
      const bool aside = i + 1 < nodes.size() && tree_.Text(nodes[i + 1]) == "&";
      ASSIGN_OR_RETURN(after, Statement(nodes[i], now));
      if (aside) after = {now, now};
    }
    return after;
  }

  Result<After> Statement(NodeId node, const Folders& in) {
    switch (tree_.Kind(node)) {
      case Syntax::kCommand: return Command(node, {}, in);
      case Syntax::kList: return List(node, in);
      case Syntax::kPipeline: return Pipeline(node, in);
      case Syntax::kRedirectedStatement: return Redirected(node, in);
      case Syntax::kSubshell: return Aside(tree_.Children(node), in);
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

  static After Same(const Folders& in) { return {in, in}; }

  Result<After> List(NodeId node, const Folders& in) {
    const Nodes parts = tree_.Children(node);
    if (parts.size() != 3) return Refuse("a list in it is not plain");
    const std::string_view joint = tree_.Text(parts[1]);
    const bool outermost = list_depth_++ == 0;
    const ShellScope before = scope_;
    ASSIGN_OR_RETURN(const After left, Statement(parts[0], in));
    Folders next = joint == "&&" ? left.ok : left.failed;
    if (next.empty()) next = {""};
    ASSIGN_OR_RETURN(const After right, Statement(parts[2], next));
    --list_depth_;
    // What only one side set is not certain behind the list.
    if (outermost) ForgetChanged(before);
    if (joint == "&&") return After{right.ok, Union(left.failed, right.failed)};
    return After{Union(left.ok, right.ok), right.failed};
  }

  void ForgetChanged(const ShellScope& before) {
    std::erase_if(scope_.variables, [&](const auto& entry) {
      const auto found = before.variables.find(entry.first);
      return found == before.variables.end() || found->second != entry.second;
    });
  }

  /// Each in a shell of its own.
  Result<After> Pipeline(NodeId node, const Folders& in) {
    for (const NodeId part : tree_.Children(node)) {
      if (tree_.Kind(part) != Syntax::kToken) RETURN_IF_ERROR(Aside({part}, in));
    }
    return Same(in);
  }

  /// In a copy of this shell: what changes in it stays there.
  Result<After> Aside(const Nodes& nodes, const Folders& in) {
    const ShellScope scope = scope_;
    const std::set<std::string, std::less<>> functions = functions_;
    RETURN_IF_ERROR(Sequence(nodes, in));
    scope_ = scope;
    functions_ = functions;
    return Same(in);
  }

  Result<After> Negated(NodeId node, const Folders& in) {
    const Nodes parts = tree_.Children(node);
    if (parts.size() != 2) return Refuse("a ! in it is not plain");
    ASSIGN_OR_RETURN(const After after, Statement(parts[1], in));
    return After{after.failed, after.ok};
  }

  Result<After> Branch(NodeId node, const Folders& in) {
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

  Result<After> Loop(NodeId node, const Folders& in) {
    ForgetAssigned(node);
    const std::set<std::string, std::less<>> functions = functions_;
    const Folders inside = moves_ ? Folders{""} : in;
    for (const NodeId part : tree_.Children(node)) {
      const Syntax kind = tree_.Kind(part);
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

  /// What it would run when it is called, which may be anywhere.
  Result<After> Function(NodeId node, const Folders& in) {
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

  static bool IsWord(Syntax kind) {
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

  static bool IsExpression(Syntax kind) {
    return kind == Syntax::kBinaryExpression || kind == Syntax::kUnaryExpression ||
           kind == Syntax::kPostfixExpression || kind == Syntax::kParenthesizedExpression ||
           kind == Syntax::kTernaryExpression;
  }

  /// The words of a node. What its substitutions run is walked; what is odd about it is kept for
  /// the command that it belongs to.
  struct Pending {
    bool odd = false;
    bool evaluates = false;
  };
  Result<std::vector<ShellWord>> Expand(NodeId node, const Folders& in, Pending& pending) {
    RETURN_IF_ERROR(Substitutions(node, in));
    scope_.cwd = in.size() == 1 ? in[0] : "";
    SetPlaces();
    ASSIGN_OR_RETURN(Expanded expanded, ExpandWord(tree_, node, scope_));
    pending.odd = pending.odd || expanded.odd;
    pending.evaluates = pending.evaluates || expanded.evaluates;
    return std::move(expanded.words);
  }

  /// $HOME and $PWD, unless the line sets them.
  void SetPlaces() {
    if (!scope_.home.empty() && !assigned_.contains("HOME")) scope_.variables["HOME"] = scope_.home;
    if (scope_.cwd.empty() || assigned_.contains("PWD"))
      scope_.variables.erase("PWD");
    else
      scope_.variables["PWD"] = scope_.cwd;
  }

  /// Everything that is run to make the text of a node.
  Status Substitutions(NodeId node, const Folders& in) {
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
      RETURN_IF_ERROR(Aside(inside, in));
      id = tree_.Behind(id);
    }
    return {};
  }

  /// Arithmetic and tests: nothing is run but the substitutions, unless a value is evaluated again.
  Status Evaluate(NodeId node, const Folders& in) {
    RETURN_IF_ERROR(Substitutions(node, in));
    bool names = false;
    for (NodeId id = node; id < tree_.Behind(node); ++id) {
      const Syntax kind = tree_.Kind(id);
      names = names || kind == Syntax::kVariableName || kind == Syntax::kSubscript ||
              kind == Syntax::kExpansion || kind == Syntax::kSimpleExpansion;
    }
    if (!names) return {};
    ShellCommand command;
    command.why = "arithmetic evaluates what a name holds";
    return Push(std::move(command), in);
  }

  Result<After> Test(NodeId node, const Folders& in) {
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
      evaluates =
          evaluates || (text.contains(sign) && (text.starts_with("[[") || sign.size() == 3));
    if (evaluates) RETURN_IF_ERROR(Evaluate(node, in));
    return Same(in);
  }

  Result<After> Assign(const Nodes& nodes, const Folders& in) {
    ShellCommand command;
    for (const NodeId node : nodes) {
      ASSIGN_OR_RETURN(ShellAssignment assignment, Assignment(node, in, command));
      Remember(assignment);
      command.assignments.push_back(std::move(assignment));
    }
    RETURN_IF_ERROR(Push(std::move(command), in, ShellEffect::kReadOnly));
    return Same(in);
  }

  void Remember(const ShellAssignment& assignment) {
    assigned_.insert(assignment.name);
    if (assignment.value.known() && !assignment.name.contains('+'))
      scope_.variables[assignment.name] = assignment.value.text;
    else
      scope_.variables.erase(assignment.name);
  }

  Result<ShellAssignment> Assignment(NodeId node, const Folders& in, ShellCommand& command) {
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
    assignment.name = name;
    assignment.value = Known("");
    const bool plain = tree_.Text(parts[1]) == "=" && tree_.Kind(parts[0]) == Syntax::kVariableName;
    if (parts.size() > 2) {
      if (tree_.Kind(parts[2]) == Syntax::kArray || !plain) {
        RETURN_IF_ERROR(Substitutions(parts[2], in));
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

  Result<After> Declare(NodeId node, const Folders& in) {
    ShellCommand command;
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
        scope_.variables.erase(word.text);
        if (!word.known()) scope_.variables.clear();
        command.words.push_back(std::move(word));
      }
    }
    RETURN_IF_ERROR(Push(std::move(command), in, ShellEffect::kReadOnly));
    return Same(in);
  }

  Result<After> Redirected(NodeId node, const Folders& in) {
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
    const std::size_t before = shared_.out.commands.size();
    RETURN_IF_ERROR(Emit({}, redirects, {}, where));
    if (before < shared_.out.commands.size() && !shared_.out.commands[before].words.empty())
      return Refuse("words stand behind a redirection in it");
    return Tails(redirects, after, where);
  }

  /// What stands behind a heredoc on its line: `cat <<A | sort`, `cat <<A && b`.
  Result<After> Tails(const Nodes& redirects, After after, const Folders& in) {
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

  Result<After> Command(NodeId node, Nodes redirects, const Folders& in) {
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
      else
        words.push_back(part);
    }
    return EmitCommand(words, redirects, assignments, in);
  }

  Status Emit(const Nodes& words, const Nodes& redirects, const Nodes& assignments,
              const Folders& in) {
    RETURN_IF_ERROR(EmitCommand(words, redirects, assignments, in));
    return {};
  }

  Result<After> EmitCommand(const Nodes& words, const Nodes& redirects, const Nodes& assignments,
                            const Folders& in) {
    ShellCommand command;
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
    if (pending.evaluates) {
      command.effect = ShellEffect::kUnknown;
      command.why = "arithmetic evaluates what a name holds";
    } else {
      command.effect = ShellEffect::kReadOnly;
    }
    return Run(std::move(command), in, 0);
  }

  Status Redirect(NodeId node, const Folders& in, ShellCommand& command, Pending& pending) {
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
      for (ShellWord& word : words) {
        // What follows the first is an argument again.
        if (targeted) {
          command.words.push_back(std::move(word));
          continue;
        }
        redirect.target = std::move(word);
        targeted = true;
      }
    }
    const bool number = redirect.target.known() &&
                        redirect.target.text.find_first_not_of("0123456789-") == std::string::npos;
    if (redirect.kind == ShellRedirect::Kind::kDuplicate && targeted && !number)
      redirect.kind = ShellRedirect::Kind::kOverwrite;
    command.redirects.push_back(std::move(redirect));
    return {};
  }

  /// Its text ends where bash ends it, or it is refused.
  Status Heredoc(NodeId node, const Folders& in, ShellCommand& command, Pending& pending) {
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

  Status CheckHeredoc(NodeId start, NodeId body, NodeId end, const std::string& delimiter) const {
    const std::string_view text = tree_.text();
    std::size_t line = text.find('\n', tree_.End(start));
    if (delimiter.empty() || line == std::string_view::npos)
      return Refuse("a heredoc in it is not plain");
    // Another one on the same line would begin first.
    const std::string_view rest = text.substr(tree_.End(start), line - tree_.End(start));
    if (rest.contains("<<") || rest.ends_with('\\'))
      return Refuse("two heredocs stand on one line");
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
      const bool same =
          tail != std::string_view::npos &&
          tree_.Begin(end) + tail == static_cast<std::size_t>(now.data() - text.data());
      return same ? Status{} : Refuse("a heredoc in it ends elsewhere than it seems");
    }
    return Refuse("a heredoc in it has no end");
  }

  /// A whole command: pushed and judged, then what it starts.
  Result<After> Run(ShellCommand command, const Folders& in, int wrappers) {
    if (wrappers > kMaxWrappers) return Refuse("too many commands start each other");
    command.folders = Certain(in);
    const std::string program = ProgramName(command);
    const bool own = functions_.contains(program);
    std::optional<Unwrapped> inner = own ? std::nullopt : Unwrap(command);
    command.wraps = own || (inner && !HasWord("find gfind fd fdfind", program));
    if (inner) {
      command.privileged = command.privileged || inner->privileged;
      command.odd = command.odd || inner->unknown;
    }
    const int self = static_cast<int>(shared_.out.commands.size());
    const bool privileged = command.privileged;
    const ShellEffect effect = inner ? inner->effect : ShellEffect::kReadOnly;
    const std::vector<ShellRedirect> redirects = command.redirects;
    const std::vector<ShellWord> words = command.words;
    if (command.wrapper < 0) command.wrapper = wrapper_;
    RETURN_IF_ERROR(Push(std::move(command), in, effect));
    if (inner && inner->unknown)
      Raise(shared_.out.commands.back(), ShellEffect::kUnknown,
            fmt::format("what {} starts is not known", program));
    if (own) return Same(moves_ ? Folders{""} : in);
    if (inner) return Inner(*inner, in, {self, privileged, wrappers, program, redirects});
    Forget(program, words);
    return Moved(program, words, in);
  }

  struct Outer {
    int self;
    bool privileged;
    int wrappers;
    std::string program;
    std::vector<ShellRedirect> redirects;
  };

  Result<After> Inner(const Unwrapped& inner, const Folders& in, const Outer& outer) {
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

  Status Script(const std::string& script, const Folders& in, const Outer& outer) {
    if (depth_ >= kMaxScripts) return Refuse("shells start shells too often in it");
    const std::size_t first = shared_.out.commands.size();
    ASSIGN_OR_RETURN(const SyntaxTree tree, SyntaxTree::Parse(script, shared_.nodes_left));
    shared_.nodes_left -= std::min(shared_.nodes_left, tree.size());
    ShellScope scope;
    scope.home = assigned_.contains("HOME") ? "" : scope_.home;
    Walker walker(tree, shared_, std::move(scope), depth_ + 1, outer.self);
    RETURN_IF_ERROR(walker.Program(in));
    for (std::size_t i = first; i < shared_.out.commands.size(); ++i)
      shared_.out.commands[i].privileged = shared_.out.commands[i].privileged || outer.privileged;
    return {};
  }

  static std::vector<std::string> Certain(const Folders& in) {
    return std::ranges::find(in, "") == in.end() ? in : std::vector<std::string>{};
  }

  /// Judges a command and adds it. `effect` is the least that it counts as.
  Status Push(ShellCommand command, const Folders& in, ShellEffect effect = ShellEffect::kUnknown) {
    if (shared_.out.commands.size() >= kMaxCommands) return Refuse("it has too many commands");
    command.folders = Certain(in);
    const ShellEffect before =
        std::max(effect, command.effect == ShellEffect::kUnknown && command.why.empty()
                             ? ShellEffect::kReadOnly
                             : command.effect);
    const std::string why = command.why;
    JudgeCommand(command, shared_.out.place);
    Raise(command, before, why);
    if (command.wrapper < 0) command.wrapper = wrapper_;
    shared_.out.commands.push_back(std::move(command));
    return {};
  }

  /// Where a word leads to.
  [[nodiscard]] static Folders FoldersOf(const ShellWord& word, const Folders& in) {
    Folders out;
    for (ShellPath& path : PathsOf(word, Certain(in)))
      out = Union(std::move(out),
                  {path.reach == ShellPath::Reach::kExact ? std::move(path.path) : ""});
    return out;
  }

  Result<After> Moved(const std::string& program, const std::vector<ShellWord>& words,
                      const Folders& in) {
    if (HasWord("exit return exec", program)) return After{};
    if (program == "false") return After{{}, in};
    if (HasWord("true :", program)) return After{in, {}};
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

  /// Builtins that give variables new values.
  void Forget(const std::string& program, const std::vector<ShellWord>& words) {
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

  /// Whatever is set below a node has no certain value.
  void ForgetAssigned(NodeId node) {
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

  /// Whether a name stands where it gets a value, not where it is used.
  [[nodiscard]] bool IsSet(NodeId id) const {
    const std::size_t begin = tree_.Begin(id);
    const char before = begin == 0 ? '\n' : tree_.text()[begin - 1];
    return before != '$' && before != '{' && before != '!' && before != '#';
  }

  const SyntaxTree& tree_;
  Shared& shared_;
  ShellScope scope_;
  std::set<std::string, std::less<>> functions_;
  std::set<std::string, std::less<>> assigned_;
  Pending pending_;
  int depth_;
  int wrapper_;
  int list_depth_ = 0;
  bool moves_ = false;  // Somewhere in it the folder is changed.
};

}  // namespace

Status WalkShell(std::string_view line, ShellAnalysis& analysis) {
  Shared shared{analysis};
  ASSIGN_OR_RETURN(const SyntaxTree tree, SyntaxTree::Parse(line, shared.nodes_left));
  shared.nodes_left -= std::min(shared.nodes_left, tree.size());
  ShellScope scope;
  scope.home = analysis.place.home;
  Walker walker(tree, shared, std::move(scope), 0, -1);
  RETURN_IF_ERROR(walker.Program({analysis.place.cwd}));
  return {};
}

}  // namespace stet::policy
