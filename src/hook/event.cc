#include "hook/event.h"

#include "config/hook_settings.h"
#include "json/writer.h"

namespace stet::hook {
namespace {

static_assert(config::kHookEvents.size() == static_cast<std::size_t>(Event::kTeammateIdle) + 1);

/// Writes members through `write(JsonWriter&)`, without the braces around them.
template <class Write>
Occasion Make(Event event, std::string_view subject, Write write) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject();
  write(writer);
  writer.EndObject();
  return {event, std::string(subject), json.substr(1, json.size() - 2)};
}

template <class Write>
Occasion MakeOfCall(Event event, const ToolFacts& call, Write write) {
  return Make(event, call.name, [&](JsonWriter& writer) {
    writer.Member("tool_name", call.name).Member("tool_input", call.input);
    writer.Member("tool_use_id", call.call_id);
    write(writer);
  });
}

}  // namespace

std::string_view EventName(Event event) {
  return config::kHookEvents[static_cast<std::size_t>(event)];
}

Occasion OnSessionStart(std::string_view source, std::string_view model) {
  return Make(Event::kSessionStart, source,
              [&](JsonWriter& writer) { writer.Member("source", source).Member("model", model); });
}

Occasion OnSessionEnd(std::string_view reason) {
  return Make(Event::kSessionEnd, reason,
              [&](JsonWriter& writer) { writer.Member("reason", reason); });
}

Occasion OnUserPromptSubmit(std::string_view prompt) {
  return Make(Event::kUserPromptSubmit, "",
              [&](JsonWriter& writer) { writer.Member("prompt", prompt); });
}

Occasion OnPreToolUse(const ToolFacts& call) {
  return MakeOfCall(Event::kPreToolUse, call, [](JsonWriter&) {});
}

Occasion OnPostToolUse(const ToolFacts& call, std::string_view content, std::string_view details) {
  return MakeOfCall(Event::kPostToolUse, call, [&](JsonWriter& writer) {
    writer.Key("tool_response").BeginObject().Member("content", content);
    if (!details.empty()) writer.Key("details").Text(details);
    writer.EndObject();
  });
}

Occasion OnPostToolUseFailure(const ToolFacts& call, std::string_view error, bool interrupted) {
  return MakeOfCall(Event::kPostToolUseFailure, call, [&](JsonWriter& writer) {
    writer.Member("error", error).Member("is_interrupt", interrupted);
  });
}

Occasion OnPermissionRequest(const ToolFacts& call, std::string_view reason) {
  return MakeOfCall(Event::kPermissionRequest, call,
                    [&](JsonWriter& writer) { writer.Member("reason", reason); });
}

Occasion OnNotification(std::string_view type, std::string_view message) {
  return Make(Event::kNotification, type, [&](JsonWriter& writer) {
    writer.Member("message", message).Member("notification_type", type);
  });
}

Occasion OnPreCompact(std::string_view trigger, std::string_view instructions) {
  return Make(Event::kPreCompact, trigger, [&](JsonWriter& writer) {
    writer.Member("trigger", trigger).Member("custom_instructions", instructions);
  });
}

Occasion OnPostCompact(std::string_view trigger, std::string_view summary) {
  return Make(Event::kPostCompact, trigger, [&](JsonWriter& writer) {
    writer.Member("trigger", trigger).Member("compact_summary", summary);
  });
}

Occasion OnStop(bool active, std::string_view last_message) {
  return Make(Event::kStop, "", [&](JsonWriter& writer) {
    writer.Member("stop_hook_active", active).Member("last_assistant_message", last_message);
  });
}

Occasion OnTaskCreated(std::string_view task_id, std::string_view command) {
  return Make(Event::kTaskCreated, "", [&](JsonWriter& writer) {
    writer.Member("task_id", task_id).Member("task_subject", command);
  });
}

Occasion OnTaskCompleted(std::string_view task_id, std::string_view how) {
  return Make(Event::kTaskCompleted, "", [&](JsonWriter& writer) {
    writer.Member("task_id", task_id).Member("task_description", how);
  });
}

std::string InputOf(const Moment& moment, const Occasion& occasion) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject()
      .Member("session_id", moment.session_id)
      .Member("transcript_path", moment.transcript_path)
      .Member("cwd", moment.cwd)
      .Member("permission_mode", moment.permission_mode)
      .Member("hook_event_name", EventName(occasion.event));
  if (!moment.turn_id.empty()) writer.Member("turn_id", moment.turn_id);
  if (!occasion.members.empty()) (json += ',') += occasion.members;
  json += '}';
  return json;
}

}  // namespace stet::hook
