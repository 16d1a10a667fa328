#include "policy/shell/shell.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "policy/shell/walk.h"

namespace stet::policy {
namespace {

/// Why a line is not even parsed; empty: it is.
std::string_view Unreadable(std::string_view line) {
  if (line.size() > kMaxShellBytes) return "it is longer than 64 KB";
  if (!IsValidUtf8(line)) return "it is not valid UTF-8";
  const bool controls = std::ranges::any_of(
      line, [](char c) { return (c >= 0 && c < ' ' && c != '\t' && c != '\n') || c == 0x7f; });
  return controls ? "it has control characters" : "";
}

}  // namespace

std::string_view ShellEffectName(ShellEffect effect) {
  switch (effect) {
    case ShellEffect::kReadOnly: return "read-only";
    case ShellEffect::kWrites: return "writes";
    case ShellEffect::kRunsProject: return "runs-project";
    case ShellEffect::kFetches: return "fetches";
    case ShellEffect::kUnknown: return "unknown";
    case ShellEffect::kProcess: return "process";
    case ShellEffect::kNetwork: return "network";
    case ShellEffect::kDestroys: return "destroys";
  }
  return "unknown";
}

ShellAnalysis AnalyseShell(std::string_view line, const ShellPlace& place) {
  ShellAnalysis analysis;
  analysis.line = line.substr(0, kMaxShellBytes);
  analysis.place = place;
  if (const std::string_view why = Unreadable(line); !why.empty()) {
    analysis.understood = false;
    analysis.why = why;
    return analysis;
  }
  if (const Status walked = WalkShell(analysis.line, analysis); !walked) {
    analysis.understood = false;
    analysis.why = walked.error().message;
  }
  return analysis;
}

bool IsReadOnly(const ShellAnalysis& analysis) {
  return analysis.understood && !analysis.commands.empty() &&
         std::ranges::all_of(analysis.commands, [](const ShellCommand& command) {
           return command.effect == ShellEffect::kReadOnly && !command.odd && !command.privileged &&
                  !command.git_elsewhere && command.writes.empty() && command.loses.empty();
         });
}

}  // namespace stet::policy
