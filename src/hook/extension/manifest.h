// ExtensionManifest: extensions/<id>/extension.toml as data: what an extension is, and what it
// registers (doc/format/extensions.md). Read, nothing of it is run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::hook {

/// What an extension can have a say in.
namespace intercept {
inline constexpr std::string_view kBeforeToolCall = "beforeToolCall";
inline constexpr std::string_view kAfterToolCall = "afterToolCall";
inline constexpr std::string_view kTransformContext = "transformContext";
inline constexpr std::string_view kConvertToLlm = "convertToLlm";
}  // namespace intercept

struct ExtensionTool {
  std::string name;
  std::string description;
  std::string schema;  // JSON Schema of an object, as text.
};

struct ExtensionCommand {
  std::string name;  // Small letters: /name.
  std::string description;
};

struct ExtensionManifest {
  std::string id;
  std::string name;
  std::string version;
  std::vector<std::string> command;  // The program, and its arguments; run in `folder`.
  std::int64_t timeout = 10;         // Seconds that it has for an answer.
  bool fail_closed = false;          // If it cannot be asked, the action does not happen.
  std::vector<ExtensionTool> tools;
  std::vector<ExtensionCommand> commands;
  std::vector<std::string> events;      // That it wants to hear of; "*": every event of the log.
  std::vector<std::string> intercepts;  // Of intercept::.
  std::string folder;                   // Where its manifest is.

  [[nodiscard]] bool Intercepts(std::string_view what) const;
  [[nodiscard]] bool Hears(std::string_view event) const;
};

/// `name` is what messages call the text. kInvalid names the key that is wrong.
Result<ExtensionManifest> ParseManifest(std::string_view toml, std::string_view name);

struct FoundExtensions {
  std::vector<ExtensionManifest> manifests;  // In the order of their ids.
  std::vector<std::string> problems;         // For people: those that cannot be used, and why.
};

/// Looks into each folder for <id>/extension.toml; of the same id the later folder's counts.
/// `disabled` are ids that do not count. A folder that is not there has none.
FoundExtensions FindExtensions(const std::vector<std::string>& folders,
                               const std::vector<std::string>& disabled);

}  // namespace stet::hook
