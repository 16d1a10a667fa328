#include "policy/shell/combine.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/rules.h"
#include "policy/shell/unwrap.h"

namespace stet::policy {
namespace {

class RuleCombiner {
 public:
  RuleCombiner(std::span<const std::string_view> specifiers, const ShellAnalysis& analysis,
               const CombineBounds& bounds)
      : specifiers_(specifiers), line_(analysis), bounds_(bounds) {}

  Combined Combine() {
    Combined out;
    if (!line_.understood) return out;
    bool all = true;
    bool rest_reads = true;
    for (std::size_t part = 0; part < line_.commands.size(); ++part) {
      const std::string never = WhyNever(part);
      if (!never.empty()) {
        Say(out, part, never);
        (void)Cover(part, out);  // Whether a rule is about it at all.
        rest_reads = all = false;
        continue;
      }
      if (NeedsNoRule(line_, part)) continue;
      if (Cover(part, out)) continue;
      all = false;
      if (bounds_.only_reads(line_.commands[part])) {
        if (reading_.empty()) reading_ = TextOfPart(line_.commands[part]);
        continue;
      }
      rest_reads = false;
      Say(out, part, line_.commands[part].why);
    }
    const bool some = !out.rules.empty();
    out.kind = !some        ? Combined::Kind::kNone
               : all        ? Combined::Kind::kWhole
               : rest_reads ? Combined::Kind::kMixed
                            : Combined::Kind::kNone;
    if (!some) out.uncovered.clear();
    if (out.kind == Combined::Kind::kMixed && out.uncovered.empty())
      out.uncovered = fmt::format("no rule covers `{}`", reading_);
    return out;
  }

 private:
  /// The first part that stands in the way is told.
  void Say(Combined& out, std::size_t part, const std::string& why) const {
    if (!out.uncovered.empty()) return;
    out.uncovered = fmt::format("no rule covers `{}`", TextOfPart(line_.commands[part]));
    if (!why.empty()) out.uncovered += fmt::format(": {}", why);
  }

  [[nodiscard]] std::string WhyNever(std::size_t part) const {
    const ShellCommand& command = line_.commands[part];
    const bool home =
        !command.folders.empty() && std::ranges::all_of(command.folders, bounds_.is_home);
    const std::string program = ProgramName(command);
    if (HasWord("cd pushd popd", program) && !NeedsNoRule(line_, part))
      return "what follows runs outside of the project, or nobody knows where";
    if (!home) return "it runs outside of the project, or nobody knows where";
    if (command.defines) return "it defines a function";
    if (HasWord("trap hash enable alias unalias shopt bind complete fc exec", program))
      return "it changes what names mean";
    for (const ShellAssignment& assignment : command.assignments) {
      const bool divides = assignment.name == "IFS" && program == "read";
      if (!divides && !IsPlainAssignment(assignment))
        return fmt::format("it sets {}", assignment.name.empty() ? "a variable" : assignment.name);
    }
    return WritesAside(command) ? "its output goes to a file that may not be written" : "";
  }

  [[nodiscard]] bool WritesAside(const ShellCommand& command) const {
    return std::ranges::any_of(command.redirects, [&](const ShellRedirect& redirect) {
      if (redirect.kind != ShellRedirect::Kind::kOverwrite &&
          redirect.kind != ShellRedirect::Kind::kAppend)
        return false;
      if (!redirect.target.known()) return true;
      if (IsSink(redirect.target.text)) return false;
      if (redirect.target.text.starts_with("/dev/")) return true;  // A connection, or a device.
      return !std::ranges::all_of(command.loses, bounds_.may_write) ||
             !std::ranges::all_of(command.writes, bounds_.may_write);
    });
  }

  /// The rules that cover a part are added to `out`.
  bool Cover(std::size_t part, Combined& out) {
    const ShellCommand& command = line_.commands[part];
    if (!WritesByRedirection(command)) return CoverAs(line_, part, out);
    // The output is looked at on its own; the command as it is without.
    if (!std::ranges::all_of(command.words, &ShellWord::known)) return false;
    ShellAnalysis plain = line_;
    ShellCommand& without = plain.commands[part];
    std::erase_if(without.redirects, [](const ShellRedirect& redirect) {
      return redirect.kind == ShellRedirect::Kind::kOverwrite ||
             redirect.kind == ShellRedirect::Kind::kAppend;
    });
    without.reads.clear();
    without.writes.clear();
    without.loses.clear();
    JudgeCommand(without, line_.place);
    return NeedsNoRule(plain, part) || CoverAs(plain, part, out);
  }

  bool CoverAs(const ShellAnalysis& analysis, std::size_t part, Combined& out) {
    bool covered = false;
    for (std::size_t rule = 0; rule < specifiers_.size(); ++rule) {
      if (!CoversByRule(rule, analysis, part)) continue;
      if (!MayBeFed(rule, part)) {
        Say(out, part, "its input comes from what its rule does not cover");
        continue;
      }
      covered = true;
      if (std::ranges::find(out.rules, rule) == out.rules.end()) out.rules.push_back(rule);
      break;
    }
    return covered;
  }

  [[nodiscard]] bool CoversByRule(std::size_t rule, const ShellAnalysis& analysis,
                                  std::size_t part) const {
    return specifiers_[rule].empty() || ShellCoversPart(specifiers_[rule], analysis, part);
  }

  /// What does more than read may obey or send what it is sent.
  [[nodiscard]] bool MayBeFed(std::size_t rule, std::size_t part) const {
    const ShellCommand& command = line_.commands[part];
    if (specifiers_[rule].empty()) return true;
    // A wrapper only hands it on; what it starts is looked at itself.
    if (command.effect == ShellEffect::kReadOnly && !StartsByInput(command)) return true;
    const bool substituted = std::ranges::any_of(
        command.words, [](const ShellWord& word) { return word.text.contains("/dev/fd/63"); });
    if (substituted) return false;
    // What is started for each file that is found, or for each line, as well.
    const auto starter = static_cast<std::size_t>(std::max(command.wrapper, 0));
    if (command.wrapper >= 0 && !IsTransparent(ProgramName(line_.commands[starter])) &&
        !CoversByRule(rule, line_, starter))
      return false;
    for (int i = command.fed_from; i < command.fed_to; ++i) {
      const auto feeder = static_cast<std::size_t>(i);
      if (!NeedsNoRule(line_, feeder) && !CoversByRule(rule, line_, feeder)) return false;
    }
    return true;
  }

  static bool StartsByInput(const ShellCommand& command) {
    return command.wraps &&
           HasWord("xargs gxargs parallel sh bash dash zsh ksh ash su", ProgramName(command));
  }

  std::span<const std::string_view> specifiers_;
  const ShellAnalysis& line_;
  const CombineBounds& bounds_;
  std::string reading_;
};

}  // namespace

Combined CombineRules(std::span<const std::string_view> specifiers, const ShellAnalysis& analysis,
                      const CombineBounds& bounds) {
  return RuleCombiner(specifiers, analysis, bounds).Combine();
}

}  // namespace stet::policy
