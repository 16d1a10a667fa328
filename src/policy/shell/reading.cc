#include "policy/shell/reading.h"

#include <algorithm>

namespace stet::policy {
namespace {

/// What may stand between two parts of a node.
enum class Gap { kNothing, kBlanks, kLines, kAnything };

Gap GapIn(Syntax kind) {
  switch (kind) {
    // Their own text is read byte by byte, so that nothing between their parts is lost.
    case Syntax::kString:
    case Syntax::kHeredocBody: return Gap::kAnything;
    case Syntax::kSimpleExpansion:
    case Syntax::kConcatenation:
    case Syntax::kVariableAssignment:
    case Syntax::kSubscript:
    case Syntax::kBraceExpression:
    case Syntax::kTranslatedString: return Gap::kNothing;
    case Syntax::kCommand:
    case Syntax::kCommandName:
    case Syntax::kDeclarationCommand:
    case Syntax::kExpansion:
    case Syntax::kFileRedirect:
    case Syntax::kHerestringRedirect:
    case Syntax::kNegatedCommand:
    case Syntax::kRedirectedStatement:
    case Syntax::kTestCommand:
    case Syntax::kUnsetCommand:
    case Syntax::kVariableAssignments: return Gap::kBlanks;
    default: return Gap::kLines;
  }
}

/// Parts of these may touch each other: they are one word, or signs stand between them.
bool MayTouch(Syntax kind) {
  switch (kind) {
    case Syntax::kArithmeticExpansion:
    case Syntax::kBinaryExpression:
    case Syntax::kCStyleForStatement:
    case Syntax::kCommandSubstitution:
    case Syntax::kConcatenation:
    case Syntax::kExpansion:
    case Syntax::kParenthesizedExpression:
    case Syntax::kPostfixExpression:
    case Syntax::kTernaryExpression:
    case Syntax::kUnaryExpression:
    case Syntax::kSimpleExpansion:
    case Syntax::kVariableAssignment:
    case Syntax::kSubscript:
    case Syntax::kBraceExpression:
    case Syntax::kTranslatedString: return true;
    default: return false;
  }
}

/// Quotes, or text that is read again: what looks like a substitution is none, or is found there.
bool MayHoldSigns(Syntax kind) {
  switch (kind) {
    case Syntax::kToken:
    case Syntax::kRawString:
    case Syntax::kAnsiCString:
    case Syntax::kComment:
    case Syntax::kStringContent:
    case Syntax::kHeredocBody:
    case Syntax::kHeredocContent: return true;
    default: return false;
  }
}

bool HasSigns(std::string_view text) {
  return text.contains('`') || text.contains("$(") || text.contains("<(") || text.contains(">(");
}

/// Blanks, and the ends of lines that go on; whole lines where they are allowed.
bool Fits(std::string_view text, Gap gap) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n')
      ++i;
    else if (text[i] != ' ' && text[i] != '\t' && (text[i] != '\n' || gap != Gap::kLines))
      return false;
  }
  return gap != Gap::kNothing || text.empty();
}

bool IsWordPart(Syntax kind) {
  switch (kind) {
    case Syntax::kWord:
    case Syntax::kNumber:
    case Syntax::kConcatenation:
    case Syntax::kCommandName:
    case Syntax::kCommandSubstitution:
    case Syntax::kProcessSubstitution:
    case Syntax::kArithmeticExpansion:
    case Syntax::kVariableAssignment: return true;
    default: return false;
  }
}

class Reading {
 public:
  explicit Reading(const SyntaxTree& tree) : tree_(tree), text_(tree.text()) {}

  Status Check() const {
    for (NodeId id = 0; id < tree_.size(); ++id) RETURN_IF_ERROR(CheckNode(id));
    return {};
  }

 private:
  static Status Refuse(std::string why) { return Fail(Code::kUnsupported, std::move(why)); }

  Status CheckNode(NodeId id) const {
    const Syntax kind = tree_.Kind(id);
    if (kind == Syntax::kOther) return Refuse("it uses syntax that is not known");
    if (kind == Syntax::kComment) return CheckComment(id);
    const bool digits = tree_.Text(id).find_first_not_of("0123456789") == std::string_view::npos;
    if (kind == Syntax::kFileDescriptor && !digits)
      return Refuse("a redirection in it is not plain");
    if (tree_.Behind(id) > id + 1) return CheckGaps(id);
    if (!MayHoldSigns(kind) && HasSigns(tree_.Text(id)))
      return Refuse("a substitution in it is not seen by the parser");
    return {};
  }

  Status CheckComment(NodeId id) const {
    const std::size_t begin = tree_.Begin(id);
    const char before = begin == 0 ? '\n' : text_[begin - 1];
    const bool plain =
        std::string_view(" \t\n;&|()`").contains(before) && !tree_.Text(id).contains('\n');
    return plain ? Status{} : Refuse("a comment in it is not plain");
  }

  Status CheckGaps(NodeId id) const {
    const Syntax kind = tree_.Kind(id);
    const Gap gap = GapIn(kind);
    if (gap == Gap::kAnything) return {};
    std::size_t at = tree_.Begin(id);
    NodeId before = id;
    for (NodeId child = id + 1; child < tree_.Behind(id); child = tree_.Behind(child)) {
      std::size_t end = tree_.Begin(child);
      if (end > at && kind == Syntax::kRedirectedStatement && tree_.HasLostDash(child))
        end = text_.rfind('-', end);
      if (end < at || !Fits(text_.substr(at, end - at), gap))
        return Refuse("there is more in it than the parser sees");
      if (child != id + 1 && !MayTouch(kind) && AreOneWord(before, child))
        return Refuse("words in it are not divided as the parser has them");
      at = tree_.End(child);
      before = child;
    }
    if (!Fits(text_.substr(at, tree_.End(id) - at), gap))
      return Refuse("there is more in it than the parser sees");
    return {};
  }

  /// Two parts with nothing between them, or only the end of a line that goes on, are one word to
  /// bash: `[a]`, `{ls`, `a=<(b)`, and `m` on the line behind `r\\`. A sign divides them.
  [[nodiscard]] bool AreOneWord(NodeId left, NodeId right) const {
    constexpr std::string_view kSigns = ";&|()<>\n";
    const std::size_t begin = tree_.End(left);
    const std::size_t end = tree_.Begin(right);
    for (std::size_t i = begin; i < end; i += 2) {
      if (text_[i] != '\\') return false;
    }
    if (begin == 0 || end >= text_.size()) return false;
    const bool left_ends = kSigns.contains(text_[begin - 1]) && !IsWordPart(tree_.Kind(left));
    const bool right_begins = kSigns.contains(text_[end]) && !IsWordPart(tree_.Kind(right));
    return !left_ends && !right_begins;
  }

  const SyntaxTree& tree_;
  std::string_view text_;
};

}  // namespace

Status CheckReading(const SyntaxTree& tree) { return Reading(tree).Check(); }

}  // namespace stet::policy
