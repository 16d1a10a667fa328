#include "policy/shell/option.h"

#include <algorithm>

#include "policy/shell/word.h"

namespace stet::policy {
namespace {

bool HasSingleDash(OptionStyle style) {
  return style == OptionStyle::kSingleDash || style == OptionStyle::kFirstSingleDash;
}

bool TakesValue(Meaning meaning) {
  switch (meaning) {
    case Meaning::kValue:
    case Meaning::kReads:
    case Meaning::kOverwrites:
    case Meaning::kFolder:
    case Meaning::kRuns:
    case Meaning::kUnclearValue:
    case Meaning::kSendsValue:
    case Meaning::kPattern:
    case Meaning::kPatternFile:
    case Meaning::kPair: return true;
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

struct KnownOption {
  Meaning meaning = Meaning::kUnlisted;
  std::string_view name;  // As the description has it.
};

/// A long option may be written by any beginning of it, as long as that stands for one meaning; one
/// that is written whole comes first. "*" in a description stands for all that it does not list.
KnownOption Look(std::string_view description, std::string_view option, OptionStyle style) {
  const bool may_be_short = option.size() > 2 && option.starts_with("--");
  const bool one_letter = option.size() == 2 && !HasSingleDash(style);
  KnownOption shortened = {Meaning::kUnlisted, option};
  bool found = false;
  bool ambiguous = false;
  bool any = false;
  while (true) {
    const std::string_view entry = TakeWord(description);
    if (entry.empty()) break;
    const std::size_t colon = entry.find(':');
    const std::string_view name = entry.substr(0, colon);
    const Meaning meaning = colon == std::string_view::npos || colon + 1 >= entry.size()
                                ? Meaning::kFlag
                                : static_cast<Meaning>(entry[colon + 1]);
    if (name == option) return {meaning, name};
    any = any || name == "*";
    if (one_letter && name[0] == '-' && name.size() > 2 && name[1] != '-' &&
        name.find(option[1], 1) != std::string_view::npos)
      return {meaning, option};
    if (!may_be_short || !name.starts_with(option)) continue;
    ambiguous = ambiguous || (found && meaning != shortened.meaning);
    if (!found) shortened = {meaning, name};
    found = true;
  }
  if (ambiguous) return {Meaning::kUnlisted, option};
  return !found && any ? KnownOption{Meaning::kFlag, option} : shortened;
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
        only_operands = only_operands || style_ == OptionStyle::kFirst ||
                        style_ == OptionStyle::kFirstSingleDash;
        continue;
      }
      if (fixed.starts_with("--") || HasSingleDash(style_))
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
    const auto [meaning, whole] = Look(description_, name, style_);
    if (equals != std::string_view::npos)
      Push(meaning, whole, Rest(word, equals + 1));
    else
      Push(meaning, whole, TakesValue(meaning) ? Next() : Known(""));
    if (meaning == Meaning::kPair) (void)Next();
  }

  void ReadShort(const ShellWord& word, std::string_view fixed) {
    // -10 is a count, as in `head -10`.
    if (word.known() && fixed.find_first_not_of("0123456789", 1) == std::string_view::npos) return;
    for (std::size_t i = 1; i < fixed.size(); ++i) {
      const char letters[] = {'-', fixed[i], '\0'};
      const Meaning meaning = Look(description_, letters, style_).meaning;
      const std::string_view name = fixed.substr(i, 1);
      if (meaning == Meaning::kAttached) return Push(meaning, name, Rest(word, i + 1));
      if (TakesValue(meaning)) {
        const bool together = i + 1 < fixed.size() || !word.known();
        Push(meaning, name, together ? Rest(word, i + 1) : Next());
        if (meaning == Meaning::kPair) (void)Next();
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

bool HasDanger(std::string_view description) {
  while (true) {
    const std::string_view entry = TakeWord(description);
    if (entry.empty()) return false;
    const std::size_t colon = entry.find(':');
    if (colon != std::string_view::npos &&
        std::string_view("wcxXuUdnNil").contains(entry[colon + 1]))
      return true;
  }
}

bool HasWord(std::string_view list, std::string_view word) {
  while (true) {
    const std::string_view entry = TakeWord(list);
    if (entry.empty()) return false;
    if (entry == word) return true;
  }
}

}  // namespace stet::policy
