// sed and awk: small languages in an argument, which can run programs and write files.
#include <algorithm>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

/// Whether a sed script only prints, deletes and substitutes in what it was given. Reads the script
/// command by command; whatever it does not know is not plain.
class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  bool IsPlain() {
    while (true) {
      Skip(" \t\n;{}");
      if (Done()) return true;
      if (!Addresses() || !Command()) return false;
    }
  }

 private:
  [[nodiscard]] bool Done() const { return at_ >= text_.size(); }
  [[nodiscard]] char Now() const { return Done() ? '\0' : text_[at_]; }
  void Skip(std::string_view chars) {
    while (!Done() && chars.contains(Now())) ++at_;
  }

  /// Up to the next `end` that is not escaped; in an expression, not between brackets either.
  bool Until(char end, bool expression) {
    for (; !Done(); ++at_) {
      if (Now() == '\\') {
        ++at_;
      } else if (Now() == '[' && expression) {
        const std::size_t first = text_.find_first_not_of('^', at_ + 1);
        const std::size_t close =
            first == std::string_view::npos ? first : text_.find(']', first + 1);
        // Not every sed takes what ends the expression for a letter there.
        if (close == std::string_view::npos ||
            text_.substr(at_, close - at_).find_first_of(std::string{end, '\n'}) !=
                std::string_view::npos)
          return false;
        at_ = close;
      } else if (Now() == '\n') {
        return false;
      } else if (Now() == end) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  bool Address() {
    if (Now() == '/' || Now() == '\\') {
      if (Now() == '\\') ++at_;
      const char end = Now();
      ++at_;
      if (!Until(end, true)) return false;
      Skip("IM");
      return true;
    }
    Skip("0123456789$~+");
    return true;
  }

  bool Addresses() {
    if (!Address()) return false;
    Skip(" \t");
    if (Now() == ',') {
      ++at_;
      Skip(" \t");
      if (!Address()) return false;
    }
    Skip(" \t!");
    return true;
  }

  bool Command() {
    const char command = Now();
    if (Done()) return false;
    ++at_;
    switch (command) {
      case '{':
      case '}': return true;
      case 'p':
      case 'P':
      case 'd':
      case 'D':
      case 'n':
      case 'N':
      case 'g':
      case 'G':
      case 'h':
      case 'H':
      case 'x':
      case 'z':
      case '=':
      case 'F': return Ends();
      case 'q':
      case 'Q':
      case 'l': Skip(" 0123456789"); return Ends();
      case 'b':
      case 't':
      case 'T':
      case ':': at_ = std::min(text_.find_first_of(";\n", at_), text_.size()); return true;
      case 'a':
      case 'i':
      case 'c': return Text();
      case '#': at_ = std::min(text_.find('\n', at_), text_.size()); return true;
      case 's': return Substitute();
      case 'y': {
        const char end = Now();
        ++at_;
        return Until(end, false) && Until(end, false) && Ends();
      }
      default: return false;
    }
  }

  bool Text() {
    for (; !Done() && Now() != '\n'; ++at_) {
      if (Now() == '\\') ++at_;
    }
    return true;
  }

  bool Substitute() {
    const char end = Now();
    if (end == '\n' || end == '\\' || Done()) return false;
    ++at_;
    if (!Until(end, true)) return false;
    // The replacement may go over lines.
    for (; !Done() && Now() != end; ++at_) {
      if (Now() == '\\') ++at_;
    }
    if (Done()) return false;
    ++at_;
    Skip("gpiI0123456789mM");
    return Ends();
  }

  bool Ends() {
    Skip(" \t");
    return Done() || Now() == ';' || Now() == '\n' || Now() == '}' || Now() == '#';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Whether an awk program only prints. Strings and regular expressions are passed over; a pipe, an
/// output file, a call of the system or an indirect call outside of them is not plain.
class AwkProgram {
 public:
  explicit AwkProgram(std::string_view text) : text_(text) {}

  bool IsPlain() {
    // Looked for in strings too: what is a string depends on what is a regular expression.
    // ARGV names the files that are read, and SYMTAB it.
    for (const std::string_view word : {"system", "getline", "fflush", "close", "ARGV", "ARGC",
                                        "SYMTAB", "FUNCTAB", "PROCINFO"}) {
      if (text_.contains(word)) return false;
    }
    for (at_ = 0; at_ < text_.size(); ++at_) {
      if (!Step(text_[at_])) return false;
    }
    return true;
  }

 private:
  bool Step(char c) {
    if (c == '"') return Pass('"');
    if (c == '/' && StartsRegex()) return Pass('/');
    if (c == '/' && MayBeRegex()) return false;
    if (c == '@') return false;
    if (c == '|') {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '|') return false;
      ++at_;
    }
    // A statement goes on in the next line behind a comma, an operator and a backslash.
    const bool ends = c == '\n' && !std::string_view(",\\&|").contains(last_);
    if (c == '\n' && !ends) return true;
    if (c == '#') return Comment();
    if (c == ';' || c == '{' || c == '}' || ends) prints_ = false;
    if (c == '>' && prints_) return false;
    if (IsLetter(c)) return Word();
    if (c != ' ' && c != '\t') last_ = c;
    return true;
  }

  /// To the end of its line. One that would matter if it were none is not plain.
  bool Comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    if (text_.substr(at_, end - at_).find_first_of("\"/>|") != std::string_view::npos) return false;
    at_ = end - 1;
    return true;
  }

  static bool IsLetter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  bool Word() {
    const std::size_t begin = at_;
    while (at_ + 1 < text_.size() &&
           (IsLetter(text_[at_ + 1]) || (text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9')))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ + 1 - begin);
    const bool prints = word == "print" || word == "printf";
    // Behind these an expression begins, so that a slash opens a regular expression.
    last_ = prints || HasWord("return in do else case exit", word) ? '(' : 'a';
    prints_ = prints_ || prints;
    return true;
  }

  [[nodiscard]] bool StartsRegex() const {
    return last_ == '\0' || std::string_view("(,!~&|;{}\n").contains(last_);
  }

  /// A division, or else a regular expression that holds a quote.
  [[nodiscard]] bool MayBeRegex() const {
    const std::size_t end = text_.find('/', at_ + 1);
    return end != std::string_view::npos && text_.substr(at_, end - at_).contains('"');
  }

  bool Pass(char end) {
    for (++at_; at_ < text_.size() && text_[at_] != end; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') return false;
    }
    last_ = 'a';
    return at_ < text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char last_ = '\0';
  bool prints_ = false;
};

void JudgeScript(ShellCommand& command, const ShellWord& script, bool plain) {
  if (script.known() && plain) return;
  command.odd = true;
  Raise(command, ShellEffect::kUnknown, "its script can run programs or write files");
}

/// What follows -i in its word is a suffix, no more options.
std::vector<ShellWord> WithoutSuffix(std::span<const ShellWord> words) {
  std::vector<ShellWord> out(words.begin(), words.end());
  for (ShellWord& word : out) {
    const std::size_t end = word.text.find_first_not_of("nErsuz", 1);
    if (word.known() && word.text.size() > 1 && word.text[0] == '-' && end != std::string::npos &&
        word.text[end] == 'i')
      word = Known(word.text.substr(0, end + 1));
  }
  return out;
}

void JudgeSed(ShellCommand& command) {
  const std::vector<ShellWord> words = WithoutSuffix(std::span(command.words).subspan(1));
  const ParsedWords parsed = ParseOptions(
      words,
      "-n --quiet --silent -E -r --regexp-extended -s --separate -u --unbuffered -z --null-data "
      "--posix --debug --sandbox -e:v --expression:v -f:u --file:u -i:i --in-place:i -l:v "
      "--line-length:v --follow-symlinks --version --help");
  bool given = false;
  bool in_place = false;
  for (const Option& option : parsed.options) {
    if (option.name == "e" || option.name.starts_with("--e")) {
      JudgeScript(command, option.value, SedScript(option.value.text).IsPlain());
      given = true;
    }
    if (option.meaning == Meaning::kUnclear) {
      given = true;
      Raise(command, ShellEffect::kUnknown, "its script is in a file");
    }
    in_place = in_place || option.meaning == Meaning::kInPlace;
  }
  for (std::size_t i = 0; i < parsed.operands.size(); ++i) {
    const ShellWord& word = parsed.operands[i];
    if (i == 0 && !given)
      JudgeScript(command, word, SedScript(word.text).IsPlain());
    else
      AddPaths(in_place ? command.writes : command.reads, word, command);
  }
  if (in_place) Raise(command, ShellEffect::kWrites, "sed changes files in place");
  if (parsed.maybe_option || parsed.unlisted)
    Raise(command, ShellEffect::kUnknown, "an option of sed is not known");
}

void JudgeAwk(ShellCommand& command) {
  // What it is given behind its program may look like options, and is none.
  const ParsedWords parsed =
      ParseOptions(std::span(command.words).subspan(1),
                   "-F:v --field-separator:v -v:v --assign:v --posix --csv --re-interval -f:u "
                   "--file:u -i:u --include:u -E:u --exec:u -l:u --load:u -o:w -p:w -d:w "
                   "--version --help",
                   OptionStyle::kFirst);
  bool given = false;
  for (const Option& option : parsed.options) {
    if (option.meaning != Meaning::kUnclear && option.meaning != Meaning::kOverwrites) continue;
    given = true;
    Raise(command, ShellEffect::kUnknown, "its program is in a file, or it writes one");
  }
  for (std::size_t i = 0; i < parsed.operands.size(); ++i) {
    const ShellWord& word = parsed.operands[i];
    if (i == 0 && !given)
      JudgeScript(command, word, AwkProgram(word.text).IsPlain());
    else
      AddPaths(command.reads, word, command);
  }
  if (parsed.maybe_option || parsed.unlisted)
    Raise(command, ShellEffect::kUnknown, "an option of awk is not known");
}

}  // namespace

bool JudgeEditor(ShellCommand& command) {
  const std::string program = ProgramName(command);
  if (program == "sed" || program == "gsed") {
    JudgeSed(command);
    return true;
  }
  if (HasWord("awk gawk mawk nawk", program)) {
    JudgeAwk(command);
    return true;
  }
  return false;
}

}  // namespace stet::policy
