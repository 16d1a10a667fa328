#include "tool/toolbox.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/builtin.h"

namespace stet::tool {
namespace {

constexpr std::int64_t kSmallWindow = 16'000;
constexpr std::array<std::string_view, 5> kFew = {"Bash", "Edit", "Grep", "Read", "Write"};

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool OptionAsks(const std::vector<std::string>& only, std::string_view name) {
  return Contains(only, name) || Contains(only, kAllTools);
}

}  // namespace

bool IsSmallWindow(std::int64_t context_window) {
  return context_window > 0 && context_window < kSmallWindow;
}

bool Toolbox::Selects(std::string_view name) const {
  if (Contains(selection_.disabled, name)) return false;
  return !selection_.only || OptionAsks(*selection_.only, name);
}

void Toolbox::Restrict(const std::vector<std::string>& only) {
  if (selection_.only) return;
  selection_.only = only;
  remembered_ = true;
}

Status Toolbox::CheckOption(const Toolset& frozen) {
  if (!selection_.only || selection_.only->empty()) return {};
  std::vector<std::string> missing;
  for (const std::string& name : *selection_.only) {
    if (name != kAllTools && !Contains(known_, name) && frozen.Find(name) == nullptr)
      missing.push_back(name);
  }
  if (missing.empty()) return {};
  return Fail(Code::kInvalid,
              fmt::format("--tools: there is no tool named {}. There are: {}; {} means all",
                          fmt::join(missing, ", "), fmt::join(known_, ", "), kAllTools));
}

Status Toolbox::Add(ToolSource source) {
  for (std::unique_ptr<Tool>& tool : source.tools) {
    const std::string name(tool->name());
    if (!source.asked) known_.push_back(name);
    if (!source.asked && !Selects(name)) continue;
    if (Status added = registry_.Add(std::move(tool)); !added) {
      if (source.asked) return added;
      notes_.push_back(fmt::format("the tool {} of {} is left out: {}", name, source.name,
                                   added.error().message));
      continue;
    }
    if (source.trimmed && std::ranges::find(kFew, name) == kFew.end()) trimmed_.push_back(name);
  }
  return {};
}

Toolset Toolbox::Assemble(bool small_window) const {
  protocol::ToolSpecs specs = registry_.Specs();
  if (small_window)
    std::erase_if(specs,
                  [&](const protocol::ToolSpec& spec) { return Contains(trimmed_, spec.name); });
  return Toolset(std::move(specs));
}

bool Toolbox::OptionsDiffer(bool small_window, const Toolset& frozen) const {
  const Toolset now = Assemble(small_window);
  // How the answer is wanted is an option of this opening: it comes and goes with its tool.
  const protocol::ToolSpec* wanted = now.Find(kStructuredOutput);
  const protocol::ToolSpec* shown = frozen.Find(kStructuredOutput);
  if ((wanted == nullptr) != (shown == nullptr)) return true;
  if (wanted != nullptr && *wanted != *shown) return true;
  if (!selection_.only || remembered_) return false;
  const auto is_shown = [&](const protocol::ToolSpec& spec) {
    return frozen.Find(spec.name) != nullptr;
  };
  const auto is_wanted = [&](const protocol::ToolSpec& spec) {
    if (now.Find(spec.name) != nullptr) return true;
    return OptionAsks(*selection_.only, spec.name) && registry_.Find(spec.name) == nullptr;
  };
  return !std::ranges::all_of(now.specs(), is_shown) ||
         !std::ranges::all_of(frozen.specs(), is_wanted);
}

Tool* Toolbox::Find(const Toolset& frozen, std::string_view name) const {
  return frozen.Find(name) == nullptr ? nullptr : registry_.Find(name);
}

Status Toolbox::Check(const Toolset& frozen, std::string_view name, const Raw& args) const {
  const protocol::ToolSpec* shown = frozen.Find(name);
  const Tool* tool = registry_.Find(name);
  if (shown != nullptr && tool == nullptr)
    return Fail(Code::kUnavailable,
                fmt::format("The tool {} is not available any more: it was removed or turned off "
                            "since this session began. Nothing was run. Do without it.",
                            name));
  RETURN_IF_ERROR(frozen.Check(name, args));
  return shown->schema.text == tool->schema() ? Status() : registry_.Check(name, args);
}

}  // namespace stet::tool
