// Output: what one hook said, read from its standard output or from the body of a reply, and
// Verdict, what all hooks of one occasion come to. The members are in doc/format/hooks.md.
//
// A hook is another program: what is read of it is bounded, and whatever is wrong with it is an
// error that names the member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hook/event.h"
#include "json/json.h"

namespace stet::hook {

/// What is read of one hook at most.
inline constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;
/// Of one text that goes on to a model.
inline constexpr std::size_t kMaxTextBytes = 32'768;

/// The greater one wins.
enum class Permission : std::uint8_t { kNone, kAllow, kAsk, kDeny };

/// A gate's finding that is raised or cleared.
struct FindingChange {
  bool raise = true;
  std::string id;
  std::string policy;
  std::string severity;
  std::string text;

  friend bool operator==(const FindingChange&, const FindingChange&) = default;
};

struct Output {
  bool stops = false;       // continue: false.
  std::string stop_reason;  // For people.
  bool blocks = false;
  Permission permission = Permission::kNone;
  std::string reason;  // Of the block, or of the permission.
  bool interrupts = false;
  std::optional<Raw> updated_input;
  std::optional<std::string> updated_output;
  std::string context;  // For the model.
  std::string message;  // For people.
  std::vector<FindingChange> findings;

  friend bool operator==(const Output&, const Output&) = default;
};

/// What a hook of exit code 0 wrote. A text that does not begin with a brace is context where the
/// event takes it, else nothing.
Result<Output> ReadOutput(Event event, std::string_view text);
/// What exit code 2 with this on standard error means.
Output BlockOf(Event event, std::string_view text);

/// How one hook went.
struct Outcome {
  std::string by;  // Which one: "hook:PreToolUse/2".
  Output output;
  std::string trouble;  // For people, when it did not go well; then it counts for nothing.
};

/// Something that one of them said.
struct Said {
  std::string by;
  std::string text;

  friend bool operator==(const Said&, const Said&) = default;
};
struct SaidFinding {
  std::string by;
  FindingChange change;
};

struct Verdict {
  Permission permission = Permission::kNone;
  Said decided;  // The hook that allowed or denied, and why.
  bool interrupts = false;
  bool blocks = false;
  Said block;  // The first one's name; all reasons, in order.
  bool stops = false;
  std::string stop_reason;
  std::optional<Raw> updated_input;  // The last one's.
  std::string updated_by;
  std::optional<Said> updated_output;
  std::vector<Said> contexts;
  std::vector<Said> messages;  // For people.
  std::vector<SaidFinding> findings;
};

/// Takes the outcomes in their order.
void Add(Verdict& verdict, Outcome outcome);

}  // namespace stet::hook
