#include "sdk/control.h"

#include <fmt/format.h>

#include "base/version.h"
#include "face/work_options.h"
#include "json/writer.h"

namespace stet::sdk {
namespace {

bool SaysSomething(const JsonView& value) {
  bool something = value.is_string() && !value.StringOr("").empty();
  value.ForEach([&](const JsonView&) { something = true; });
  value.ForEachMember([&](std::string_view, const JsonView&) { something = true; });
  return something;
}

/// A string, or several that make one; empty means that none was given.
std::string JoinedText(const JsonView& value) {
  std::string text = value.StringOr("");
  value.ForEach([&](const JsonView& part) {
    const std::string more = part.StringOr("");
    if (!text.empty() && !more.empty()) text += "\n\n";
    text += more;
  });
  return text;
}

}  // namespace

bool ShapesSession(const JsonView& request) {
  return !JoinedText(request["systemPrompt"]).empty() ||
         !request["appendSystemPrompt"].StringOr("").empty() || request["jsonSchema"].is_object();
}

Status ApplyInitialize(const JsonView& request, protocol::Attach& attach) {
  std::string absent;
  for (const char* name : {"hooks", "agents", "sdkMcpServers", "plugins", "toolAliases"}) {
    if (!SaysSomething(request[name])) continue;
    if (!absent.empty()) absent += ", ";
    absent += name;
  }
  if (!absent.empty())
    return Fail(Code::kInvalid, fmt::format("not supported here: {}; leave it out", absent));
  if (const JsonView schema = request["jsonSchema"]; schema.is_object()) {
    ASSIGN_OR_RETURN(attach.output_schema,
                     face::CheckOutputSchema(Raw{std::string(schema.text())}, "jsonSchema"));
  }
  if (std::string prompt = JoinedText(request["systemPrompt"]); !prompt.empty())
    attach.system_prompt = std::move(prompt);
  if (std::string more = request["appendSystemPrompt"].StringOr(""); !more.empty())
    attach.append_system_prompt = std::move(more);
  return {};
}

std::string ControlSuccess(std::string_view request_id, std::string_view response) {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "control_response").Key("response").BeginObject();
  writer.Member("subtype", "success").Member("request_id", request_id);
  writer.Key("response").Text(response).EndObject().EndObject();
  return line;
}

std::string ControlError(std::string_view request_id, std::string_view error) {
  std::string line;
  JsonWriter writer(line);
  writer.BeginObject().Member("type", "control_response").Key("response").BeginObject();
  writer.Member("subtype", "error").Member("request_id", request_id).Member("error", error);
  writer.EndObject().EndObject();
  return line;
}

std::string InitializeResponse() {
  std::string response;
  JsonWriter writer(response);
  writer.BeginObject().Key("commands").Text("[]").Key("agents").Text("[]");
  writer.Member("output_style", "default").Key("available_output_styles").Text(R"(["default"])");
  writer.Key("models").Text("[]").Key("account").Text("{}");
  writer.Member("claude_code_version", ProgramVersion()).EndObject();
  return response;
}

}  // namespace stet::sdk
