#include "hook/output.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::hook {
namespace {

constexpr std::size_t kMaxFindings = 32;
constexpr std::size_t kMaxNameBytes = 200;

/// As valid UTF-8 of a bounded length; what is left out is said.
std::string Bounded(std::string_view text) {
  std::string clean = IsValidUtf8(text) ? std::string(text) : ReplaceInvalidUtf8(text);
  if (clean.size() <= kMaxTextBytes) return clean;
  const std::size_t whole = clean.size();
  clean.resize(Utf8PrefixLength(clean, kMaxTextBytes));
  return fmt::format("{}\n[{} more bytes were left out]", clean, whole - clean.size());
}

bool TakesPlainText(Event event) {
  return event == Event::kSessionStart || event == Event::kUserPromptSubmit;
}

/// Where a block is a denial of the call.
bool Permits(Event event) {
  return event == Event::kPreToolUse || event == Event::kPermissionRequest;
}

std::unexpected<Error> WrongMember(std::string_view member, std::string_view what) {
  return Fail(Code::kInvalid, fmt::format("its output is wrong: {} {}", member, what));
}

/// Reads the members that it is asked for, and remembers the first that is of a wrong kind.
class Members {
 public:
  explicit Members(const JsonView& object) : object_(object) {}

  std::string Text(std::string_view name) {
    const JsonView value = object_[name];
    if (!value || value.is_null()) return "";
    if (!value.is_string()) Note(name, "must be a text");
    return Bounded(value.StringOr(""));
  }
  bool Flag(std::string_view name, bool otherwise) {
    const JsonView value = object_[name];
    if (!value || value.is_null()) return otherwise;
    if (!value.Bool()) Note(name, "must be true or false");
    return value.Bool().value_or(otherwise);
  }
  std::optional<Raw> Object(std::string_view name) {
    const JsonView value = object_[name];
    if (!value || value.is_null()) return std::nullopt;
    if (!value.is_object()) {
      Note(name, "must be an object");
      return std::nullopt;
    }
    return Raw{std::string(value.text())};
  }

  void Note(std::string_view name, std::string_view what) {
    if (status_) status_ = WrongMember(name, what);
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  JsonView object_;
  Status status_;
};

void ReadDecision(Event event, Members& members, Output& output) {
  const std::string decision = members.Text("decision");
  output.reason = members.Text("reason");
  if (decision == "block") {
    output.blocks = true;
    if (Permits(event)) output.permission = Permission::kDeny;
  } else if (decision == "approve") {
    if (Permits(event)) output.permission = Permission::kAllow;
  } else if (!decision.empty()) {
    members.Note("decision", "must be block or approve");
  }
}

/// `permissionDecision` of PreToolUse.
void ReadPermission(Members& members, Output& output) {
  const std::string decision = members.Text("permissionDecision");
  const std::string reason = members.Text("permissionDecisionReason");
  if (!reason.empty()) output.reason = reason;
  if (decision == "allow") {
    output.permission = Permission::kAllow;
  } else if (decision == "ask") {
    output.permission = Permission::kAsk;
  } else if (decision == "deny") {
    output.permission = Permission::kDeny;
  } else if (!decision.empty() && decision != "defer") {
    members.Note("permissionDecision", "must be allow, ask, deny or defer");
  }
}

/// `decision: {behavior, updatedInput, message, interrupt}` of PermissionRequest.
Status ReadAnswer(const JsonView& answer, Output& output) {
  if (!answer || answer.is_null()) return {};
  if (!answer.is_object()) return WrongMember("hookSpecificOutput.decision", "must be an object");
  Members members(answer);
  const std::string behavior = members.Text("behavior");
  if (behavior == "allow")
    output.permission = Permission::kAllow;
  else if (behavior == "deny")
    output.permission = Permission::kDeny;
  else
    members.Note("behavior", "must be allow or deny");
  output.reason = members.Text("message");
  output.interrupts = members.Flag("interrupt", false);
  if (std::optional<Raw> input = members.Object("updatedInput"))
    output.updated_input = std::move(input);
  return members.status();
}

Status ReadSpecific(Event event, const JsonView& specific, Output& output) {
  if (!specific || specific.is_null()) return {};
  if (!specific.is_object()) return WrongMember("hookSpecificOutput", "must be an object");
  Members members(specific);
  const std::string name = members.Text("hookEventName");
  if (!name.empty() && name != EventName(event))
    members.Note("hookEventName", "names another event");
  output.context = members.Text("additionalContext");
  if (event == Event::kPreToolUse) {
    ReadPermission(members, output);
    output.updated_input = members.Object("updatedInput");
  }
  if (event == Event::kPostToolUse && specific["updatedToolOutput"])
    output.updated_output = members.Text("updatedToolOutput");
  RETURN_IF_ERROR(members.status());
  if (event == Event::kPermissionRequest) return ReadAnswer(specific["decision"], output);
  return {};
}

Result<FindingChange> ReadFinding(const JsonView& finding) {
  constexpr std::array<std::string_view, 4> kSeverities = {"hard-deny", "soft-deny",
                                                           "evidence-required", "warning"};
  if (!finding.is_object()) return WrongMember("findings", "must be a list of objects");
  Members members(finding);
  FindingChange change;
  change.id = members.Text("id");
  change.policy = members.Text("policy");
  change.text = members.Text("text");
  change.severity = members.Text("severity");
  if (change.severity.empty()) change.severity = "soft-deny";
  const std::string action = members.Text("action");
  change.raise = action != "clear";
  if (!action.empty() && action != "raise" && action != "clear")
    members.Note("findings.action", "must be raise or clear");
  if (std::ranges::find(kSeverities, change.severity) == kSeverities.end())
    members.Note("findings.severity", "must be hard-deny, soft-deny, evidence-required or warning");
  if (change.id.empty() || change.id.size() > kMaxNameBytes)
    members.Note("findings.id", "must be a short text");
  if (change.policy.size() > kMaxNameBytes) members.Note("findings.policy", "is too long");
  RETURN_IF_ERROR(members.status());
  return change;
}

Status ReadFindings(const JsonView& findings, Output& output) {
  if (!findings || findings.is_null()) return {};
  if (!findings.is_array()) return WrongMember("findings", "must be a list of objects");
  Status status;
  findings.ForEach([&](const JsonView& finding) {
    if (!status) return;
    Result<FindingChange> change = ReadFinding(finding);
    if (!change)
      status = std::unexpected(change.error());
    else if (output.findings.size() == kMaxFindings)
      status = WrongMember("findings", fmt::format("has more than {}", kMaxFindings));
    else
      output.findings.push_back(*std::move(change));
  });
  return status;
}

void Append(std::string& to, const std::string& text) {
  if (text.empty()) return;
  if (!to.empty()) to += '\n';
  to += text;
}

}  // namespace

Result<Output> ReadOutput(Event event, std::string_view text) {
  text = Trimmed(text);
  Output output;
  if (!text.starts_with('{')) {
    if (TakesPlainText(event)) output.context = Bounded(text);
    return output;
  }
  if (!Raw::From(text)) return Fail(Code::kInvalid, "its output is no JSON");
  const JsonView object(text);
  Members members(object);
  output.stops = !members.Flag("continue", true);
  output.stop_reason = members.Text("stopReason");
  output.message = members.Text("systemMessage");
  ReadDecision(event, members, output);
  // A hook's raw output is never shown, so this changes nothing; it is read so that its kind is
  // checked.
  (void)members.Flag("suppressOutput", false);
  RETURN_IF_ERROR(members.status());
  RETURN_IF_ERROR(ReadSpecific(event, object["hookSpecificOutput"], output));
  RETURN_IF_ERROR(ReadFindings(object["findings"], output));
  return output;
}

Output BlockOf(Event event, std::string_view text) {
  Output output;
  output.blocks = true;
  if (Permits(event)) output.permission = Permission::kDeny;
  output.reason = Bounded(Trimmed(text));
  return output;
}

void Add(Verdict& verdict, Outcome outcome) {
  if (!outcome.trouble.empty()) {
    verdict.messages.push_back({outcome.by, std::move(outcome.trouble)});
    return;
  }
  Output& output = outcome.output;
  if (output.permission > verdict.permission) {
    verdict.permission = output.permission;
    verdict.decided = {outcome.by, output.reason};
  }
  verdict.interrupts = verdict.interrupts || output.interrupts;
  if (output.blocks) {
    if (!verdict.blocks) verdict.block.by = outcome.by;
    verdict.blocks = true;
    Append(verdict.block.text, output.reason);
  }
  if (output.stops) {
    verdict.stops = true;
    Append(verdict.stop_reason, output.stop_reason);
  }
  if (output.updated_input) {
    verdict.updated_input = std::move(output.updated_input);
    verdict.updated_by = outcome.by;
  }
  if (output.updated_output) verdict.updated_output = {outcome.by, *output.updated_output};
  if (!output.context.empty()) verdict.contexts.push_back({outcome.by, output.context});
  if (!output.message.empty()) verdict.messages.push_back({outcome.by, output.message});
  for (FindingChange& change : output.findings)
    verdict.findings.push_back({outcome.by, std::move(change)});
}

}  // namespace stet::hook
