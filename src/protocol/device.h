// What clients ask about a device and its configuration, and what they are told: plain data, the
// same in `--json` output and on the wire.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

/// What a face for people goes by.
struct FaceSettings {
  STET_FIELDS(FaceSettings,
              (Text, history_file),  // What was written at prompts; the face's own.
              (Text, transcripts),  // A folder: the ends of sessions that were attached to.
              (Text, device_id),
              (std::int64_t, bell_after_ms))  // A turn at least this long ends with a bell.
};

/// A setting as it is in force.
struct SettingRow {
  STET_FIELDS(SettingRow,
              (Text, key),  // "model.provider"
              (Text, value),  // As JSON.
              (Text, source))  // "default", or the file and line.
};
using SettingRows = std::vector<SettingRow>;

struct ConfigReport {
  STET_FIELDS(ConfigReport,
              (Text, path),
              (bool, exists),
              (SettingRows, settings))
};

/// A hook that is configured.
struct HookRow {
  STET_FIELDS(HookRow,
              (Text, event),
              (Text, matcher),  // Empty: every one.
              (Text, type),  // command, http, prompt
              (Text, what),  // The command, the address or the prompt.
              (std::int64_t, timeout),  // Seconds; 0: the default.
              (Text, source),  // The file and line.
              (bool, active))  // False: of a project that is not trusted.
};
using HookRows = std::vector<HookRow>;
struct HookReport {
  STET_FIELDS(HookReport, (HookRows, hooks))
};

/// An extension that is there, or a manifest that is wrong.
struct ExtensionRow {
  STET_FIELDS(ExtensionRow,
              (Text, id),
              (Text, name),
              (Text, version),
              (Text, source),  // The folder of its manifest.
              (bool, trusted),  // The user's always are.
              (bool, disabled),  // By the configuration.
              (bool, active),  // It runs in sessions here.
              (Texts, tools),
              (Texts, commands),
              (Texts, events),  // That it hears of.
              (Texts, intercepts),  // What it has a say in.
              (OptionalText, problem))  // Why it cannot be used; all else may be empty then.
};
using ExtensionRows = std::vector<ExtensionRow>;
struct ExtensionReport {
  STET_FIELDS(ExtensionReport, (ExtensionRows, extensions))
};

/// The model that is to be used when no other is asked for.
struct ModelChoice {
  STET_FIELDS(ModelChoice,
              (Text, provider),
              (Text, id),
              (OptionalText, api_key_env))  // When it is not the provider's own.
};

struct CheckRow {
  STET_FIELDS(CheckRow,
              (Text, name),
              (Text, verdict),  // ok, warn, fail
              (Text, found),
              (OptionalText, advice))  // What to do about it.
};
using CheckRows = std::vector<CheckRow>;

/// Something that a project brings and that acts: it does so only when it is trusted.
struct TrustRow {
  STET_FIELDS(TrustRow,
              (Text, part),  // config, model, hooks, extensions, mcp or git
              (Text, what),  // Where it stands; empty: there is none.
              (bool, trusted))
};
using TrustRows = std::vector<TrustRow>;

struct TrustReport {
  STET_FIELDS(TrustReport,
              (Text, project),
              (Text, fingerprint),  // Of the files as they are.
              (bool, changed),  // They are not as they were when they were trusted.
              (TrustRows, parts))
};

/// What is in the vault; the values stay there.
struct VaultReport {
  STET_FIELDS(VaultReport,
              (Texts, names),
              (Text, key_place))  // Where the key of the seal is: the keyring, or a file.
};

struct DoctorReport {
  STET_FIELDS(DoctorReport, (Text, version), (bool, ok), (CheckRows, checks))
};

/// A command that is to run in the sandbox of the current folder's project.
struct SandboxRun {
  STET_FIELDS(SandboxRun,
              (Text, box),  // "auto", or, for less, "edits" or "reads".
              (OptionalText, network),  // Instead of the configuration's; in "auto" only.
              (Texts, write),  // More folders that it may write.
              (Texts, command))
};

struct SandboxEnd {
  STET_FIELDS(SandboxEnd,
              (std::int64_t, exit_code),  // 128 and the signal when one ended it.
              (Text, mechanism),
              (Texts, refused_hosts))
};

}  // namespace stet::protocol
