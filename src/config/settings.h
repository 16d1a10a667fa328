// Settings: the configuration file as data. The structs below are the schema: a key is one line in
// one of them, spelt in camelCase in the file; any other key is an error that names it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hook_settings.h"
#include "json/describe.h"

namespace stet::config {

using Text = std::optional<std::string>;
using Int = std::optional<std::int64_t>;
using Flag = std::optional<bool>;

struct ClockSettings {
  STET_FIELDS(ClockSettings,
              (Int, connect_ms),
              (Int, first_byte_ms),
              (Int, idle_warn_ms),
              (Int, idle_fail_ms),
              (Int, whole_ms))
};

struct RetrySettings {
  STET_FIELDS(RetrySettings,
              (Int, max_tries),
              (Int, first_wait_ms),
              (Int, longest_wait_ms),
              (Int, longest_asked_wait_ms),
              (Int, overloads_before_fallback))
};

using OptionalClocks = std::optional<ClockSettings>;
using OptionalRetry = std::optional<RetrySettings>;
using OptionalRaw = std::optional<Raw>;

/// A model: [model], [models.NAME], or a role's own table.
struct ModelSettings {
  STET_FIELDS(ModelSettings,
              (Text, type),  // builtin or custom
              (Text, provider),
              (Text, id),
              (Text, api),  // A dialect; only for custom ones.
              (Text, base_url),
              (Text, api_key_env),
              (Text, api_key_vault),  // The name of a secret in the vault.
              (Int, context_window),
              (Int, max_tokens),
              (Flag, reasoning),
              (Flag, images),
              (Text, effort),
              (OptionalRaw, headers),  // A table of texts.
              (OptionalClocks, clocks),
              (OptionalRetry, retry))
};

using Names = std::optional<std::vector<std::string>>;

/// [instructions]
struct InstructionSettings {
  STET_FIELDS(InstructionSettings, (Names, fallback))  // Read where a folder has no AGENTS.md.
};

/// [tools]
struct ToolSettings {
  STET_FIELDS(ToolSettings,
              (Names, disabled),
              (Flag, task_end_starts_turn),  // When a background command ends and no turn runs.
              (Names, private_hosts))  // WebFetch may ask them though they are not public.
};

/// [policy]
struct PolicySettings {
  STET_FIELDS(PolicySettings, (Text, mode), (Names, allow), (Names, ask), (Names, deny),
              (Names, exclude),  // What no tool reads or writes, as in a .gitignore.
              (Names, hard))  // What must never be done; a denial by it stays on record.
};

/// [sandbox]
struct SandboxSettings {
  STET_FIELDS(SandboxSettings,
              (Flag, enabled),  // Unset: in mode auto, where it can be enforced.
              (Flag, required),  // Without a sandbox that works no command runs.
              (Text, network),  // off, loopback, hosts or open
              (Names, hosts),
              (Names, write),  // More folders that commands may write: absolute, or from ~/
              (Int, cpu_seconds),
              (Int, memory_mb),
              (Int, processes),
              (Int, open_files),
              (Int, file_mb))
};

/// [undo]
struct UndoSettings {
  STET_FIELDS(UndoSettings,
              (Flag, enabled),  // Unset: yes.
              (Names, expendable))  // Folders that can be made again, where git ignores them.
};

/// [context]
struct ContextSettings {
  STET_FIELDS(ContextSettings,
              (Flag, auto_compact),  // Before the window is full.
              (OptionalRaw, threshold),  // Of the window: from here on. A number from 0.1 to 0.95.
              (Flag, session_memory),  // The auxiliary model keeps a summary up between turns.
              (Int, result_budget))  // Tokens that the results of one step may have.
};

/// [log]
struct LogSettings {
  STET_FIELDS(LogSettings, (Text, durability))  // strict or relaxed
};

/// [ui]
struct UiSettings {
  STET_FIELDS(UiSettings, (Int, bell_after_ms))  // A turn at least this long ends with a bell.
};

/// [extensions]
struct ExtensionSettings {
  STET_FIELDS(ExtensionSettings, (Names, disabled))  // Ids of those that are not started.
};

/// [host]
struct HostSettings {
  STET_FIELDS(HostSettings,
              (Text, join),  // auto (start or join the background host), running, never
              (Text, listen),  // "ADDRESS:PORT" beside the unix socket; unset: none
              (Names, origins),  // Of pages that may ask, beside the host's own.
              (Names, names),  // That it may be asked by, beside loopback's.
              (Text, certificate),  // PEM files, for TLS.
              (Text, key),
              (Int, sleep_after_ms))  // A session that rests this long is put to sleep.
};

struct Settings {
  InstructionSettings instructions;
  ToolSettings tools;
  PolicySettings policy;
  SandboxSettings sandbox;
  UndoSettings undo;
  ContextSettings context;
  std::int64_t threshold_permille = 800;  // context.threshold, read.
  LogSettings log;
  UiSettings ui;
  HostSettings host;
  HookList hooks;  // [hooks]
  ExtensionSettings extensions;
  std::optional<ModelSettings> model;           // [model]
  std::map<std::string, ModelSettings> models;  // [models.NAME]
  std::map<std::string, ModelSettings> roles;   // [model.roles] with the names resolved.
};

/// The roles that a model can have beside the one of [model].
inline constexpr std::string_view kRoles[] = {"standard", "auxiliary", "fallback"};

/// Reads TOML. kInvalid says where and what: "config.toml:3: Unsupported config key: model.foo".
/// `name` is what messages call the text.
Result<Settings> ParseSettings(std::string_view toml, std::string_view name);

/// The settings in the file; nothing is set when there is no file.
Result<Settings> ReadSettings(const std::string& path);

/// What holds of a project's own file before the project is trusted: its [policy] deny, ask, hard
/// and exclude; the rest of the file is not looked at.
Result<PolicySettings> ReadProjectRules(const std::string& path);

/// All of a trusted project's file. kInvalid as well for what is the device's own: [log], [ui] and
/// [host].
Result<Settings> ReadProjectSettings(const std::string& path);

/// The texts of a table such as `headers`.
Result<std::vector<std::pair<std::string, std::string>>> TextTable(const Raw& table);

}  // namespace stet::config
