#include "policy/shell/tree.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <tree_sitter/api.h>

#include "policy/shell/reading.h"

extern "C" const TSLanguage* tree_sitter_bash();

namespace stet::policy {
namespace {

// The scanner keeps open heredocs in a buffer of 1 KB and does not check all of its bounds.
constexpr int kMaxHeredocs = 8;
constexpr std::size_t kMaxDelimiter = 64;

constexpr std::array<std::pair<std::string_view, Syntax>, 60> kKinds = {{
    {"ansi_c_string", Syntax::kAnsiCString},
    {"arithmetic_expansion", Syntax::kArithmeticExpansion},
    {"array", Syntax::kArray},
    {"binary_expression", Syntax::kBinaryExpression},
    {"brace_expression", Syntax::kBraceExpression},
    {"c_style_for_statement", Syntax::kCStyleForStatement},
    {"case_item", Syntax::kCaseItem},
    {"case_statement", Syntax::kCaseStatement},
    {"command", Syntax::kCommand},
    {"command_name", Syntax::kCommandName},
    {"command_substitution", Syntax::kCommandSubstitution},
    {"comment", Syntax::kComment},
    {"compound_statement", Syntax::kCompoundStatement},
    {"concatenation", Syntax::kConcatenation},
    {"declaration_command", Syntax::kDeclarationCommand},
    {"do_group", Syntax::kDoGroup},
    {"elif_clause", Syntax::kElifClause},
    {"else_clause", Syntax::kElseClause},
    {"expansion", Syntax::kExpansion},
    {"extglob_pattern", Syntax::kExtglobPattern},
    {"file_descriptor", Syntax::kFileDescriptor},
    {"file_redirect", Syntax::kFileRedirect},
    {"for_statement", Syntax::kForStatement},
    {"function_definition", Syntax::kFunctionDefinition},
    {"heredoc_body", Syntax::kHeredocBody},
    {"heredoc_content", Syntax::kHeredocContent},
    {"heredoc_end", Syntax::kHeredocEnd},
    {"heredoc_redirect", Syntax::kHeredocRedirect},
    {"heredoc_start", Syntax::kHeredocStart},
    {"herestring_redirect", Syntax::kHerestringRedirect},
    {"if_statement", Syntax::kIfStatement},
    {"list", Syntax::kList},
    {"negated_command", Syntax::kNegatedCommand},
    {"number", Syntax::kNumber},
    {"parenthesized_expression", Syntax::kParenthesizedExpression},
    {"pipeline", Syntax::kPipeline},
    {"postfix_expression", Syntax::kPostfixExpression},
    {"process_substitution", Syntax::kProcessSubstitution},
    {"program", Syntax::kProgram},
    {"raw_string", Syntax::kRawString},
    {"redirected_statement", Syntax::kRedirectedStatement},
    {"regex", Syntax::kRegex},
    {"simple_expansion", Syntax::kSimpleExpansion},
    {"special_variable_name", Syntax::kSpecialVariableName},
    {"string", Syntax::kString},
    {"string_content", Syntax::kStringContent},
    {"subscript", Syntax::kSubscript},
    {"subshell", Syntax::kSubshell},
    {"ternary_expression", Syntax::kTernaryExpression},
    {"test_command", Syntax::kTestCommand},
    {"test_operator", Syntax::kTestOperator},
    {"translated_string", Syntax::kTranslatedString},
    {"unary_expression", Syntax::kUnaryExpression},
    {"unset_command", Syntax::kUnsetCommand},
    {"variable_assignment", Syntax::kVariableAssignment},
    {"variable_assignments", Syntax::kVariableAssignments},
    {"variable_name", Syntax::kVariableName},
    {"while_statement", Syntax::kWhileStatement},
    {"word", Syntax::kWord},
    {"simple_heredoc_body", Syntax::kHeredocBody},
}};

Syntax KindNamed(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &std::pair<std::string_view, Syntax>::first);
  return found == kKinds.end() ? Syntax::kOther : found->second;
}

/// By the parser's own numbers, so that a name is looked up once and not for every node.
const std::vector<Syntax>& KindsOfSymbols() {
  static const std::vector<Syntax> kinds = [] {
    const TSLanguage* language = tree_sitter_bash();
    std::vector<Syntax> all(ts_language_symbol_count(language), Syntax::kToken);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto symbol = static_cast<TSSymbol>(i);
      if (ts_language_symbol_type(language, symbol) == TSSymbolTypeRegular)
        all[i] = KindNamed(ts_language_symbol_name(language, symbol));
    }
    return all;
  }();
  return kinds;
}

Syntax KindOf(TSNode node) {
  if (!ts_node_is_named(node)) return Syntax::kToken;
  const std::vector<Syntax>& kinds = KindsOfSymbols();
  const TSSymbol symbol = ts_node_symbol(node);
  return symbol < kinds.size() ? kinds[symbol] : Syntax::kOther;
}

/// How far a delimiter reaches, as the scanner reads it.
std::size_t DelimiterLength(std::string_view text) {
  const bool quoted = text.starts_with('"') || text.starts_with('\'');
  const std::size_t end = quoted ? text.find(text[0], 1) : text.find_first_of(" \t\n");
  return std::min(end, text.size());
}

bool HeredocsFit(std::string_view text) {
  int count = 0;
  for (std::size_t at = text.find("<<"); at != std::string_view::npos; at = text.find("<<", at)) {
    at += 2;
    if (++count > kMaxHeredocs) return false;
    std::string_view rest = text.substr(at);
    rest.remove_prefix(std::min(rest.find_first_not_of("- \t"), rest.size()));
    if (DelimiterLength(rest) > kMaxDelimiter && !text.substr(at).starts_with('<')) return false;
  }
  return true;
}

struct Free {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
  void operator()(TSTreeCursor* cursor) const { ts_tree_cursor_delete(cursor); }
};

}  // namespace

Result<SyntaxTree> SyntaxTree::Parse(std::string_view text, std::size_t max_nodes) {
  if (!HeredocsFit(text)) return Fail(Code::kUnsupported, "it has too many or too odd heredocs");
  const std::unique_ptr<TSParser, Free> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_bash()))
    return Fail(Code::kUnsupported, "the shell grammar does not fit the parser");
  const std::unique_ptr<TSTree, Free> parsed(ts_parser_parse_string(
      parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
  if (!parsed || ts_node_has_error(ts_tree_root_node(parsed.get())))
    return Fail(Code::kUnsupported, "it could not be parsed");

  SyntaxTree tree;
  tree.text_ = text;
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed.get()));
  const std::unique_ptr<TSTreeCursor, Free> freed(&cursor);
  std::vector<NodeId> open;
  while (true) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    if (tree.nodes_.size() >= max_nodes) return Fail(Code::kUnsupported, "it is too long");
    if (open.size() >= kMaxDepth) return Fail(Code::kUnsupported, "it is nested too deeply");
    const auto id = static_cast<NodeId>(tree.nodes_.size());
    tree.nodes_.push_back({KindOf(node), ts_node_start_byte(node), ts_node_end_byte(node), id + 1});
    open.push_back(id);
    if (ts_tree_cursor_goto_first_child(&cursor)) continue;
    bool more = false;
    while (!open.empty() && !more) {
      tree.nodes_[open.back()].behind = static_cast<NodeId>(tree.nodes_.size());
      open.pop_back();
      more = ts_tree_cursor_goto_next_sibling(&cursor);
      if (!more && !open.empty()) ts_tree_cursor_goto_parent(&cursor);
    }
    if (!more) break;
  }
  // The program begins behind the blanks and comments before it.
  tree.nodes_[0].begin = 0;
  tree.nodes_[0].end = static_cast<std::uint32_t>(text.size());
  RETURN_IF_ERROR(CheckReading(tree));
  return tree;
}

std::vector<NodeId> SyntaxTree::Children(NodeId id) const {
  std::vector<NodeId> children;
  for (NodeId child = id + 1; child < nodes_[id].behind; child = nodes_[child].behind) {
    if (nodes_[child].kind != Syntax::kComment) children.push_back(child);
  }
  return children;
}

bool SyntaxTree::HasLostDash(NodeId redirect) const {
  if (Kind(redirect) != Syntax::kHeredocRedirect && Kind(redirect) != Syntax::kFileRedirect)
    return false;
  const std::string_view before = text_.substr(0, Begin(redirect));
  const std::size_t end = before.find_last_not_of(" \t") + 1;
  // The node before is the last part of what stands there: a dash that it ends with is not lost.
  return before.substr(0, end).ends_with(" -") && redirect > 0 && End(redirect - 1) != end;
}

}  // namespace stet::policy
