#include "policy/shell/option.h"

#include <algorithm>

#include "policy/shell/word.h"

namespace stet::policy {
namespace {

bool TakesValue(Meaning meaning) {
  switch (meaning) {
    case Meaning::kValue:
    case Meaning::kReads:
    case Meaning::kOverwrites:
    case Meaning::kFolder:
    case Meaning::kRuns:
    case Meaning::kUnclearValue:
    case Meaning::kSendsValue: return true;
    default: return false;
  }
}

/// The next word of a list divided by blanks, taken off its beginning.
std::string_view TakeWord(std::string_view& list) {
  const std::size_t begin = std::min(list.find_first_not_of(' '), list.size());
  list.remove_prefix(begin);
  const std::size_t end = std::min(list.find(' '), list.size());
  const std::string_view word = list.substr(0, end);
  list.remove_prefix(end);
  return word;
}

/// A long option may be written by any beginning of it; one that is written whole comes first.
Meaning MeaningOf(std::string_view description, std::string_view option) {
  Meaning shortened = Meaning::kUnlisted;
  while (true) {
    const std::string_view entry = TakeWord(description);
    if (entry.empty()) return shortened;
    const std::size_t colon = entry.find(':');
    const std::string_view name = entry.substr(0, colon);
    const Meaning meaning = colon == std::string_view::npos || colon + 1 >= entry.size()
                                ? Meaning::kFlag
                                : static_cast<Meaning>(entry[colon + 1]);
    if (name == option) return meaning;
    if (option.size() > 2 && option.starts_with("--") && name.starts_with(option) &&
        shortened == Meaning::kUnlisted)
      shortened = meaning;
  }
}

class OptionReader {
 public:
  OptionReader(std::span<const ShellWord> words, std::string_view description, OptionStyle style)
      : words_(words), description_(description), style_(style) {}

  ParsedWords Read() {
    bool only_operands = false;
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const ShellWord& word = words_[at_];
      const std::string_view fixed = std::string_view(word.text).substr(0, word.fixed);
      if (!only_operands && word.known() && fixed == "--") {
        only_operands = true;
        continue;
      }
      const bool dashed = fixed.size() > 1 && fixed[0] == '-';
      if (only_operands || !dashed) {
        out_.maybe_option = out_.maybe_option || (!only_operands && word.maybe_option);
        out_.operands.push_back(word);
        out_.places.push_back(at_);
        only_operands = only_operands || style_ == OptionStyle::kFirst;
        continue;
      }
      if (fixed.starts_with("--") || style_ == OptionStyle::kSingleDash)
        ReadLong(word, fixed);
      else
        ReadShort(word, fixed);
    }
    return std::move(out_);
  }

 private:
  void Push(Meaning meaning, std::string_view name, ShellWord value) {
    out_.unlisted = out_.unlisted || meaning == Meaning::kUnlisted;
    out_.options.push_back({meaning, name, std::move(value)});
  }

  ShellWord Next() {
    if (at_ + 1 >= words_.size()) return Known("");
    return words_[++at_];
  }

  /// What stands behind the first `count` bytes of a word.
  static ShellWord Rest(const ShellWord& word, std::size_t count) {
    ShellWord rest = word;
    rest.text.erase(0, count);
    rest.fixed -= std::min(count, rest.fixed);
    rest.maybe_option = false;
    return rest;
  }

  void ReadLong(const ShellWord& word, std::string_view fixed) {
    const std::size_t equals = fixed.find('=');
    const std::string_view name = fixed.substr(0, equals);
    // An option whose name is not all there may be any.
    if (!word.known() && equals == std::string_view::npos) {
      out_.unlisted = out_.maybe_option = true;
      return;
    }
    const Meaning meaning = MeaningOf(description_, name);
    if (equals != std::string_view::npos)
      Push(meaning, name, Rest(word, equals + 1));
    else
      Push(meaning, name, TakesValue(meaning) ? Next() : Known(""));
  }

  void ReadShort(const ShellWord& word, std::string_view fixed) {
    // -10 is a count, as in `head -10`.
    if (word.known() && fixed.find_first_not_of("0123456789", 1) == std::string_view::npos) return;
    for (std::size_t i = 1; i < fixed.size(); ++i) {
      const char letters[] = {'-', fixed[i], '\0'};
      const Meaning meaning = MeaningOf(description_, letters);
      const std::string_view name = fixed.substr(i, 1);
      if (TakesValue(meaning)) {
        const bool together = i + 1 < fixed.size() || !word.known();
        Push(meaning, name, together ? Rest(word, i + 1) : Next());
        return;
      }
      Push(meaning, name, Known(""));
    }
    if (!word.known()) out_.maybe_option = true;
  }

  std::span<const ShellWord> words_;
  std::string_view description_;
  OptionStyle style_;
  std::size_t at_ = 0;
  ParsedWords out_;
};

}  // namespace

ParsedWords ParseOptions(std::span<const ShellWord> words, std::string_view description,
                         OptionStyle style) {
  return OptionReader(words, description, style).Read();
}

bool HasWord(std::string_view list, std::string_view word) {
  while (true) {
    const std::string_view entry = TakeWord(list);
    if (entry.empty()) return false;
    if (entry == word) return true;
  }
}

}  // namespace stet::policy
