#include "cli/parser.h"

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/display_width.h"
#include "base/nearest_name.h"
#include "base/version.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct AddCheck {
  CLI::Option& to;

  void operator()(std::monostate) const {}
  void operator()(const OneOf& choices) const { to.check(CLI::IsMember(choices)); }
  template <class T>
  void operator()(const Between<T>& range) const {
    to.check(CLI::Range(range.least, range.most));
  }
  void operator()(NotNegative) const { to.check(CLI::NonNegativeNumber); }
  void operator()(Positive) const { to.check(CLI::PositiveNumber); }
};

struct AddTarget {
  CLI::App& to;
  const Option& option;

  CLI::Option* operator()(bool* flag) const {
    return to.add_flag(option.names, *flag, option.help);
  }
  CLI::Option* operator()(auto* value) const {
    return to.add_option(option.names, *value, option.help);
  }
};

void AddOption(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(AddTarget{app, option}, option.target);
  std::visit(AddCheck{*added}, option.check);
  if (option.required) added->required();
  if (option.hidden) added->group("");
  if (!option.excludes.empty()) added->excludes(app.get_option(option.excludes));
  if (option.values == Values::kOptional) added->expected(0, 1);
  if (option.values == Values::kOneByOne) added->take_all()->allow_extra_args(false);
  if (option.values == Values::kWithCommas) added->delimiter(',');
  if (!option.shown_type.empty()) added->type_name(option.shown_type);
}

void AddArguments(CLI::App& app, const Verb& verb) {
  for (const Option& option : verb.options) AddOption(app, option);
  if (verb.positionals_last) app.positionals_at_end();
  for (const Verb& below : verb.verbs)
    AddArguments(*app.add_subcommand(below.name, below.help), below);
  if (!verb.verbs.empty() && !verb.run && !verb.wrong) app.require_subcommand(1);
}

Answer Wrong(std::string_view what) {
  return {fmt::format("stet: {}\n`stet --help` shows what there is.\n", what), face::kExitUsage};
}

/// Whether the next word is the value of this one.
bool TakesNextWord(const Verb& verb, std::string_view word) {
  for (const Option& option : verb.options) {
    const bool named = (',' + option.names + ',').contains(fmt::format(",{},", word));
    if (named) return !std::holds_alternative<bool*>(option.target);
  }
  return false;
}

/// Whether an option of this name, of the verb or of one below it, has a value.
bool TakesValueAnywhere(const Verb& verb, std::string_view name) {
  return TakesNextWord(verb, name) || std::ranges::any_of(verb.verbs, [&](const Verb& below) {
           return TakesValueAnywhere(below, name);
         });
}

/// "--tools=" as "--tools" and an empty word: the library takes the next word for the value of the
/// first. What stands behind "--" is no option.
std::vector<const char*> WithEmptyValues(const Verb& program, std::span<const char* const> words,
                                         std::deque<std::string>& names) {
  std::vector<const char*> out;
  bool options = true;
  for (const char* word : words) {
    const std::string_view text = word;
    options = options && text != "--";
    const std::string_view name = text.substr(0, text.find('='));
    if (options && text.starts_with("--") && name.size() + 1 == text.size() &&
        TakesValueAnywhere(program, name)) {
      out.push_back(names.emplace_back(name).c_str());
      out.push_back("");
    } else {
      out.push_back(word);
    }
  }
  return out;
}

/// The word that was to be the prompt, where what follows it tells that a verb was meant; empty
/// when no verb is near to it.
std::string WrongFirstWord(const Verb& program, std::span<const char* const> words) {
  std::vector<std::string_view> names;
  for (const Verb& verb : program.verbs) names.emplace_back(verb.name);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.starts_with("-")) {
      if (TakesNextWord(program, word)) ++i;
      continue;
    }
    const std::string near = NearestName(word, names);
    if (near.empty() || near == word) return "";
    return fmt::format(
        "there is no verb {}: did you mean `stet {}`? A prompt is one argument: "
        "quote it",
        PrintableText(word), near);
  }
  return "";
}

/// Names a word that stands where a verb should and is none; empty when that is not what is wrong.
std::string WrongVerb(const Verb& program, int argc, const char* const* argv) {
  const Verb* at = &program;
  std::string path = "stet";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    const auto verb = std::ranges::find(at->verbs, word, &Verb::name);
    if (verb != at->verbs.end()) {
      at = &*verb;
      path += " " + word;
      continue;
    }
    if (at == &program) continue;  // A prompt, or the value of an option.
    if (at->verbs.empty()) return "";
    std::vector<std::string_view> names;
    for (const Verb& known : at->verbs) names.emplace_back(known.name);
    const std::string near = NearestName(word, names);
    return fmt::format("`{}` has no verb {}{}: write {}", path, PrintableText(word),
                       near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                       fmt::join(names, ", "));
  }
  return at == &program ? WrongFirstWord(program, std::span(argv, static_cast<std::size_t>(argc)))
                        : "";
}

/// The innermost verb that was named.
const Verb& NamedVerb(const Verb& program, const CLI::App& app) {
  const Verb* at = &program;
  for (const CLI::App* named = &app; !named->get_subcommands().empty();) {
    named = named->get_subcommands().front();
    at = &*std::ranges::find(at->verbs, named->get_name(), &Verb::name);
  }
  return *at;
}

}  // namespace

std::variant<const Verb*, Answer> ParseArguments(const Verb& program, int argc,
                                                 const char* const* argv) {
  CLI::App app{program.help, program.name};
  app.set_version_flag("--version", fmt::format("stet {}", ProgramVersion()));
  AddArguments(app, program);
  app.require_subcommand(0, 1);
  std::deque<std::string> names;
  const std::vector<const char*> words =
      WithEmptyValues(program, {argv, static_cast<std::size_t>(argc)}, names);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    return Answer{app.help(), face::kExitDone};  // Of the verb that was named, with its path.
  } catch (const CLI::CallForVersion& version) {
    return Answer{fmt::format("{}\n", version.what()), face::kExitDone};
  } catch (const CLI::ParseError& error) {
    const std::string verb = WrongVerb(program, argc, argv);
    return Wrong(verb.empty() ? error.what() : verb);
  }
  const Verb& named = NamedVerb(program, app);
  if (named.wrong) {
    if (const std::string wrong = named.wrong(); !wrong.empty()) return Wrong(wrong);
  }
  return &named;
}

}  // namespace stet::cli
