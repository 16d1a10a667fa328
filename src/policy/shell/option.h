// The options of a program, read by a short description of those that matter.
//
// A description is words like "-o:w --output:w -abq -AB:v": each option with a letter for what it
// means; several letters behind one dash are as many options (one long one where long
// options have one dash). Long options may be shortened, short ones may stand together, as getopt
// has it: what is short for several that mean different things counts as one that is not listed.
// Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "policy/shell/shell.h"

namespace stet::policy {

/// What the letter behind an option means.
enum class Meaning : char {
  kUnlisted = 0,
  kFlag = 'f',         // Nothing; the same as no letter.
  kValue = 'v',        // It has a value that is no path.
  kAttached = 'a',     // The same, but only in its own word: -M50%, --color=never.
  kPair = '2',         // It has two values: a name and a text.
  kReads = 'r',        // Its value is read.
  kPattern = 'p',      // Its value is the expression that is else the first operand.
  kPatternFile = 'q',  // Its value is a file of such expressions.
  kNoPattern = 'P',    // There is no such expression.
  kOverwrites = 'w',   // Its value is overwritten.
  kFolder = 'c',       // It works in the folder that is its value.
  kRuns = 'x',         // Its value is a program that is run.
  kRunsSome = 'X',     // With it, the program runs other programs.
  kUnclear = 'u',      // With it, what the program does cannot be told.
  kUnclearValue = 'U',
  kDestroys = 'd',
  kSends = 'n',
  kSendsValue = 'N',
  kInPlace = 'i',   // What it names is changed.
  kTree = 't',      // Folders are read with all below them.
  kLinks = 'T',     // The same, and links in them are followed.
  kReplaces = 'l',  // What stands in the way is lost.
};

struct Option {
  Meaning meaning = Meaning::kUnlisted;
  std::string_view name;  // Whole, a short one without its dash; as written when not listed.
  ShellWord value;
};

struct ParsedWords {
  std::vector<Option> options;
  std::vector<ShellWord> operands;
  std::vector<std::size_t> places;  // Where each operand stands among the words.
  bool unlisted = false;            // An option that the description does not have.
  bool maybe_option = false;        // A word that is not known may be an option.
};

enum class OptionStyle {
  kGnu,              // Options anywhere, short ones together.
  kFirst,            // Options only before the first operand, as wrappers have it.
  kSingleDash,       // Long options have one dash.
  kFirstSingleDash,  // Both.
};

/// Of `words`, the program not among them, which must outlive the answer.
ParsedWords ParseOptions(std::span<const ShellWord> words, std::string_view description,
                         OptionStyle style = OptionStyle::kGnu);

/// Whether an option of a description makes a program do more than read what it is given: a word
/// that is not known may be that one.
bool HasDanger(std::string_view description);

/// Whether a list of words, divided by blanks, has this one.
bool HasWord(std::string_view list, std::string_view word);

}  // namespace stet::policy
