#include "policy/shell/word.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/utf8.h"
#include "policy/shell/judge.h"

namespace stet::policy {
namespace {

constexpr std::size_t kMaxBraces = 64;

/// A part of a word that was quoted as a whole or not at all.
struct Piece {
  std::string text;     // Of an unknown piece: its source.
  bool quoted = false;  // No glob, brace, tilde or split in it.
  bool known = true;
  bool splits = false;
  const std::vector<ShellWord>* list = nullptr;  // What it may be.
};

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The digits of a number in `text` from `at` on, which is moved behind them.
char32_t TakeNumber(std::string_view text, std::size_t& at, int base, std::size_t most) {
  char32_t value = 0;
  for (std::size_t i = 0; i < most && at < text.size(); ++i, ++at) {
    const int digit = HexValue(text[at]);
    if (digit < 0 || digit >= base) break;
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  return value;
}

/// The body of $'...'. Nothing when it has a quote that would end it, or an escape that is not
/// known.
std::optional<std::string> DecodeAnsiC(std::string_view body) {
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const char c = body[at++];
    if (c == '\'') return std::nullopt;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at == body.size()) return std::nullopt;
    const char escape = body[at++];
    constexpr std::string_view kFrom = "abeEfnrtv\\'\"?";
    constexpr std::string_view kTo = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";
    if (const std::size_t found = kFrom.find(escape); found != std::string_view::npos)
      out += kTo[found];
    else if (escape == 'x')
      out += static_cast<char>(TakeNumber(body, at, 16, 2));
    else if (escape == 'u' || escape == 'U')
      AppendUtf8(out, TakeNumber(body, at, 16, escape == 'u' ? 4 : 8));
    else if (escape >= '0' && escape <= '7')
      out += static_cast<char>(TakeNumber(body, --at, 8, 3));
    else
      return std::nullopt;
  }
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

bool IsName(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') && std::ranges::all_of(text, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

bool IsNumberText(std::string_view text) {
  return text.find_first_not_of("0123456789+-") == std::string_view::npos;
}

/// What an expansion does beyond showing a value, by what stands in its braces.
struct Expansion {
  bool sets = false;       // `${a:=b}`
  bool evaluates = false;  // `${a:b}`: where to cut is arithmetic.
};

Expansion ExpansionOf(std::string_view inner) {
  std::size_t at = inner.find_first_not_of("#!");
  if (at == std::string_view::npos) return {};
  at =
      std::string_view("@*").contains(inner[at])
          ? at + 1
          : std::min(inner.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                             "0123456789",
                                             at),
                     inner.size());
  std::string_view rest = inner.substr(at);
  if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
  if (rest.starts_with('=') || rest.starts_with(":=")) return {.sets = true};
  const bool cuts =
      rest.size() > 1 && rest[0] == ':' && !std::string_view("-=+?").contains(rest[1]);
  return {.evaluates = cuts && rest.find_first_not_of(": -0123456789") != std::string_view::npos};
}

class WordReader {
 public:
  WordReader(const SyntaxTree& tree, const ShellScope& scope) : tree_(tree), scope_(scope) {}

  Status Add(NodeId node) {
    switch (tree_.Kind(node)) {
      case Syntax::kWord:
      case Syntax::kNumber:
      case Syntax::kTestOperator:
      case Syntax::kExtglobPattern:
      case Syntax::kRegex:
      case Syntax::kVariableName: return AddPlain(node);
      case Syntax::kToken: return AddToken(node);
      case Syntax::kRawString: return AddRaw(node);
      case Syntax::kString: return AddString(node);
      case Syntax::kAnsiCString: return AddAnsiC(node);
      case Syntax::kConcatenation: return AddConcatenation(node);
      case Syntax::kCommandName: return AddAll(node);
      case Syntax::kSimpleExpansion:
      case Syntax::kExpansion: return AddVariable(node, false);
      case Syntax::kCommandSubstitution: return AddSubstitution(node, false);
      case Syntax::kProcessSubstitution: pieces_.push_back({"/dev/fd/63", true}); return {};
      case Syntax::kArithmeticExpansion: return AddArithmetic(node);
      case Syntax::kBraceExpression:
      case Syntax::kTranslatedString:
        pieces_.push_back({std::string(tree_.Text(node)), false, false, true});
        return {};
      default: return Refuse("a word in it is not plain");
    }
  }

  /// The inside of double quotes or of a heredoc: all of it but the expansions is text.
  Status AddQuoted(NodeId node, std::size_t begin, std::size_t end, bool heredoc) {
    std::size_t at = begin;
    for (const NodeId child : tree_.Children(node)) {
      const Syntax kind = tree_.Kind(child);
      if (kind == Syntax::kToken || kind == Syntax::kStringContent ||
          kind == Syntax::kHeredocContent)
        continue;
      if (tree_.Begin(child) < at) return Refuse("a string in it is not plain");
      RETURN_IF_ERROR(AddQuotedText(tree_.text().substr(at, tree_.Begin(child) - at), heredoc));
      RETURN_IF_ERROR(AddInQuotes(child));
      at = tree_.End(child);
    }
    return AddQuotedText(tree_.text().substr(at, end - at), heredoc);
  }

  Expanded TakeWords() &&;

 private:
  Status AddAll(NodeId node) {
    for (const NodeId child : tree_.Children(node)) RETURN_IF_ERROR(Add(child));
    return {};
  }

  Status AddConcatenation(NodeId node) {
    std::size_t at = tree_.Begin(node);
    for (const NodeId child : tree_.Children(node)) {
      if (tree_.Begin(child) != at) return Refuse("a word in it is not in one piece");
      at = tree_.End(child);
      RETURN_IF_ERROR(Add(child));
    }
    return {};
  }

  Status AddToken(NodeId node) {
    const std::string_view text = tree_.Text(node);
    if (text != "$" && text != "=~" && text != "==") return Refuse("a word in it is not plain");
    // $"..." is translated: the parser takes the dollar for itself.
    const std::size_t end = tree_.End(node);
    const bool quotes =
        end < tree_.text().size() && (tree_.text()[end] == '"' || tree_.text()[end] == '\'');
    if (text == "$" && quotes) return Refuse("a string in it is translated");
    pieces_.push_back({std::string(text), true});
    return {};
  }

  Status AddPlain(NodeId node) {
    const std::string_view text = tree_.Text(node);
    const std::size_t begin = tree_.Begin(node);
    const bool starts =
        begin == 0 || std::string_view(" \t\n;&|()<>").contains(tree_.text()[begin - 1]);
    if (text.starts_with('#') && starts) return Refuse("it has a comment where a word is read");
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (std::string_view("\n\t \"'`").contains(text[i]))
        return Refuse("a word in it is not plain");
      if (text[i] != '\\') {
        plain += text[i];
        continue;
      }
      if (++i == text.size()) return Refuse("a word in it ends with a backslash");
      if (text[i] == '\n') continue;
      Flush(plain);
      pieces_.push_back({std::string(1, text[i]), true});
    }
    Flush(plain);
    return {};
  }

  void Flush(std::string& plain) {
    if (!plain.empty()) pieces_.push_back({std::move(plain), false});
    plain.clear();
  }

  Status AddRaw(NodeId node) {
    const std::string_view text = tree_.Text(node);
    if (text.size() < 2) return Refuse("a string in it is not closed");
    pieces_.push_back({std::string(text.substr(1, text.size() - 2)), true});
    return {};
  }

  Status AddAnsiC(NodeId node) {
    const std::string_view text = tree_.Text(node);
    const auto decoded =
        text.size() < 3 ? std::nullopt : DecodeAnsiC(text.substr(2, text.size() - 3));
    if (!decoded) return Refuse("a $'...' in it is not plain");
    pieces_.push_back({*decoded, true});
    return {};
  }

  Status AddString(NodeId node) {
    if (tree_.End(node) - tree_.Begin(node) < 2) return Refuse("a string in it is not closed");
    pieces_.push_back({"", true});
    return AddQuoted(node, tree_.Begin(node) + 1, tree_.End(node) - 1, false);
  }

  Status AddQuotedText(std::string_view text, bool heredoc) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      if (text[i] == '\\' &&
          (next == '$' || next == '`' || next == '\\' || (next == '"' && !heredoc))) {
        plain += next;
        ++i;
      } else if (text[i] == '\\' && next == '\n') {
        ++i;
      } else if (text[i] == '`' || (text[i] == '"' && !heredoc) ||
                 (text[i] == '$' && (next == '(' || next == '{' || next == '['))) {
        return Refuse("a string in it is not as the parser reads it");
      } else {
        plain += text[i];
      }
    }
    if (!plain.empty()) pieces_.push_back({std::move(plain), true});
    return {};
  }

  Status AddInQuotes(NodeId node) {
    switch (tree_.Kind(node)) {
      case Syntax::kSimpleExpansion:
      case Syntax::kExpansion: return AddVariable(node, true);
      case Syntax::kCommandSubstitution: return AddSubstitution(node, true);
      case Syntax::kArithmeticExpansion: return AddArithmetic(node);
      default: return Refuse("a string in it is not plain");
    }
  }

  Status AddSubstitution(NodeId node, bool quoted) {
    const std::string_view text = tree_.Text(node);
    // What is escaped inside backquotes is unescaped before it is parsed.
    if (text.contains('`') && text.contains('\\')) return Refuse("backquotes in it hold escapes");
    if (text == "$(pwd)" && !scope_.cwd.empty())
      pieces_.push_back({scope_.cwd, true});
    else if (text == "$(mktemp)" || text == "$(mktemp -d)")
      pieces_.push_back({"/tmp/tmp.XXXXXXXXXX", true});
    else
      pieces_.push_back({std::string(text), quoted, false, !quoted});
    return {};
  }

  Status AddArithmetic(NodeId node) {
    // The value of a name in it is evaluated again, subscripts with commands and all.
    for (NodeId id = node + 1; id < tree_.Behind(node); ++id)
      odd_ = odd_ || tree_.Kind(id) == Syntax::kSubscript;
    evaluates_ = evaluates_ || TakesValues(tree_, node);
    pieces_.push_back({std::string(tree_.Text(node)), true, false, false});
    return {};
  }

  /// `$NAME`, `${NAME}`; every other form has a value that is not followed.
  Status AddVariable(NodeId node, bool quoted) {
    const std::string_view text = tree_.Text(node);
    std::string_view name = text.substr(1);
    if (name.starts_with('{')) name = name.substr(1, name.size() - 2);
    if (name.starts_with("IFS")) odd_ = true;
    if (!IsName(name)) {
      const bool indirect = name.starts_with('!') && name.size() > 1;
      if (indirect || text.contains("@P") || HasSubscript(node)) odd_ = true;
      const Expansion does = ExpansionOf(name);
      evaluates_ = evaluates_ || does.evaluates || does.sets;
      if (does.sets && IsOddVariable(name.substr(0, name.find_first_of(":=")))) odd_ = true;
      pieces_.push_back({std::string(text), quoted, false, !quoted});
      return {};
    }
    std::optional<std::string> value;
    if (const auto found = scope_.variables.find(name); found != scope_.variables.end())
      value = found->second;
    const bool splits = !quoted && (!value || value->empty() ||
                                    value->find_first_of(" \t\n*?[") != std::string::npos);
    if (value && !splits) {
      pieces_.push_back({*value, true});
      return {};
    }
    Piece piece{std::string(text), quoted, false, splits};
    if (const auto list = scope_.lists.find(name); list != scope_.lists.end())
      piece.list = &list->second;
    pieces_.push_back(std::move(piece));
    return {};
  }

  /// `${a[0]}` and `${a[@]}` are plain; what else stands there is evaluated.
  [[nodiscard]] bool HasSubscript(NodeId node) const {
    for (NodeId id = node + 1; id < tree_.Behind(node); ++id) {
      if (tree_.Kind(id) != Syntax::kSubscript) continue;
      const std::string_view text = tree_.Text(id);
      const std::string_view index = text.substr(std::min(text.find('[') + 1, text.size()));
      if (index != "@]" && index != "*]" &&
          index.find_first_not_of("0123456789]") != std::string_view::npos)
        return true;
    }
    return false;
  }

  /// Of a word that is nothing but a loop's variable, and is not divided.
  [[nodiscard]] const std::vector<ShellWord>* List() const {
    const Piece* only = nullptr;
    for (const Piece& piece : pieces_) {
      if (piece.known && piece.text.empty()) continue;
      if (only != nullptr || piece.list == nullptr) return nullptr;
      only = &piece;
    }
    const bool whole =
        only != nullptr && (only->quoted || std::ranges::all_of(*only->list, &ShellWord::known));
    return whole ? only->list : nullptr;
  }

  const SyntaxTree& tree_;
  const ShellScope& scope_;
  std::vector<Piece> pieces_;
  bool odd_ = false;
  bool evaluates_ = false;
};

/// `{a,b}` and what is around it, in pieces that are all known. Nothing when it is nested or more
/// than a few.
std::optional<std::vector<std::string>> ExpandBraces(const std::vector<Piece>& pieces) {
  // A quoted comma or brace is text: it is hidden while the others are looked for.
  std::string text;
  std::string mask;
  for (const Piece& piece : pieces) {
    text += piece.text;
    mask += piece.quoted ? std::string(piece.text.size(), 'q') : piece.text;
  }
  std::vector<std::string> done = {""};
  std::size_t at = 0;
  while (at < mask.size()) {
    const std::size_t open = mask.find('{', at);
    const std::size_t close = open == std::string::npos ? open : mask.find('}', open);
    if (close == std::string::npos) break;
    const std::string_view inside = std::string_view(mask).substr(open + 1, close - open - 1);
    if (inside.contains('{') || inside.contains("..")) return std::nullopt;
    if (!inside.contains(',')) {  // No list: they stand for themselves, as in HEAD@{1}.
      for (std::string& one : done) one += text.substr(at, close + 1 - at);
      at = close + 1;
      continue;
    }
    std::vector<std::string> next;
    for (const std::string& one : done) {
      for (std::size_t begin = open + 1; begin <= close;) {
        const std::size_t end = std::min(mask.find(',', begin), close);
        next.push_back(one + text.substr(at, open - at) + text.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (next.size() > kMaxBraces) return std::nullopt;
    done = std::move(next);
    at = close + 1;
  }
  for (std::string& one : done) one += text.substr(at);
  return done;
}

/// How many words a range like `1..9` or `a..z..2` makes; 1 for what is none. At most kManyWords.
constexpr std::uint64_t kManyWords = 1'000'000;
std::uint64_t WordsOfRange(std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return 1;
  const auto number = [](std::string_view text) -> std::optional<std::int64_t> {
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
    return read.ec == std::errc() ? value : std::numeric_limits<std::int64_t>::max() / 4;
  };
  const std::string_view rest = inside.substr(dots + 2);
  const std::size_t more = rest.find("..");
  const auto from = number(inside.substr(0, dots));
  const auto to = number(rest.substr(0, more));
  if (!from || !to) return 256;  // Letters.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const std::int64_t span = std::clamp(*to, -kMost, kMost) - std::clamp(*from, -kMost, kMost);
  const auto step = more == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                   : number(rest.substr(more + 2));
  const auto size = static_cast<std::uint64_t>(std::abs(span));
  const auto by = static_cast<std::uint64_t>(std::max<std::int64_t>(1, std::abs(step.value_or(1))));
  return std::min(size / by + 1, kManyWords);
}

/// Whether the braces of a word make more words than a shell should hold. Counts too many rather
/// than too few: as if each brace multiplied the others.
bool MakesManyWords(std::string_view text) {
  std::uint64_t words = 1;
  for (std::size_t open = text.find('{'); open != std::string_view::npos && words < kManyWords;
       open = text.find('{', open + 1)) {
    const std::string_view inside =
        text.substr(open + 1, text.find_first_of("{}", open + 1) - open - 1);
    const auto commas = static_cast<std::uint64_t>(std::ranges::count(inside, ','));
    words *= std::max(WordsOfRange(inside), commas + 1);
  }
  return words >= kManyWords;
}

bool StartsOption(std::string_view known) { return known.empty() || known[0] == '-'; }

Expanded WordReader::TakeWords() && {
  Expanded out;
  out.odd = odd_;
  out.evaluates = evaluates_;
  bool all_known = true;
  bool splits = false;
  bool braces = false;
  bool globs = false;
  std::string text;
  std::string bare;  // Where braces count.
  std::size_t fixed = std::string::npos;
  for (Piece& piece : pieces_) {
    if (&piece == pieces_.data() && !piece.quoted && piece.known && piece.text.starts_with('~')) {
      const bool own = piece.text.size() == 1 ? pieces_.size() == 1 : piece.text[1] == '/';
      if (own && !scope_.home.empty())
        piece.text.replace(0, 1, scope_.home);
      else
        piece.known = false;
    }
    // In what looks like an assignment it stands for the home folder too.
    if (!piece.quoted && (piece.text.contains("=~") || piece.text.contains(":~")))
      piece.known = false;
    const std::size_t glob = piece.quoted ? std::string::npos : piece.text.find_first_of("*?[");
    const std::size_t brace = piece.quoted ? std::string::npos : piece.text.find('{');
    if (!piece.known)
      fixed = std::min(fixed, text.size());
    else
      fixed = std::min({fixed, glob == std::string::npos ? glob : text.size() + glob,
                        brace == std::string::npos || piece.text == "{}" ? std::string::npos
                                                                         : text.size() + brace});
    all_known = all_known && piece.known;
    splits = splits || piece.splits;
    braces = braces || (piece.known && brace != std::string::npos && piece.text != "{}");
    globs = globs || (piece.known && glob != std::string::npos);
    text += piece.text;
    bare += piece.quoted ? std::string(1, 'q') : piece.text;
  }
  if (fixed == std::string::npos) {
    out.words.push_back(Known(std::move(text)));
    return out;
  }
  if (bare.contains('{') && MakesManyWords(bare)) out.odd = true;
  if (all_known && braces && !globs) {
    if (const auto words = ExpandBraces(pieces_)) {
      for (const std::string& word : *words) out.words.push_back(Known(word));
      return out;
    }
  }
  if (all_known && !braces && !splits) {
    const bool option =
        StartsOption(std::string_view(text).substr(0, fixed)) && (fixed > 0 || !scope_.no_dashes);
    out.words.push_back({std::move(text), ShellWord::Kind::kPattern, fixed, option});
    return out;
  }
  if (const std::vector<ShellWord>* list = List()) {
    ShellWord word = Unknown("", text, false);
    word.maybe_option = std::ranges::any_of(
        *list, [](const ShellWord& one) { return one.maybe_option || one.text.starts_with('-'); });
    word.any_of = *list;
    out.words.push_back(std::move(word));
    return out;
  }
  const std::string rest = text.substr(fixed);
  out.words.push_back(Unknown(text.substr(0, fixed), rest, splits || braces));
  return out;
}

}  // namespace

bool TakesValues(const SyntaxTree& tree, NodeId node) {
  for (NodeId id = node + 1; id < tree.Behind(node); ++id) {
    const std::string_view text = tree.Text(id);
    switch (tree.Kind(id)) {
      case Syntax::kSimpleExpansion:
        if (!std::string_view("$# $? $$ $!").contains(text)) return true;
        id = tree.Behind(id) - 1;
        break;
      case Syntax::kExpansion:
        if (!text.starts_with("${#") || text.contains('[')) return true;
        id = tree.Behind(id) - 1;
        break;
      case Syntax::kWord:
      case Syntax::kNumber:
      case Syntax::kRegex:
      case Syntax::kExtglobPattern:
        if (!IsNumberText(text)) return true;
        break;
      case Syntax::kVariableName:
      case Syntax::kSubscript:
      case Syntax::kString:
      case Syntax::kRawString:
      case Syntax::kAnsiCString:
      case Syntax::kTranslatedString:
      case Syntax::kConcatenation:
      case Syntax::kCommandSubstitution:
      case Syntax::kProcessSubstitution: return true;
      default: break;
    }
  }
  return false;
}

ShellWord Known(std::string text) {
  const std::size_t size = text.size();
  return {std::move(text), ShellWord::Kind::kKnown, size, false};
}

ShellWord Unknown(std::string beginning, std::string_view source, bool splits) {
  const std::size_t fixed = beginning.size();
  const bool option = splits || StartsOption(beginning);
  beginning += source;
  return {std::move(beginning), ShellWord::Kind::kUnknown, fixed, option};
}

Result<Expanded> ExpandWord(const SyntaxTree& tree, NodeId node, const ShellScope& scope) {
  WordReader reader(tree, scope);
  RETURN_IF_ERROR(reader.Add(node));
  return std::move(reader).TakeWords();
}

Result<Expanded> ExpandHeredoc(const SyntaxTree& tree, NodeId body, bool raw,
                               const ShellScope& scope) {
  if (raw) return Expanded{{Known(std::string(tree.Text(body)))}};
  WordReader reader(tree, scope);
  RETURN_IF_ERROR(reader.AddQuoted(body, tree.Begin(body), tree.End(body), true));
  return std::move(reader).TakeWords();
}

}  // namespace stet::policy
