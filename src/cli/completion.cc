#include "cli/completion.h"

#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stet::cli {
namespace {

/// Calls `visit(path, command)` for the program and every verb; the path is "" or "/sessions/ls".
using Visit = std::function<void(const std::string& path, const CommandFacts& command)>;
void ForEachCommand(const CommandFacts& command, const std::string& path, const Visit& visit) {
  visit(path, command);
  for (const CommandFacts& verb : command.commands)
    ForEachCommand(verb, path + "/" + verb.name, visit);
}

/// For single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// How a shell's loop over the words finds out which verb is meant.
std::string PathCases(const CommandFacts& program, std::string_view indent) {
  std::vector<std::string> paths;
  ForEachCommand(program, "", [&](const std::string& path, const CommandFacts&) {
    if (!path.empty()) paths.push_back(path);
  });
  return fmt::format("{}{}) verb=\"$verb/$word\" ;;\n", indent, fmt::join(paths, "|"));
}

std::string BashScript(const CommandFacts& program) {
  std::string choices;
  std::string words;
  ForEachCommand(program, "", [&](const std::string& path, const CommandFacts& command) {
    std::string all;
    for (const CommandFacts& verb : command.commands) all += verb.name + " ";
    for (const OptionFacts& option : command.options) {
      all += fmt::format("{} ", fmt::join(option.names, " "));
      if (option.names.empty()) {
        for (const std::string& choice : option.choices) all += choice + " ";
      } else if (!option.choices.empty()) {
        for (const std::string& name : option.names)
          choices += fmt::format("    '{} {}') words={} ;;\n", path, name,
                                 Quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      } else if (option.takes_value) {
        for (const std::string& name : option.names)
          choices += fmt::format("    '{} {}') return ;;\n", path, name);
      }
    }
    words += fmt::format("      '{}') words={} ;;\n", path, Quoted(all));
  });
  return fmt::format(R"(# bash completion for stet; made by `stet completion bash`
_stet() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local verb= word words=
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$verb/$word" in
{}    esac
  done
  case "$verb $previous" in
{}    *)
      case "$verb" in
{}      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _stet stet
)",
                     PathCases(program, "      "), choices, words);
}

/// "name:description", as zsh's _describe takes it.
std::string Described(std::string_view name, std::string_view description) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return Quoted(fmt::format("{}:{}", escaped, description));
}

std::string ZshScript(const CommandFacts& program) {
  std::string choices;
  std::string cases;
  ForEachCommand(program, "", [&](const std::string& path, const CommandFacts& command) {
    std::string rows;
    for (const CommandFacts& verb : command.commands)
      rows += " " + Described(verb.name, verb.description);
    for (const OptionFacts& option : command.options) {
      for (const std::string& name : option.names)
        rows += " " + Described(name, option.description);
      if (option.names.empty())
        for (const std::string& choice : option.choices) rows += " " + Quoted(choice);
      for (const std::string& name : option.names)
        if (!option.choices.empty())
          choices += fmt::format("    '{} {}') compadd -- {}; return ;;\n", path, name,
                                 fmt::join(option.choices, " "));
    }
    cases += fmt::format("    '{}') rows=({} ) ;;\n", path, rows);
  });
  return fmt::format(R"(#compdef stet
# zsh completion for stet; made by `stet completion zsh`
_stet() {{
  local verb= word
  local -a rows
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$verb/$word" in
{}    esac
  done
  case "$verb ${{words[CURRENT-1]}}" in
{}  esac
  case "$verb" in
{}  esac
  _describe 'stet' rows || _files
}}
compdef _stet stet
)",
                     PathCases(program, "      "), choices, cases);
}

/// When a verb is what is being completed: its own name was typed and none of those below it.
std::string FishCondition(const std::string& path, const CommandFacts& command) {
  if (path.empty()) return "__fish_use_subcommand";
  std::string condition = fmt::format("__fish_seen_subcommand_from {}", command.name);
  const std::size_t above = path.rfind('/');
  if (above > 0)
    condition = fmt::format("__fish_seen_subcommand_from {}; and {}",
                            path.substr(1, path.find('/', 1) - 1), condition);
  if (command.commands.empty()) return condition;
  std::vector<std::string> below;
  for (const CommandFacts& verb : command.commands) below.push_back(verb.name);
  return fmt::format("{}; and not __fish_seen_subcommand_from {}", condition,
                     fmt::join(below, " "));
}

std::string FishOption(const OptionFacts& option, const std::string& condition) {
  std::string line = fmt::format("complete -c stet -n {}", Quoted(condition));
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value && !option.names.empty()) line += " -r";
  if (!option.choices.empty())
    line += " -f -a " + Quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  return line + " -d " + Quoted(option.description) + "\n";
}

std::string FishScript(const CommandFacts& program) {
  std::string out = "# fish completion for stet; made by `stet completion fish`\n";
  ForEachCommand(program, "", [&](const std::string& path, const CommandFacts& command) {
    const std::string condition = FishCondition(path, command);
    for (const CommandFacts& verb : command.commands)
      out += fmt::format("complete -c stet -f -n {} -a {} -d {}\n", Quoted(condition), verb.name,
                         Quoted(verb.description));
    for (const OptionFacts& option : command.options)
      if (!option.names.empty() || !option.choices.empty()) out += FishOption(option, condition);
  });
  return out;
}

}  // namespace

std::string CompletionScript(const std::string& shell, const CommandFacts& program) {
  if (shell == "zsh") return ZshScript(program);
  return shell == "fish" ? FishScript(program) : BashScript(program);
}

}  // namespace stet::cli
