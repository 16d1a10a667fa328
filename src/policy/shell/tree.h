// The syntax tree of a shell command, as plain data. The only file behind it that knows the parser.
//
// Parse refuses what it cannot vouch for: text that is no whole program, more than the nodes or the
// depth allowed, what bash may read in another way (shell_reading.h), and input that the parser's
// own scanner is not safe on. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::policy {

enum class Syntax : std::uint8_t {
  kToken,  // Punctuation, a keyword: its text says which.
  kAnsiCString,
  kArithmeticExpansion,
  kArray,
  kBinaryExpression,
  kBraceExpression,
  kCStyleForStatement,
  kCaseItem,
  kCaseStatement,
  kCommand,
  kCommandName,
  kCommandSubstitution,
  kComment,
  kCompoundStatement,
  kConcatenation,
  kDeclarationCommand,
  kDoGroup,
  kElifClause,
  kElseClause,
  kExpansion,
  kExtglobPattern,
  kFileDescriptor,
  kFileRedirect,
  kForStatement,
  kFunctionDefinition,
  kHeredocBody,
  kHeredocContent,
  kHeredocEnd,
  kHeredocRedirect,
  kHeredocStart,
  kHerestringRedirect,
  kIfStatement,
  kList,
  kNegatedCommand,
  kNumber,
  kParenthesizedExpression,
  kPipeline,
  kPostfixExpression,
  kProcessSubstitution,
  kProgram,
  kRawString,
  kRedirectedStatement,
  kRegex,
  kSimpleExpansion,
  kSpecialVariableName,
  kString,
  kStringContent,
  kSubscript,
  kSubshell,
  kTernaryExpression,
  kTestCommand,
  kTestOperator,
  kTranslatedString,
  kUnaryExpression,
  kUnsetCommand,
  kVariableAssignment,
  kVariableAssignments,
  kVariableName,
  kWhileStatement,
  kWord,
  kOther,  // A kind that this version does not know.
};

using NodeId = std::uint32_t;

class SyntaxTree {
 public:
  static constexpr std::size_t kMaxDepth = 200;

  /// The text must outlive the tree. kUnsupported says why it is refused, in words for people.
  static Result<SyntaxTree> Parse(std::string_view text, std::size_t max_nodes);

  [[nodiscard]] NodeId root() const { return 0; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] Syntax Kind(NodeId id) const { return nodes_[id].kind; }
  [[nodiscard]] std::size_t Begin(NodeId id) const { return nodes_[id].begin; }
  [[nodiscard]] std::size_t End(NodeId id) const { return nodes_[id].end; }
  [[nodiscard]] std::string_view Text(NodeId id) const {
    return text_.substr(Begin(id), End(id) - Begin(id));
  }
  /// In the order of the text, comments left out.
  [[nodiscard]] std::vector<NodeId> Children(NodeId id) const;
  /// The parser loses the dash of `python - <<END` and `python - 2>&1`: whether it lost one right
  /// before this redirection.
  [[nodiscard]] bool HasLostDash(NodeId redirect) const;
  /// One past the last node below this one: those below have the numbers behind its own.
  [[nodiscard]] NodeId Behind(NodeId id) const { return nodes_[id].behind; }

 private:
  struct Node {
    Syntax kind = Syntax::kOther;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    NodeId behind = 0;
  };

  std::string_view text_;
  std::vector<Node> nodes_;  // In the order in which a walk from the root meets them.
};

}  // namespace stet::policy
