#include "cli/stream_json_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/json_view.h"
#include "base/utf8.h"

namespace stet::cli {
namespace {

void AddImage(UserInput& input, const JsonView& source) {
  if (source["type"].StringOr("") != "base64") {
    input.problem = "an image must come as base64";
    return;
  }
  std::optional<std::string> bytes = DecodeBase64(source["data"].StringOr(""));
  if (!bytes) {
    input.problem = "the data of an image is not base64";
    return;
  }
  protocol::ImageFile& image = input.send.images.emplace_back();
  image.media_type = source["media_type"].StringOr("");
  image.bytes = *std::move(bytes);
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

void LineCutter::Keep(std::string_view bytes) {
  if (too_long_) return;
  if (bytes.size() > kMaxLine - line_.size()) {
    too_long_ = true;
    line_ = std::string();
    return;
  }
  line_ += bytes;
}

void LineCutter::End(const Use& use) {
  if (too_long_)
    use(std::nullopt);
  else
    use(line_);
  too_long_ = false;
  line_.clear();
}

void LineCutter::Feed(std::string_view bytes, const Use& use) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Keep(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    End(use);
    bytes.remove_prefix(end + 1);
  }
}

void LineCutter::Finish(const Use& use) {
  if (too_long_ || !line_.empty()) End(use);
}

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

}  // namespace stet::cli
