#include "config/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/beneath.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "config/toml.h"
#include "json/view.h"

namespace stet::config {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20;

/// The file's own sections, before what is open in them is looked at.
struct FileSettings {
  STET_FIELDS(FileSettings,
              (OptionalRaw, model),
              (OptionalRaw, models),
              (OptionalRaw, instructions),
              (OptionalRaw, tools),
              (OptionalRaw, policy),
              (OptionalRaw, sandbox),
              (OptionalRaw, undo),
              (OptionalRaw, context),
              (OptionalRaw, hooks),
              (OptionalRaw, extensions),
              (OptionalRaw, log),
              (OptionalRaw, ui),
              (OptionalRaw, host))
};

class Reader {
 public:
  Reader(const TomlText& toml, std::string_view name) : toml_(toml), name_(name) {}

  Result<Settings> Read();
  /// [policy] alone.
  Result<PolicySettings> ReadPolicy() {
    const JsonView policy = JsonView(toml_.json)["policy"];
    if (policy.text().empty()) return PolicySettings();
    return Table<PolicySettings>(policy.text(), "policy");
  }

 private:
  /// Decodes the table at `key`; every key in it must be one of T's.
  template <Described T>
  Result<T> Table(std::string_view json, const std::string& key);
  template <Described T>
  Status NoStrangers(const T& object, const std::string& key) const;

  template <Described T>
  Status ReadSection(const OptionalRaw& section, const std::string& key, T& out) {
    if (!section) return {};
    ASSIGN_OR_RETURN(out, Table<T>(section->text, key));
    return {};
  }
  Status ReadModel(std::string_view json, Settings& settings);
  Status ReadModels(std::string_view json, Settings& settings);
  Status ReadRoles(std::string_view json, Settings& settings);
  Status ReadSandbox(const OptionalRaw& section, Settings& settings);
  Status ReadContext(const OptionalRaw& section, Settings& settings);
  Status ReadHookList(const OptionalRaw& section, Settings& settings);

  [[nodiscard]] Status MustBeTable(std::string_view json, const std::string& key) const {
    if (JsonView(json).is_object()) return {};
    return std::unexpected(At(key, key + " must be a table"));
  }
  [[nodiscard]] Error At(const std::string& key, std::string_view what) const {
    return {Code::kInvalid, fmt::format("{}:{}: {}", name_, toml_.LineOf(key), what)};
  }
  [[nodiscard]] Error Stranger(const std::string& key) const {
    return At(key, fmt::format("Unsupported config key: {}", key));
  }

  const TomlText& toml_;
  std::string_view name_;
};

/// Calls `use(key, raw value)` for each member; stops at the first error.
template <class Use>
Status ForEachMember(std::string_view json, Use use) {
  JsonReader reader(json);
  if (!reader.EnterObject()) return {};
  std::string_view key;
  while (reader.NextMember(&key)) {
    const std::string name(key);
    std::string_view raw;
    if (!reader.Skip(&raw)) return std::unexpected(reader.error());
    RETURN_IF_ERROR(use(name, raw));
  }
  return {};
}

std::string FirstKey(const std::string& extra) {
  std::string found;
  (void)ForEachMember("{" + extra + "}", [&](const std::string& key, std::string_view) -> Status {
    if (found.empty()) found = key;
    return {};
  });
  return found;
}

template <Described T>
Status Reader::NoStrangers(const T& object, const std::string& key) const {
  if (!object.extra.empty())
    return std::unexpected(Stranger((key.empty() ? "" : key + ".") + FirstKey(object.extra)));
  Status status;
  const auto look = [&](const auto& field) {
    const auto& value = object.*field.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    if constexpr (kIsOptional<Type>) {
      if constexpr (Described<typename Type::value_type>) {
        if (status && value)
          status = NoStrangers(*value, fmt::format("{}.{}", key, field.name.bare()));
      }
    }
  };
  std::apply([&](const auto&... field) { (look(field), ...); }, T::Fields());
  return status;
}

template <Described T>
Result<T> Reader::Table(std::string_view json, const std::string& key) {
  RETURN_IF_ERROR(MustBeTable(json, key));
  // Members one by one, so that a wrong value is named by its key.
  T object;
  std::uint64_t seen = 0;
  RETURN_IF_ERROR(ForEachMember(json, [&](const std::string& name, std::string_view raw) -> Status {
    const std::string path = key.empty() ? name : key + "." + name;
    JsonReader reader(raw);
    const Took took = TakeMember(reader, name, object, seen);
    if (took == Took::kFailed)
      return std::unexpected(At(path, fmt::format("{} has a value of the wrong kind", path)));
    if (took == Took::kNo) return std::unexpected(Stranger(path));
    return {};
  }));
  RETURN_IF_ERROR(NoStrangers(object, key));
  return object;
}

Status Reader::ReadRoles(std::string_view json, Settings& settings) {
  RETURN_IF_ERROR(MustBeTable(json, "model.roles"));
  return ForEachMember(json, [&](const std::string& role, std::string_view raw) -> Status {
    const std::string key = "model.roles." + role;
    if (std::ranges::find(kRoles, role) == std::end(kRoles)) return std::unexpected(Stranger(key));
    const JsonView value(raw);
    if (!value.is_string()) {
      ASSIGN_OR_RETURN(settings.roles[role], Table<ModelSettings>(raw, key));
      return {};
    }
    const auto named = settings.models.find(value.StringOr(""));
    if (named == settings.models.end())
      return std::unexpected(
          At(key, fmt::format("{} names the model {}, but there is no [models.{}]", key, raw,
                              value.StringOr(""))));
    settings.roles[role] = named->second;
    return {};
  });
}

Status Reader::ReadModel(std::string_view json, Settings& settings) {
  RETURN_IF_ERROR(MustBeTable(json, "model"));
  std::string rest = "{";  // [model] without its roles.
  std::string_view roles;
  RETURN_IF_ERROR(ForEachMember(json, [&](const std::string& key, std::string_view raw) -> Status {
    if (key == "roles") {
      roles = raw;
      return {};
    }
    if (rest.size() > 1) rest += ',';
    AppendJsonString(rest, key);
    (rest += ':') += raw;
    return {};
  }));
  rest += '}';
  if (rest != "{}") {
    ASSIGN_OR_RETURN(settings.model, Table<ModelSettings>(rest, "model"));
  }
  return roles.empty() ? Status() : ReadRoles(roles, settings);
}

Status Reader::ReadModels(std::string_view json, Settings& settings) {
  RETURN_IF_ERROR(MustBeTable(json, "models"));
  return ForEachMember(json, [&](const std::string& name, std::string_view raw) -> Status {
    ASSIGN_OR_RETURN(settings.models[name], Table<ModelSettings>(raw, "models." + name));
    return {};
  });
}

Status Reader::ReadContext(const OptionalRaw& section, Settings& settings) {
  RETURN_IF_ERROR(ReadSection(section, "context", settings.context));
  if (settings.context.result_budget.value_or(1) <= 0)
    return std::unexpected(At("context.resultBudget", "context.resultBudget must be positive"));
  if (!settings.context.threshold) return {};
  const std::string& text = settings.context.threshold->text;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kLeast = 0.1;
  constexpr double kMost = 0.95;
  if (error != std::errc() || end != text.data() + text.size() || number < kLeast || number > kMost)
    return std::unexpected(
        At("context.threshold", "context.threshold must be a number from 0.1 to 0.95"));
  settings.threshold_permille = std::llround(number * 1000);
  return {};
}

Status Reader::ReadSandbox(const OptionalRaw& section, Settings& settings) {
  SandboxSettings& sandbox = settings.sandbox;
  RETURN_IF_ERROR(ReadSection(section, "sandbox", sandbox));
  const std::string network = sandbox.network.value_or("open");
  if (network != "off" && network != "loopback" && network != "hosts" && network != "open")
    return std::unexpected(
        At("sandbox.network", "sandbox.network must be off, loopback, hosts or open"));
  for (const std::string& path : sandbox.write.value_or(std::vector<std::string>())) {
    if (!path.starts_with('/') && !path.starts_with("~/"))
      return std::unexpected(
          At("sandbox.write", "sandbox.write must have paths that begin with / or ~/"));
  }
  return {};
}

Status Reader::ReadHookList(const OptionalRaw& section, Settings& settings) {
  if (!section) return {};
  Result<HookList> hooks = ReadHooks(section->text);
  if (!hooks) return std::unexpected(At(hooks.error().context, hooks.error().message));
  settings.hooks = *std::move(hooks);
  for (HookSettings& hook : settings.hooks) hook.line = toml_.LineOf("hooks." + hook.event);
  return {};
}

Result<Settings> Reader::Read() {
  ASSIGN_OR_RETURN(const FileSettings file, Table<FileSettings>(toml_.json, ""));
  Settings settings;
  if (file.models) RETURN_IF_ERROR(ReadModels(file.models->text, settings));
  if (file.model) RETURN_IF_ERROR(ReadModel(file.model->text, settings));
  RETURN_IF_ERROR(ReadSection(file.instructions, "instructions", settings.instructions));
  RETURN_IF_ERROR(ReadSection(file.tools, "tools", settings.tools));
  RETURN_IF_ERROR(ReadSection(file.policy, "policy", settings.policy));
  RETURN_IF_ERROR(ReadSandbox(file.sandbox, settings));
  RETURN_IF_ERROR(ReadSection(file.undo, "undo", settings.undo));
  RETURN_IF_ERROR(ReadContext(file.context, settings));
  RETURN_IF_ERROR(ReadHookList(file.hooks, settings));
  RETURN_IF_ERROR(ReadSection(file.extensions, "extensions", settings.extensions));
  RETURN_IF_ERROR(ReadSection(file.log, "log", settings.log));
  RETURN_IF_ERROR(ReadSection(file.ui, "ui", settings.ui));
  RETURN_IF_ERROR(ReadSection(file.host, "host", settings.host));
  const std::string join = settings.host.join.value_or("auto");
  if (join != "auto" && join != "running" && join != "never")
    return std::unexpected(At("host.join", "host.join must be auto, running or never"));
  const std::string durability = settings.log.durability.value_or("strict");
  if (durability != "strict" && durability != "relaxed")
    return std::unexpected(At("log.durability", "log.durability must be strict or relaxed"));
  return settings;
}

}  // namespace

Result<Settings> ParseSettings(std::string_view toml, std::string_view name) {
  if (!IsValidUtf8(toml)) return Fail(Code::kInvalid, fmt::format("{} is not UTF-8", name));
  ASSIGN_OR_RETURN(const TomlText text, ReadToml(toml, name));
  return Reader(text, name).Read();
}

Result<Settings> ReadSettings(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxFile);
  if (!text && text.error().code == Code::kNotFound) return Settings();
  if (!text) return std::unexpected(text.error());
  return ParseSettings(*text, path);
}

/// Nothing that a link brings from outside of the project.
static Result<std::string> ReadOfProject(const std::string& path) {
  return ReadWithin(ParentDir(ParentDir(path)), path, kMaxFile);
}

Result<PolicySettings> ReadProjectRules(const std::string& path) {
  const Result<std::string> text = ReadOfProject(path);
  if (!text && text.error().code == Code::kNotFound) return PolicySettings();
  if (!text) return std::unexpected(text.error());
  if (!IsValidUtf8(*text)) return Fail(Code::kInvalid, fmt::format("{} is not UTF-8", path));
  ASSIGN_OR_RETURN(const TomlText toml, ReadToml(*text, path));
  ASSIGN_OR_RETURN(PolicySettings policy, Reader(toml, path).ReadPolicy());
  policy.mode.reset();
  policy.allow.reset();
  return policy;
}

Result<Settings> ReadProjectSettings(const std::string& path) {
  const Result<std::string> text = ReadOfProject(path);
  if (!text && text.error().code == Code::kNotFound) return Settings();
  if (!text) return std::unexpected(text.error());
  ASSIGN_OR_RETURN(Settings settings, ParseSettings(*text, path));
  ASSIGN_OR_RETURN(const TomlText toml, ReadToml(*text, path));
  for (const char* section : {"log", "ui", "host", "undo"}) {
    if (JsonView(toml.json)[section].is_object())
      return Fail(Code::kInvalid,
                  fmt::format("{}:{}: [{}] is for the user's own file, not for a project's", path,
                              toml.LineOf(section), section));
  }
  return settings;
}

Result<std::vector<std::pair<std::string, std::string>>> TextTable(const Raw& table) {
  std::vector<std::pair<std::string, std::string>> out;
  RETURN_IF_ERROR(
      ForEachMember(table.text, [&](const std::string& key, std::string_view raw) -> Status {
        const std::optional<std::string> text = JsonView(raw).String();
        if (!text) return Fail(Code::kInvalid, fmt::format("{} must be a text", key));
        out.emplace_back(key, *text);
        return {};
      }));
  return out;
}

}  // namespace stet::config
