#include "rpc/json/rpc.h"

#include "base/utf8.h"
#include "json/members.h"
#include "json/writer.h"

namespace stet::rpc {
namespace {

JsonWriter& Begin(JsonWriter& writer) { return writer.BeginObject().Member("jsonrpc", "2.0"); }

bool IsId(const JsonView& id) { return id.is_string() || id.is_null() || id.Int(); }

Raw Copy(const JsonView& value, std::string_view otherwise) {
  return Raw{std::string(value ? value.text() : otherwise)};
}

Response ReadResponse(const JsonView& id, const JsonView& result, const JsonView& error) {
  Response response{.id = id.StringOr(id.text()), .result = Copy(result, "null"), .error = {}};
  if (!error || error.is_null()) return response;
  response.error = error["message"].StringOr("the request failed");
  // Where the libraries of the Agent Client Protocol say what was thrown.
  const std::string details = error["data"]["details"].StringOr("");
  if (!details.empty()) *response.error += ": " + details;
  return response;
}

}  // namespace

Message ReadMessage(std::string_view line, Reading reading) {
  if (!IsValidUtf8(line))
    return Fault{.id = {}, .code = kParseError, .message = "parse error: the line is not UTF-8"};
  if (const Status json = CheckJson(line); !json)
    return Fault{.id = {}, .code = kParseError, .message = "parse error: " + json.error().message};
  const auto members = MembersOf<6>(line, {"jsonrpc", "id", "method", "params", "result", "error"});
  if (!members)
    return Fault{.id = {}, .message = "invalid request: a message is one object, and no batch"};
  const auto& [version, id, method, params, result, error] = *members;
  const bool strict = reading == Reading::kStrict;
  if (strict && id && !IsId(id))
    return Fault{.id = {}, .message = "invalid request: id must be a string, an integer or null"};
  // What asks for nothing is answered under no id: the other side may have asked under the same.
  const Raw kept = Copy(method ? id : JsonView(), "null");
  if (strict && version.StringOr("") != "2.0")
    return Fault{.id = kept, .message = "invalid request: jsonrpc must be \"2.0\""};
  if (method && (strict || method.is_string())) {
    if (!method.is_string())
      return Fault{.id = kept, .message = "invalid request: method must be a string"};
    if (id)
      return Request{.id = kept, .method = method.StringOr(""), .params = Copy(params, "null")};
    return Notification{.method = method.StringOr(""), .params = Copy(params, "null")};
  }
  if (strict && (!id || (!result && !error)))
    return Fault{.id = kept, .message = "invalid request: there is no method"};
  return ReadResponse(id, result, error);
}

Raw RequestIdIn(std::string_view beginning) {
  JsonReader reader(beginning);
  Raw id;
  bool asks = false;
  std::string_view key;
  if (!reader.EnterObject()) return {};
  while (reader.NextMember(&key)) {
    const std::string name(key);
    asks = asks || name == "method";
    std::string_view value;
    if (!reader.Skip(&value)) break;
    // A number at the very end may go on.
    if (name == "id" && value.data() + value.size() < beginning.data() + beginning.size() &&
        IsId(JsonView(value)) && IsValidUtf8(value))
      id = Raw{std::string(value)};
  }
  return asks ? id : Raw();
}

std::string ResultLine(const Raw& id, std::string_view result) {
  std::string line;
  JsonWriter writer(line);
  Begin(writer).Member("id", id).Key("result").Text(result).EndObject();
  return line;
}

std::string ErrorLine(const Raw& id, std::int64_t code, std::string_view message,
                      std::string_view data) {
  std::string line;
  JsonWriter writer(line);
  Begin(writer).Member("id", id).Key("error").BeginObject();
  writer.Member("code", code).Member("message", message);
  if (!data.empty()) writer.Key("data").Text(data);
  writer.EndObject().EndObject();
  return line;
}

std::string RequestLine(const Raw& id, std::string_view method, std::string_view params) {
  std::string line;
  JsonWriter writer(line);
  Begin(writer).Member("id", id).Member("method", method).Key("params").Text(params).EndObject();
  return line;
}

std::string NotificationLine(std::string_view method, std::string_view params) {
  std::string line;
  JsonWriter writer(line);
  Begin(writer).Member("method", method).Key("params").Text(params).EndObject();
  return line;
}

}  // namespace stet::rpc
