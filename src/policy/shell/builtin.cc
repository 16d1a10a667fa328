// Builtins of the shell that give variables values, change how the shell works, or evaluate their
// words: a name with a subscript in it is arithmetic, and what stands there is run.
#include <algorithm>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

using WordSpan = std::span<const ShellWord>;

constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

bool IsPlainName(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') &&
         text.find_first_not_of(kNameLetters) == std::string_view::npos;
}

/// A word that names what is set, perhaps with its value: NAME, NAME=value, NAME[i]=value.
void JudgeTarget(ShellCommand& command, const ShellWord& word) {
  const std::string_view fixed = std::string_view(word.text).substr(0, word.fixed);
  const std::size_t equals = std::min(fixed.find('='), fixed.size());
  std::string_view target = fixed.substr(0, equals);
  if (target.ends_with('+')) target.remove_suffix(1);
  const bool complete = word.known() || equals < fixed.size();
  if (!complete) {
    command.odd = true;
    command.assignments.push_back({"", word});
    return Raise(command, ShellEffect::kUnknown, "which variable it sets is not known");
  }
  const std::string_view name = target.substr(0, target.find('['));
  if (!IsPlainName(target)) Raise(command, ShellEffect::kUnknown, "a subscript is evaluated");
  ShellWord value = word;
  value.text.erase(0, std::min(equals + 1, value.text.size()));
  value.fixed -= std::min(value.fixed, equals + 1);
  if (equals == fixed.size()) value = Unknown("", "...", true);
  command.assignments.push_back({std::string(name), std::move(value)});
}

void JudgeTargets(ShellCommand& command, WordSpan words) {
  for (const ShellWord& word : words) JudgeTarget(command, word);
}

/// `read`, `getopts`, `wait`, `printf`: options, of which one may name a variable, then names from
/// some operand on.
struct Setter {
  std::string_view names;
  std::string_view options;
  char option = '\0';     // Its value is a variable.
  std::size_t first = 0;  // The operands from here on are variables.
  std::size_t count = 0;  // So many of them.
};

constexpr std::size_t kAll = 1000;
constexpr Setter kSetters[] = {
    {"read", "-ers -adinNptu:v", 'a', 0, kAll},
    {"mapfile readarray", "-t -dnOsuCc:v", '\0', 0, kAll},
    {"getopts", "", '\0', 1, 1},
    {"wait", "-fn -p:v", 'p', 0, 0},
    {"printf", "-v:v", 'v', 0, 0},
};

void JudgeSetter(ShellCommand& command, const Setter& setter, WordSpan words) {
  const ParsedWords parsed = ParseOptions(words, setter.options, OptionStyle::kFirst);
  const bool text = setter.names == "printf" && !words.empty() && !words[0].text.starts_with("-v");
  if (text) return;
  for (const Option& option : parsed.options) {
    if (setter.option != '\0' && option.name == std::string_view(&setter.option, 1))
      JudgeTarget(command, option.value);
  }
  for (std::size_t i = setter.first;
       i < std::min(parsed.operands.size(), setter.first + setter.count); ++i)
    JudgeTarget(command, parsed.operands[i]);
  if (parsed.unlisted || (parsed.maybe_option && setter.count > 0))
    Raise(command, ShellEffect::kUnknown, "an option of it is not known");
}

/// Attributes: with -i values are evaluated, with -n a name stands for another.
void JudgeDeclaration(ShellCommand& command, const std::string& program, WordSpan words) {
  const std::string_view harmless = program == "export" ? "pn" : "aAgxrpFflu";
  // What looks like a list, in quotes too, becomes one, and what stands in it is run.
  const auto lists = [&](const ShellWord& value) {
    if (!value.known() || value.text.starts_with('('))
      Raise(command, ShellEffect::kUnknown, "values may be evaluated where they are set");
  };
  for (const ShellAssignment& assignment : command.assignments) lists(assignment.value);
  for (const ShellWord& word : words) {
    if (word.text.contains("=(") || (!word.known() && word.text.contains('=')))
      Raise(command, ShellEffect::kUnknown, "values may be evaluated where they are set");
    const bool option = word.known() && (word.text.starts_with('-') || word.text.starts_with('+'));
    if (!option) {
      JudgeTarget(command, word);
    } else if (word.text != "--" && word.text.find_first_not_of(harmless, 1) != std::string::npos) {
      Raise(command, ShellEffect::kUnknown, "values may be evaluated where they are set");
    }
  }
}

void JudgeUnset(ShellCommand& command, WordSpan words) {
  for (const ShellWord& word : words) {
    if (word.known() && HasWord("-f -v -n", word.text)) continue;
    if (!word.known() || !IsPlainName(word.text))
      Raise(command, ShellEffect::kUnknown, "a subscript is evaluated");
    if (!IsOddVariable(word.text)) continue;
    command.odd = true;
    Raise(command, ShellEffect::kUnknown, fmt::format("it takes away {}", word.text));
  }
}

/// With -a whatever is set reaches programs, with -k whatever looks like it.
void JudgeSet(ShellCommand& command, WordSpan words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShellWord& word = words[i];
    if (word.known() && HasWord("-- -", word.text)) return;
    const bool option =
        word.maybe_option || word.text.starts_with('-') || word.text.starts_with('+');
    if (!option) return;  // Arguments from here on.
    const bool named = word.known() && word.text.ends_with('o') && i + 1 < words.size();
    const bool plain =
        word.known() && word.text.find_first_not_of("efuxvnCETmhBo", 1) == std::string::npos;
    if (named) ++i;
    constexpr std::string_view kModesOfShell =
        "pipefail errexit nounset xtrace verbose noglob noclobber errtrace functrace noexec";
    if (plain && (!named || (words[i].known() && HasWord(kModesOfShell, words[i].text)))) continue;
    command.odd = true;
    return Raise(command, ShellEffect::kUnknown, "it changes what the shell does with words");
  }
}

/// Reads `test` as bash does: terms of one or two words and an operator, joined by -a and -o.
class TestReader {
 public:
  TestReader(ShellCommand& command, WordSpan words) : command_(command), words_(words) {}

  void Read() {
    if (words_.size() == 1) return;
    while (at_ < words_.size()) {
      if (!Term()) return Raise(command_, ShellEffect::kUnknown, "what it tests is not known");
      if (IsWordAt(at_, "-a -o )")) ++at_;
    }
  }

 private:
  [[nodiscard]] bool IsWordAt(std::size_t i, std::string_view list) const {
    return i < words_.size() && words_[i].known() && HasWord(list, words_[i].text);
  }

  bool Term() {
    if (IsWordAt(at_, "! (")) {
      ++at_;
      return at_ < words_.size();
    }
    if (at_ + 2 < words_.size() && IsWordAt(at_ + 1, "-nt -ot -ef")) {
      AddPaths(command_.reads, words_[at_], command_);
      AddPaths(command_.reads, words_[at_ + 2], command_);
      at_ += 3;
      return true;
    }
    if (at_ + 2 < words_.size() && IsWordAt(at_ + 1, "= == != < > -eq -ne -lt -le -gt -ge")) {
      at_ += 3;
      return true;
    }
    return Unary();
  }

  bool Unary() {
    if (at_ + 1 >= words_.size()) return false;
    const ShellWord& operand = words_[at_ + 1];
    if (IsWordAt(at_, "-v -R")) {
      at_ += 2;
      return operand.known() && IsPlainName(operand.text);
    }
    const bool file = IsWordAt(at_, "-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S");
    if (!file && !IsWordAt(at_, "-z -n -t -o")) return false;
    if (file) AddPaths(command_.reads, operand, command_);
    at_ += 2;
    return true;
  }

  ShellCommand& command_;
  WordSpan words_;
  std::size_t at_ = 0;
};

}  // namespace

bool JudgeBuiltin(ShellCommand& command) {
  const std::string program = ProgramName(command);
  // What is found out is added to the command, whose words stay as they are.
  const std::vector<ShellWord> all = command.words;
  WordSpan words = WordSpan(all).subspan(1);
  if (program == "test" || program == "[") {
    if (program == "[" && !words.empty()) words = words.first(words.size() - 1);
    TestReader(command, words).Read();
    return true;
  }
  if (program == "set") {
    JudgeSet(command, words);
    return true;
  }
  if (program == "unset") {
    JudgeUnset(command, words);
    return true;
  }
  if (HasWord("export declare typeset readonly local", program)) {
    JudgeDeclaration(command, program, words);
    return true;
  }
  if (program == "let") JudgeTargets(command, words);
  const auto* setter = std::ranges::find_if(
      kSetters, [&](const Setter& one) { return HasWord(one.names, program); });
  if (setter == std::end(kSetters)) return false;
  JudgeSetter(command, *setter, words);
  return program != "mapfile" && program != "readarray";
}

}  // namespace stet::policy
