#include "policy/policy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/guarded.h"
#include "policy/shell/auto.h"
#include "policy/shell/combine.h"
#include "policy/shell/grant.h"
#include "policy/shell/path.h"

namespace stet::policy {
namespace {

struct Name {
  Mode mode;
  std::string_view text;
};

constexpr std::array kModes = {
    Name{Mode::kDefault, "default"},
    Name{Mode::kAcceptEdits, "acceptEdits"},
    Name{Mode::kAuto, "auto"},
    Name{Mode::kPlan, "plan"},
    Name{Mode::kDontAsk, "dontAsk"},
    Name{Mode::kBypass, "bypass"},
    Name{Mode::kBypass, "bypassPermissions"},
};

Places PlacesOf(const Rules& rules) { return {.project = rules.project, .home = rules.home}; }

bool AtHome(const Rules& rules, std::string_view path) {
  return Inside(path, rules.project) ||
         std::ranges::any_of(rules.more_roots,
                             [&](const std::string& root) { return Inside(path, root); });
}

bool AtHome(const Rules& rules, const std::vector<std::string>& paths) {
  return std::ranges::all_of(paths, [&](const std::string& path) { return AtHome(rules, path); });
}

/// Calls `see(path, writes)` with every path that the call names, a command's too, until it says
/// something.
template <class See>
std::string FirstPath(const Question& question, const See& see) {
  const auto look = [&](const auto& paths, bool writes, const auto& text) {
    for (const auto& path : paths) {
      if (std::string said = see(text(path), writes); !said.empty()) return said;
    }
    return std::string();
  };
  const auto plain = [](const std::string& path) -> std::string_view { return path; };
  const auto shell = [](const ShellPath& path) -> std::string_view { return path.path; };
  std::string said = look(question.reads, false, plain);
  if (said.empty()) said = look(question.writes, true, plain);
  if (!question.shell) return said;
  for (const ShellCommand& command : question.shell->commands) {
    if (said.empty()) said = look(command.reads, false, shell);
    if (said.empty()) said = look(command.writes, true, shell);
    if (said.empty()) said = look(command.loses, true, shell);
  }
  return said;
}

std::string TouchesOwn(const Rules& rules, const Question& question) {
  return FirstPath(question, [&](std::string_view path, bool writes) -> std::string {
    const auto inside = [&](const std::string& own) { return Inside(path, own); };
    const bool touched = std::ranges::any_of(rules.sealed, inside) ||
                         (writes && std::ranges::any_of(rules.own, inside));
    return touched ? fmt::format("{} is stet's own", path) : "";
  });
}

std::string GoesThroughProcesses(const Question& question) {
  return FirstPath(question, [](std::string_view path, bool) -> std::string {
    return IsMagic(path) ? fmt::format("{} leads through /proc: name the file itself", path) : "";
  });
}

std::string TouchesExcluded(const Rules& rules, const Question& question) {
  if (!rules.exclude || rules.exclude->empty()) return "";
  return FirstPath(question, [&](std::string_view path, bool) -> std::string {
    if (!Inside(path, rules.project)) return "";
    const std::string_view below = path.substr(std::min(rules.project.size() + 1, path.size()));
    return rules.exclude->Covers(below) ? fmt::format("{} is excluded", below) : "";
  });
}

std::string ChangesGuarded(const Rules& rules, const Question& question) {
  std::string named = FirstPath(question, [&](std::string_view path, bool writes) -> std::string {
    if (!writes) return "";
    const std::string_view what = GuardedFromChange(path, PlacesOf(rules));
    return what.empty() ? "" : fmt::format("it changes {}: {}", path, what);
  });
  return named.empty() ? question.obeyed : named;
}

std::string SeesGuarded(const Rules& rules, const Question& question) {
  return FirstPath(question, [&](std::string_view path, bool writes) -> std::string {
    if (writes) return "";
    const std::string_view what = GuardedFromSight(path, PlacesOf(rules));
    return what.empty() ? "" : fmt::format("it reads {}: {}", path, what);
  });
}

const Rule* FindTouching(const Rules& rules, const std::vector<Rule>& among,
                         const Question& question) {
  const auto found = std::ranges::find_if(
      among, [&](const Rule& rule) { return Touches(rule, question, PlacesOf(rules)); });
  return found == among.end() ? nullptr : &*found;
}

/// `exactly`: only one that names this very command or file, as a grant does.
const Rule* FindCovering(const Rules& rules, const Question& question, bool exactly) {
  const auto found = std::ranges::find_if(rules.allow, [&](const Rule& rule) {
    if (exactly && (!rule.exact || rule.specifier.empty())) return false;
    return Covers(rule, question, PlacesOf(rules));
  });
  return found == rules.allow.end() ? nullptr : &*found;
}

std::string Named(std::string_view verb, const Rule& rule) {
  if (rule.source == Source::kCommandLine || rule.source == Source::kSession)
    return fmt::format("{}:{}", verb, RuleText(rule));
  return fmt::format("{}:{}, {}", verb, RuleText(rule), SourceName(rule.source));
}

/// Whether it changes something, as far as is known.
bool HasEffects(const Question& question) {
  return question.effects && !(question.shell && IsReadOnly(*question.shell));
}

/// What the run withholds from this call; empty: nothing.
std::string_view Withheld(const Capabilities& run, const Question& question) {
  if (!HasEffects(question)) return "";
  // What changes something in a way that we cannot tell needs both.
  const bool runs = !question.command.empty() || question.writes.empty();
  const bool writes = !question.writes.empty() || question.command.empty();
  if (writes && !run.may_write) return "run:write";
  return runs && !run.may_run ? "run:run" : "";
}

/// What is forbidden whatever the mode.
std::optional<Decision> Forbidden(const Rules& rules, const Question& question,
                                  const Capabilities& run) {
  if (const Rule* rule = FindTouching(rules, rules.hard, question))
    return Decision{Verdict::kDeny, Named("hard", *rule), "a rule forbids it for good", true};
  if (const std::string own = TouchesOwn(rules, question); !own.empty())
    return Decision{Verdict::kDeny, "own files", own};
  if (const std::string magic = GoesThroughProcesses(question); !magic.empty())
    return Decision{Verdict::kDeny, "proc", magic};
  if (const std::string excluded = TouchesExcluded(rules, question); !excluded.empty())
    return Decision{Verdict::kDeny, "exclude", excluded};
  if (rules.mode == Mode::kPlan && HasEffects(question))
    return Decision{Verdict::kDeny, "mode:plan", "nothing is changed while planning"};
  if (const std::string_view withheld = Withheld(run, question); !withheld.empty())
    return Decision{Verdict::kDeny, std::string(withheld), run.reason};
  if (const Rule* rule = FindTouching(rules, rules.deny, question))
    return Decision{Verdict::kDeny, Named("deny", *rule), "a rule forbids it"};
  return std::nullopt;
}

Decision Firm(std::string rule, std::string reason) {
  return {
      .verdict = Verdict::kAsk, .rule = std::move(rule), .reason = std::move(reason), .firm = true};
}

/// What git would run because a repository says so; empty: nothing.
std::string RunsForGit(const Question& question) {
  if (!question.shell) return "";
  for (const ShellCommand& command : question.shell->commands) {
    if (!command.git_runs.empty())
      return fmt::format(
          "git would obey the repository, which is not trusted and may name programs to run: {} "
          "(`stet trust git` allows those of the project)",
          command.git_runs);
  }
  return "";
}

/// A grant of this very call that was given here. One for good was given elsewhere, where git runs
/// something else.
bool IsGrantedHere(const Rules& rules, const Question& question) {
  return std::ranges::any_of(rules.allow, [&](const Rule& rule) {
    return rule.exact && !rule.specifier.empty() && rule.source != Source::kUser &&
           Covers(rule, question, PlacesOf(rules));
  });
}

/// What is asked though a mode or a wide rule would allow it. A grant of this very call holds.
std::optional<Decision> AlwaysAsked(const Rules& rules, const Question& question) {
  if (question.unsandboxed && rules.mode != Mode::kBypass)
    return Firm("unsandboxed", "it would run without the sandbox");
  if (const std::string runs = RunsForGit(question);
      !runs.empty() && rules.mode != Mode::kBypass && !IsGrantedHere(rules, question))
    return Firm("git programs", runs);
  if (FindCovering(rules, question, true) != nullptr) return std::nullopt;
  if (const std::string guarded = ChangesGuarded(rules, question); !guarded.empty())
    return Firm("guarded", guarded);
  if (rules.mode == Mode::kBypass) return std::nullopt;
  if (const Rule* rule = FindTouching(rules, rules.ask, question))
    return Firm(Named("ask", *rule), "a rule wants it asked");
  if (const std::string secret = SeesGuarded(rules, question); !secret.empty())
    return Firm("secrets", secret);
  if (!question.caution.empty()) return Firm("caution", question.caution);
  return std::nullopt;
}

/// A tree that a command goes through may hold what is excluded, and git's history, which nothing
/// hides.
bool MaySeeExcluded(const Rules& rules, const ShellAnalysis& shell, bool hides_excluded) {
  if (!rules.exclude || rules.exclude->empty()) return false;
  if (std::ranges::any_of(shell.commands, &ShellCommand::shows_history)) return true;
  if (hides_excluded) return false;
  return std::ranges::any_of(shell.commands, [](const ShellCommand& command) {
    return command.effect > ShellEffect::kWrites ||
           std::ranges::any_of(command.reads, [](const ShellPath& path) {
             return path.reach != ShellPath::Reach::kExact;
           });
  });
}

/// Whether it only reads in the project, or, where edits are accepted, makes or changes files there
/// and loses none.
bool IsOrdinary(const Rules& rules, const ShellCommand& command) {
  const auto at_home = [&](const ShellPath& path) {
    return path.reach != ShellPath::Reach::kAnywhere && AtHome(rules, path.path);
  };
  if (command.odd || command.heavy || command.privileged || command.sets_git ||
      !command.loses.empty())
    return false;
  // Not known where, or outside the project: then its repository's configuration was not looked at.
  const bool here = std::ranges::all_of(
      command.folders, [&](const std::string& folder) { return AtHome(rules, folder); });
  if (command.git_elsewhere && (command.folders.empty() || !here)) return false;
  const bool writes = rules.mode == Mode::kAcceptEdits && command.effect == ShellEffect::kWrites;
  // /dev/null, /dev/stdin, and what another command of the line writes.
  const auto readable = [&](const ShellPath& path) { return IsSink(path.path) || at_home(path); };
  return (command.effect == ShellEffect::kReadOnly || writes) &&
         std::ranges::all_of(command.reads, readable) &&
         std::ranges::all_of(command.writes, at_home);
}

bool ChangesByGit(const ShellCommand& command) {
  return command.is_git && command.effect != ShellEffect::kReadOnly;
}

Decision DecideCommand(const Rules& rules, const Question& question, const Circumstances& now) {
  if (!question.shell) return {Verdict::kAsk, "command", "what the command does is not known"};
  const ShellAnalysis& shell = *question.shell;
  if (MaySeeExcluded(rules, shell, now.hides_excluded))
    return {Verdict::kAsk, "exclude", "it may read what is excluded"};
  if (now.hides_files && std::ranges::any_of(shell.commands, ChangesByGit))
    return {Verdict::kAsk, "exclude",
            "git would take what is hidden from commands as deleted or changed"};
  const std::string by_mode = fmt::format("mode:{}", ModeName(rules.mode));
  const bool reads = IsReadOnly(shell);
  const bool ordinary =
      shell.understood && std::ranges::all_of(shell.commands, [&](const ShellCommand& command) {
        return IsOrdinary(rules, command);
      });
  if (rules.mode == Mode::kAuto) {
    std::vector<std::string> roots = rules.more_roots;
    roots.insert(roots.begin(), rules.project);
    const IsRestorable restorable = [&](const std::string& path) {
      return std::ranges::find(question.restorable, path) != question.restorable.end();
    };
    const AutoAnswer answer = AutoVerdict(shell, now.sandboxed, roots, restorable);
    if (!answer.allowed) return {.rule = "command", .reason = answer.why};
    return {.verdict = Verdict::kAllow,
            .rule = by_mode,
            .box = reads && ordinary ? Box::kReads : Box::kAuto};
  }
  const bool edits = std::ranges::any_of(shell.commands, [](const ShellCommand& command) {
    return command.effect == ShellEffect::kWrites;
  });
  if (ordinary)
    return {.verdict = Verdict::kAllow,
            .rule = edits ? by_mode : "read-only command",
            .box = edits ? Box::kEdits : Box::kReads};
  for (const ShellCommand& command : shell.commands) {
    if (command.sets_git) return {Verdict::kAsk, "command", std::string(kSetsGit)};
    if (!command.why.empty()) return {Verdict::kAsk, "command", command.why};
  }
  return {Verdict::kAsk, "command", shell.why.empty() ? "commands are asked" : shell.why};
}

Decision DecideByMode(const Rules& rules, const Question& question, const Circumstances& now) {
  if (!question.url.empty()) return {Verdict::kAsk, "network", "it uses the network"};
  if (!question.command.empty()) return DecideCommand(rules, question, now);
  const bool home = AtHome(rules, question.reads);
  if (!question.effects && home) return {Verdict::kAllow, "read in project", ""};
  const bool edits = rules.mode == Mode::kAcceptEdits || rules.mode == Mode::kAuto;
  if (edits && home && !question.writes.empty() && AtHome(rules, question.writes))
    return {Verdict::kAllow, fmt::format("mode:{}", ModeName(rules.mode)), ""};
  if (!question.effects) return {Verdict::kAsk, "read outside", "it is outside the project"};
  return {Verdict::kAsk, "write", "changes are asked"};
}

/// A rule that forbids, and may be about a file that the command reaches unseen; null: none, or the
/// files that the rule forbids are hidden from it.
const Rule* FindUnseen(const Rules& rules, const Question& question, const Circumstances& now) {
  if (!question.shell || (now.sandboxed && now.hides_excluded)) return nullptr;
  const auto hidden = [&](const Rule& rule) {
    const std::optional<ForbiddenFiles> files = ForbiddenBy(rule, PlacesOf(rules));
    return now.hides_denied && files && files->reading;
  };
  for (const auto* among : {&rules.hard, &rules.deny}) {
    const auto found = std::ranges::find_if(
        *among, [&](const Rule& rule) { return CouldReach(rule, question) && !hidden(rule); });
    if (found != among->end()) return &*found;
  }
  return nullptr;
}

bool MayWrite(const Rules& rules, const ShellPath& path, const Circumstances& now) {
  if (path.reach != ShellPath::Reach::kExact) return false;
  const Question write{
      .tool = "Write", .effects = true, .reads = {}, .writes = {path.path}, .command = ""};
  return Decide(rules, write, {.run = now.run}).verdict == Verdict::kAllow;
}

/// Allowed by what a person wrote down.
Decision ByRule(std::string names, const Question& question) {
  const bool outward =
      question.shell && std::ranges::any_of(question.shell->commands, [](const auto& command) {
        return command.effect == ShellEffect::kNetwork || command.sets_git;
      });
  return {.verdict = Verdict::kAllow, .rule = std::move(names), .outward = outward};
}

/// What several rules say of a line together.
struct Together {
  std::optional<Decision> decision;
  std::string uncovered;  // Why there is none: the part that no rule covers.
};

Together DecideTogether(const Rules& rules, const Question& question, const Circumstances& now) {
  if (!question.shell) return {};
  std::vector<const Rule*> about;
  std::vector<std::string_view> specifiers;
  for (const Rule& rule : rules.allow) {
    if (!IsAboutCommands(rule, question)) continue;
    about.push_back(&rule);
    specifiers.emplace_back(rule.specifier);
  }
  if (about.empty()) return {};
  const CombineBounds bounds{
      .is_home = [&](const std::string& folder) { return AtHome(rules, folder); },
      .only_reads =
          [&](const ShellCommand& command) {
            return command.effect == ShellEffect::kReadOnly && IsOrdinary(rules, command);
          },
      .may_write = [&](const ShellPath& path) { return MayWrite(rules, path, now); }};
  const Combined combined = CombineRules(specifiers, *question.shell, bounds);
  if (combined.kind == Combined::Kind::kNone) return {std::nullopt, combined.uncovered};
  std::string names;
  for (const std::size_t rule : combined.rules)
    names += (names.empty() ? "" : " and ") + Named("allow", *about[rule]);
  if (combined.kind == Combined::Kind::kWhole) return {ByRule(std::move(names), question), ""};
  // What no rule covers was not allowed by anybody: the line is kept in.
  if (MaySeeExcluded(rules, *question.shell, now.hides_excluded)) return {};
  return {Decision{.verdict = Verdict::kAllow,
                   .rule = names + ", and the rest only reads",
                   .reason = combined.uncovered,
                   .box = Box::kAuto},
          ""};
}

Decision DecideTogetherOrByMode(const Rules& rules, const Question& question,
                                const Circumstances& now) {
  Together together = DecideTogether(rules, question, now);
  const bool free = together.decision && together.decision->box == Box::kNone;
  if (free) return *std::move(together.decision);
  Decision by_mode = DecideByMode(rules, question, now);
  if (by_mode.verdict == Verdict::kAllow) return by_mode;
  if (together.decision) return *std::move(together.decision);
  if (!together.uncovered.empty()) by_mode.reason = std::move(together.uncovered);
  return by_mode;
}

Decision DecideUnless(const Rules& rules, const Question& question, const Circumstances& now) {
  if (std::optional<Decision> forbidden = Forbidden(rules, question, now.run))
    return *std::move(forbidden);
  if (std::optional<Decision> asked = AlwaysAsked(rules, question)) return *std::move(asked);
  const Rule* unseen = FindUnseen(rules, question, now);
  if (rules.mode == Mode::kBypass && unseen != nullptr)
    return {Verdict::kDeny, Named("deny", *unseen),
            "a rule forbids files, and which this reaches cannot be told: name them"};
  if (rules.mode == Mode::kBypass) return {Verdict::kAllow, "mode:bypass", ""};
  // What rules forbid to read is hidden in boxes alone: of what needs none, a person must have seen
  // this very command.
  if (const Rule* rule = FindCovering(rules, question, unseen != nullptr))
    return ByRule(Named("allow", *rule), question);
  return unseen == nullptr ? DecideTogetherOrByMode(rules, question, now)
                           : DecideByMode(rules, question, now);
}

}  // namespace

namespace {

/// What people mean by "always" for a command; empty: this very one. Not where a rule would not do:
/// what is always asked needs a person who saw it.
std::string PrefixToGrant(const Rules& rules, const Question& question) {
  if (!question.shell || AlwaysAsked(rules, question)) return "";
  return GrantPrefix(*question.shell);
}

}  // namespace

std::optional<Mode> ModeFrom(std::string_view name) {
  const auto* found = std::ranges::find(kModes, name, &Name::text);
  if (found == kModes.end()) return std::nullopt;
  return found->mode;
}

std::string_view ModeName(Mode mode) { return std::ranges::find(kModes, mode, &Name::mode)->text; }

Rule GrantFor(const Rules& rules, const Question& question) {
  Rule rule{.tool = question.tool,
            .specifier = question.command,
            .exact = true,
            .source = Source::kSession};
  if (!question.url.empty()) {
    rule.specifier = fmt::format("domain:{}", HostOf(question.url));
    return rule;
  }
  if (const std::string prefix = PrefixToGrant(rules, question); !prefix.empty())
    return GrantFrom(fmt::format("{}({}:*)", question.tool, prefix));
  const std::vector<std::string>& paths =
      question.writes.empty() ? question.reads : question.writes;
  // What is asked for what it is, or where, is granted for this file alone.
  const bool special = !AtHome(rules, paths) || !question.caution.empty() ||
                       !ChangesGuarded(rules, question).empty() ||
                       !SeesGuarded(rules, question).empty();
  if (question.command.empty() && !paths.empty() && special) rule.specifier = paths.front();
  return rule;
}

Decision Decide(const Rules& rules, const Question& question, const Circumstances& circumstances) {
  Decision decision = DecideUnless(rules, question, circumstances);
  if (decision.verdict == Verdict::kAsk && rules.mode == Mode::kDontAsk)
    return {Verdict::kDeny, "mode:dontAsk", decision.reason + ", and nothing may be asked"};
  return decision;
}

}  // namespace stet::policy
