#include "device/rules.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fs.h"
#include "device/model_access.h"

namespace stet::device {
namespace {

using policy::Mode;
using policy::Rule;
using policy::Source;

constexpr std::size_t kMaxIgnoreFile = std::size_t{1} << 20;

/// Adds what one source says.
class Collector {
 public:
  explicit Collector(policy::Rules& rules) : rules_(rules) {}

  Status Add(const config::PolicySettings& said, Source source) {
    RETURN_IF_ERROR(Add(said.allow, source, rules_.allow));
    RETURN_IF_ERROR(Add(said.ask, source, rules_.ask));
    RETURN_IF_ERROR(Add(said.deny, source, rules_.deny));
    return Add(said.hard, source, rules_.hard);
  }

  static Status Add(std::string_view text, Source source, std::vector<Rule>& to) {
    ASSIGN_OR_RETURN(std::vector<Rule> rules, policy::ParseRules(text, source));
    to.insert(to.end(), rules.begin(), rules.end());
    return {};
  }

  /// When all have spoken.
  void Exclude(std::string patterns) {
    rules_.exclude = std::make_shared<const IgnoreFile>(patterns);
    const policy::Places places{.project = rules_.project, .home = rules_.home};
    for (const auto* rules : {&rules_.deny, &rules_.hard}) {
      for (const Rule& rule : *rules) {
        std::optional<policy::ForbiddenFiles> files = policy::ForbiddenBy(rule, places);
        if (!files) continue;
        if (files->reading && files->folder == rules_.project)
          (patterns += files->pattern) += '\n';
        else
          rules_.forbidden.push_back(*std::move(files));
      }
    }
    rules_.unsearched = std::make_shared<const IgnoreFile>(patterns);
  }

 private:
  static Status Add(const config::Names& names, Source source, std::vector<Rule>& to) {
    for (const std::string& name : names.value_or(std::vector<std::string>()))
      RETURN_IF_ERROR(Add(std::string_view(name), source, to));
    return {};
  }

  policy::Rules& rules_;
};

/// A file that we keep grants in: each is one exact rule.
Status AddGrants(const std::string& path, Source source, std::vector<Rule>& to) {
  ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(path));
  for (const std::string& text : settings.policy.allow.value_or(std::vector<std::string>()))
    to.push_back(policy::GrantFrom(text, source));
  return {};
}

bool IsContained() {
  return !ProcessEnvironment("STET_IN_SANDBOX").empty() ||
         !ProcessEnvironment("IS_SANDBOX").empty();
}

/// The mode that the client asks for, else the session's, else the configuration's. Bypass must be
/// asked for by the client: no file and no earlier session can turn it on.
Result<Mode> ModeOf(const RuleSources& sources) {
  std::string name = sources.attach.mode;
  if (name.empty()) name = sources.kept_mode;
  if (name.empty()) name = sources.own.policy.mode.value_or("");
  if (name.empty()) name = sources.settings.policy.mode.value_or("default");
  const std::optional<Mode> mode = policy::ModeFrom(name);
  if (!mode)
    return Fail(Code::kInvalid,
                fmt::format("there is no permission mode {}: write default, acceptEdits, auto, "
                            "plan, dontAsk or bypass",
                            name));
  if (*mode != Mode::kBypass) return *mode;
  if (sources.attach.mode.empty()) return Mode::kDefault;
  RETURN_IF_ERROR(MayBypass());
  return *mode;
}

std::string RealOr(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

/// Adds a grant to a file of grants, or takes it out.
Status ChangeGrants(const std::string& rules_file, const std::string& rule, bool add) {
  ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(rules_file));
  std::vector<std::string> rules = settings.policy.allow.value_or(std::vector<std::string>());
  if ((std::ranges::find(rules, rule) != rules.end()) == add) return {};
  if (add)
    rules.push_back(rule);
  else
    std::erase(rules, rule);
  std::string text =
      "# What you have allowed for good; each is what was asked. Remove a line to be asked "
      "again.\n[policy]\nallow = [\n";
  for (const std::string& one : rules) {
    text += "  ";
    AppendJsonString(text, one);  // A JSON string is a basic string of TOML, too.
    text += ",\n";
  }
  text += "]\n";
  RETURN_IF_ERROR(MakeDirs(std::filesystem::path(rules_file).parent_path().string()));
  return ReplaceFile(rules_file, text, Durable::kYes);
}

}  // namespace

Result<policy::Rules> MakeRules(const RuleSources& sources) {
  policy::Rules rules;
  rules.project = sources.project;
  if (const std::string home = ProcessEnvironment("HOME"); !home.empty()) rules.home = RealOr(home);
  const config::Roots& roots = sources.roots;
  for (const std::string& path : {roots.sessions(), roots.trash(), roots.device(), roots.settings(),
                                  roots.rules(), roots.trust(), roots.diagnostics(),
                                  roots.config + "/projects", roots.config + "/extensions"})
    rules.own.push_back(RealOr(path));
  for (const std::string& path : {roots.vault(), roots.vault_key(), roots.device_key()})
    rules.sealed.push_back(RealOr(path));
  ASSIGN_OR_RETURN(rules.mode, ModeOf(sources));
  Collector collector(rules);
  ASSIGN_OR_RETURN(const config::Settings managed, config::ReadSettings(sources.managed));
  RETURN_IF_ERROR(collector.Add(managed.policy, Source::kManaged));
  RETURN_IF_ERROR(collector.Add(sources.settings.policy, Source::kUser));
  ASSIGN_OR_RETURN(const config::PolicySettings always,
                   config::ReadProjectRules(sources.project + "/.stet/config.toml"));
  RETURN_IF_ERROR(collector.Add(always, Source::kProject));
  config::PolicySettings trusted;
  trusted.allow = sources.own.policy.allow;
  RETURN_IF_ERROR(collector.Add(trusted, Source::kProject));
  RETURN_IF_ERROR(AddGrants(roots.rules(), Source::kUser, rules.allow));
  RETURN_IF_ERROR(AddGrants(roots.project_rules(sources.project), Source::kLocal, rules.allow));
  RETURN_IF_ERROR(
      Collector::Add(std::string_view(sources.attach.allowed), Source::kCommandLine, rules.allow));
  RETURN_IF_ERROR(Collector::Add(std::string_view(sources.attach.disallowed), Source::kCommandLine,
                                 rules.deny));
  ASSIGN_OR_RETURN(std::string patterns,
                   ExcludedPatterns({&managed, &sources.settings}, sources.project));
  collector.Exclude(std::move(patterns));
  for (const std::string& folder : sources.attach.add_dirs) {
    std::error_code error;
    rules.more_roots.push_back(std::filesystem::canonical(folder, error));
    if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", folder));
  }
  return rules;
}

Result<std::string> ExcludedPatterns(const std::vector<const config::Settings*>& settings,
                                     const std::string& project) {
  std::string patterns;
  const auto add = [&](const config::Names& lines) {
    for (const std::string& line : lines.value_or(std::vector<std::string>()))
      (patterns += line) += '\n';
  };
  for (const config::Settings* one : settings) add(one->policy.exclude);
  ASSIGN_OR_RETURN(const config::PolicySettings own,
                   config::ReadProjectRules(project + "/.stet/config.toml"));
  add(own.exclude);
  const Result<std::string> ignored = ReadWithin(project, project + "/.stetignore", kMaxIgnoreFile);
  if (ignored) return patterns + *ignored + '\n';
  // A .stetignore that cannot be read fails: else what it excludes would be shown.
  if (ignored.error().code != Code::kNotFound) return std::unexpected(ignored.error());
  return patterns;
}

Status MayBypass() {
  if (::geteuid() != 0 || IsContained()) return {};
  return Fail(Code::kUnsupported,
              "the mode bypass lets everything happen, and as root that is everything: use another "
              "user or mode; inside a container say so with STET_IN_SANDBOX=1");
}

agent::KeptRules KeptRulesOf(const config::Roots& roots, const std::string& project) {
  const std::string always = roots.rules();
  const std::string here = roots.project_rules(project);
  agent::KeptRules kept;
  kept.keep = [always, here](const std::string& scope, const std::string& rule) {
    return ChangeGrants(scope == "project" ? here : always, rule, true);
  };
  kept.forget = [always, here](const std::string& rule) -> Status {
    RETURN_IF_ERROR(ChangeGrants(here, rule, false));
    return ChangeGrants(always, rule, false);
  };
  kept.file = [always, here, settings = roots.settings(),
               own = project + "/.stet/config.toml"](const policy::Rule& rule) -> std::string {
    switch (rule.source) {
      case Source::kLocal: return here;
      case Source::kUser: return rule.exact ? always : settings;
      case Source::kProject: return own;
      case Source::kManaged: return std::string(config::kManagedSettings);
      case Source::kCommandLine:
      case Source::kSession: return "";
    }
    return "";
  };
  return kept;
}

}  // namespace stet::device
