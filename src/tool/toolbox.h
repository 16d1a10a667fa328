// Toolbox: the one assembler of a session's tools. Sources (built-in tools, extensions) bring
// tools; a selection leaves out what the session shall not have; what remains is the registry, and
// what a model would be shown of it now is a toolset.
//
// A toolset that was frozen earlier may name tools that are not here any more, and not name some
// that are: those wait in the box until the toolset is replaced. Owns the tools. Belongs to one
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tool/registry.h"
#include "tool/toolset.h"

namespace stet::tool {

/// A window of so few tokens has no room for the descriptions of all tools.
[[nodiscard]] bool IsSmallWindow(std::int64_t context_window);

struct ToolSource {
  std::string name;  // For notes: "an extension".
  std::vector<std::unique_ptr<Tool>> tools;
  /// In a small window only the few most useful of them are shown.
  bool trimmed = false;
  /// An option of the user's asks for them: the selection leaves none of them out.
  bool asked = false;
};

/// What the user's option says instead of names, to have all tools again.
inline constexpr std::string_view kAllTools = "default";

/// Which tools a session has.
struct Selection {
  /// The user's option: names, or kAllTools for all. Absent: it was not given, so all.
  std::optional<std::vector<std::string>> only;
  std::vector<std::string> disabled;  // By the configuration.
};

class Toolbox {
 public:
  explicit Toolbox(Selection selection = {}) : selection_(std::move(selection)) {}

  /// A tool that cannot be used, or whose name is taken by an earlier source, is left out with a
  /// note. Fails only for a source that was asked for: kConflict, kInvalid or kUnsupported.
  Status Add(ToolSource source);
  /// The user's option, given now or, by Restrict, earlier.
  [[nodiscard]] const std::optional<std::vector<std::string>>& only() const {
    return selection_.only;
  }
  /// What the option said when it was given earlier; one that is given now counts instead. Before
  /// sources are added.
  void Restrict(const std::vector<std::string>& only);
  /// kInvalid, with the names that there are, when the option names what is no tool here or in
  /// `frozen`. When all sources have been added.
  Status CheckOption(const Toolset& frozen);
  /// What was left out, and why, for people.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// What a model would be shown now, by name: the same tools always give the same bytes.
  [[nodiscard]] Toolset Assemble(bool small_window) const;

  /// Whether the user's options ask for other tools than `frozen` has. A tool that is not here any
  /// more is no reason, nor is one that the options do not speak of.
  [[nodiscard]] bool OptionsDiffer(bool small_window, const Toolset& frozen) const;

  /// Null when the model does not see it, or when it is not here any more.
  [[nodiscard]] Tool* Find(const Toolset& frozen, std::string_view name) const;
  /// Whether a call can be tried: it fits what was shown, the tool is here, and its own schema fits
  /// as well. Every error is for the model; kUnavailable: the tool is not here any more.
  [[nodiscard]] Status Check(const Toolset& frozen, std::string_view name, const Raw& args) const;

  /// Names of all tools that were brought, selected or not.
  [[nodiscard]] const std::vector<std::string>& known() const { return known_; }

 private:
  [[nodiscard]] bool Selects(std::string_view name) const;

  Selection selection_;
  bool remembered_ = false;  // The user's option was given earlier, not now.
  Registry registry_;
  std::vector<std::string> trimmed_;  // Names of tools that small windows are not shown.
  std::vector<std::string> known_;    // Names of all tools that were brought, selected or not.
  std::vector<std::string> notes_;
};

}  // namespace stet::tool
