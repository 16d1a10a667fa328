#include "sdk/input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::sdk {
namespace {

void AddImage(UserInput& input, const JsonView& source) {
  if (source["type"].StringOr("") != "base64") {
    input.problem = "an image must come as base64";
    return;
  }
  std::string data = source["data"].StringOr("");
  if (!DecodeBase64(data)) {
    input.problem = "the data of an image is not base64";
    return;
  }
  protocol::ImageFile& image = input.send.images.emplace_back();
  image.media_type = source["media_type"].StringOr("");
  image.data = std::move(data);
}

void AddBlock(UserInput& input, const JsonView& block) {
  const std::string type = block["type"].StringOr("");
  if (type == "text") {
    if (!input.send.text.empty()) input.send.text += "\n\n";
    input.send.text += block["text"].StringOr("");
  } else if (type == "image") {
    AddImage(input, block["source"]);
  } else {
    input.problem = fmt::format("a message cannot hold a block of type \"{}\"", type);
  }
}

Result<Input> ReadUser(const JsonView& json) {
  UserInput input;
  const JsonView content = json["message"]["content"];
  if (const std::optional<std::string> text = content.String())
    input.send.text = *text;
  else if (content.is_array())
    content.ForEach([&](const JsonView& block) { AddBlock(input, block); });
  else
    return Fail(Code::kInvalid, "a user line needs message.content, a string or blocks");
  input.send.how = "send";
  input.send.client_message_id = json["uuid"].String();
  input.starts_turn = json["shouldQuery"].Bool().value_or(true);
  const bool blank = input.send.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (input.problem.empty() && blank && input.send.images.empty())
    input.problem = "the message says nothing";
  return input;
}

Result<Input> ReadRequest(const JsonView& json) {
  ControlRequest request;
  request.id = json["request_id"].StringOr("");
  request.subtype = json["request"]["subtype"].StringOr("");
  if (request.id.empty() || request.subtype.empty())
    return Fail(Code::kInvalid, "a control_request needs request_id and request.subtype");
  request.request.text = json["request"].text();
  return request;
}

Result<Input> ReadResponse(const JsonView& json) {
  const JsonView inner = json["response"];
  ControlResponse response;
  response.id = inner["request_id"].StringOr("");
  if (response.id.empty())
    return Fail(Code::kInvalid, "a control_response needs response.request_id");
  if (inner["subtype"].StringOr("") != "success")
    response.error = inner["error"].StringOr("the request failed");
  if (inner["response"]) response.response.text = inner["response"].text();
  return response;
}

}  // namespace

Result<Input> ReadInput(std::string_view line) {
  if (!IsValidUtf8(line)) return Fail(Code::kInvalid, "the line is not UTF-8");
  RETURN_IF_ERROR(CheckJson(line));
  const JsonView json(line);
  const std::optional<std::string> type = json["type"].String();
  if (!type) return Fail(Code::kInvalid, "the line is no object with a type");
  if (*type == "user") return ReadUser(json);
  if (*type == "control_request") return ReadRequest(json);
  if (*type == "control_response") return ReadResponse(json);
  return OtherInput{};
}

}  // namespace stet::sdk
