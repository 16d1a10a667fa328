// Lines of stream-json from arbitrary bytes: the same lines in any pieces, no line beyond the
// limit, and whatever a line says can be answered with one line of JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/line_cutter.h"
#include "base/random.h"
#include "base/utf8.h"
#include "json/view.h"
#include "sdk/asks.h"
#include "sdk/control.h"
#include "sdk/input.h"

namespace stet::fuzz {
namespace {

std::vector<std::string> LinesOf(std::string_view bytes, Random& random, std::size_t longest) {
  LineCutter cutter(sdk::kMaxInputLine);
  std::vector<std::string> lines;
  const auto use = [&](std::optional<std::string_view> line) {
    CHECK(line && line->find('\n') == std::string_view::npos, "a line is one line");
    lines.emplace_back(*line);
  };
  while (!bytes.empty()) {
    const std::size_t length = std::min<std::size_t>(1 + random.Below(longest), bytes.size());
    cutter.Feed(bytes.substr(0, length), use);
    bytes.remove_prefix(length);
  }
  cutter.Finish(use);
  return lines;
}

void CheckLine(const std::string& line) {
  CHECK(CheckJson(line) && IsValidUtf8(line), "an answer is JSON");
  CHECK(line.find('\n') == std::string::npos, "an answer is one line");
}

void CheckReply(const sdk::AskReply& reply) {
  if (const auto* permission = std::get_if<protocol::PermissionAnswer>(&reply.answer)) {
    CHECK(!permission->args || CheckJson(permission->args->text), "an edited input is JSON");
    CHECK(permission->allow || !permission->args, "what is denied is not edited");
  } else {
    const auto& question = std::get<protocol::QuestionAnswer>(reply.answer);
    CHECK(CheckJson(question.answer.text), "an answer is JSON");
  }
}

void Take(const sdk::ControlRequest& request) {
  protocol::Attach attach;
  const JsonView json(request.request.text);
  (void)sdk::ShapesSession(json);
  const Status applied = sdk::ApplyInitialize(json, attach);
  CheckLine(applied ? sdk::ControlSuccess(request.id, sdk::InitializeResponse())
                    : sdk::ControlError(request.id, applied.error().message));
}

void Take(const sdk::ControlResponse& response) {
  sdk::StreamAsks asks;
  protocol::PermissionAsk permission;
  permission.request_id = response.id;
  permission.args = response.response;
  permission.session_rule = "Bash(make *)";
  CheckLine(asks.Ask(permission).value_or(""));
  if (const auto reply = asks.Answer(response)) CheckReply(*reply);
  protocol::QuestionAsk question;
  question.question_id = response.id + "?";
  question.text = response.error.value_or("");
  CheckLine(asks.Ask(question).value_or(""));
  sdk::ControlResponse answer = response;
  answer.id = question.question_id;
  if (const auto reply = asks.Answer(answer)) CheckReply(*reply);
  CHECK(!asks.first_open(), "everything is answered");
}

void Take(const sdk::UserInput& input) {
  CHECK(IsValidUtf8(input.send.text), "a text is UTF-8");
  CHECK(!input.problem.empty() || !input.send.text.empty() || !input.send.images.empty(),
        "what is sent says something");
}

void Take(const sdk::OtherInput&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Random random(size);
  const std::vector<std::string> lines = LinesOf(bytes, random, size + 1);
  CHECK(LinesOf(bytes, random, 1) == lines, "single bytes give the same lines");
  CHECK(LinesOf(bytes, random, 8) == lines, "pieces give the same lines");
  for (const std::string& line : lines) {
    const Result<sdk::Input> input = sdk::ReadInput(line);
    if (input) std::visit([](const auto& one) { Take(one); }, *input);
  }
  return 0;
}

}  // namespace stet::fuzz
