#include "acp/editor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/json_writer.h"

namespace stet::acp {
namespace {

namespace service = protocol::service;

/// What the protocol calls what a host asks, and the params beside the session's id.
struct Translation {
  std::string_view service;
  std::string_view method;
  void (*write)(JsonWriter& writer, const JsonView& params);
};

void WritePath(JsonWriter& writer, const JsonView& params) {
  writer.Member("path", params["path"].StringOr(""));
}

void WriteFile(JsonWriter& writer, const JsonView& params) {
  WritePath(writer, params);
  writer.Member("content", params["text"].StringOr(""));
}

void WriteTerminal(JsonWriter& writer, const JsonView& params) {
  writer.Member("terminalId", params["terminalId"].StringOr(""));
}

void WriteCommand(JsonWriter& writer, const JsonView& params) {
  writer.Member("command", params["command"].StringOr("")).Key("args").BeginArray();
  params["args"].ForEach([&](const JsonView& argument) { writer.String(argument.StringOr("")); });
  writer.EndArray().Key("env").BeginArray();
  params["environment"].ForEach([&](const JsonView& one) {
    const std::string variable = one.StringOr("");
    const std::size_t sign = std::min(variable.find('='), variable.size());
    writer.BeginObject().Member("name", std::string_view(variable).substr(0, sign));
    writer.Member("value", std::string_view(variable).substr(std::min(sign + 1, variable.size())));
    writer.EndObject();
  });
  writer.EndArray().Member("cwd", params["cwd"].StringOr(""));
  writer.Member("outputByteLimit", params["maxBytes"].IntOr(0));
}

constexpr auto kTranslations = std::to_array<Translation>({
    {service::kReadFile, "fs/read_text_file", WritePath},
    {service::kWriteFile, "fs/write_text_file", WriteFile},
    {service::kOpenTerminal, "terminal/create", WriteCommand},
    {service::kAwaitTerminal, "terminal/wait_for_exit", WriteTerminal},
    {service::kTerminalText, "terminal/output", WriteTerminal},
    {service::kKillTerminal, "terminal/kill", WriteTerminal},
    {service::kReleaseTerminal, "terminal/release", WriteTerminal},
});

/// The client's answer, as the host has it. What has the same members there goes on as it is.
Result<Raw> AnswerOf(std::string_view method, const Response& response) {
  if (response.error) return Fail(Code::kIo, *response.error);
  const JsonView result(response.result.text);
  Raw answer{""};
  JsonWriter writer(answer.text);
  if (method == service::kReadFile || method == service::kTerminalText) {
    const std::optional<std::string> text =
        result[method == service::kReadFile ? "content" : "output"].String();
    if (!text) return Fail(Code::kInvalid, "the client's answer has no text");
    writer.BeginObject().Member("text", *text);
    writer.Member("truncated", result["truncated"].Bool().value_or(false)).EndObject();
    return answer;
  }
  return result.is_object() ? response.result : Raw{"{}"};
}

Error Gone() { return {Code::kUnavailable, "the client has gone"}; }

}  // namespace

void Editor::Ask(const std::string& method, const Raw& params, Done done) {
  const auto* found = std::ranges::find(kTranslations, method, &Translation::service);
  if (found == kTranslations.end())
    return done(Fail(Code::kUnsupported, fmt::format("the client knows no {}", method)));
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_ && open_.size() < kMaxOpen) {
      id = fmt::format("{}/editor-{}", session_id_, ++last_);
      open_.emplace(id, Open{.method = method, .done = done});
    }
  }
  if (id.empty()) return done(std::unexpected(Gone()));
  std::string written;
  JsonWriter writer(written);
  writer.BeginObject().Member("sessionId", session_id_);
  found->write(writer, JsonView(params.text));
  writer.EndObject();
  output_.Push(RequestLine(id, found->method, written));
}

bool Editor::Take(const Response& response) {
  Open answered;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(response.id);
    if (found == open_.end()) return false;
    answered = std::move(found->second);
    open_.erase(found);
  }
  answered.done(AnswerOf(answered.method, response));
  return true;
}

void Editor::End() {
  std::map<std::string, Open> left;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    left = std::exchange(open_, {});
  }
  for (const auto& [id, open] : left) open.done(std::unexpected(Gone()));
}

}  // namespace stet::acp
