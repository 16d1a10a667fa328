#include "acp/editor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/json_writer.h"
#include "protocol/client_methods.h"

namespace stet::acp {
namespace {

namespace method = protocol::method;

/// What the protocol calls what a host asks, and the params beside the session's id.
struct Translation {
  std::string_view service;
  std::string_view method;
  void (*write)(JsonWriter& writer, const Raw& params);
};

/// What a host asks as M; `write` puts its params down.
template <protocol::IsMethod M, void (*write)(JsonWriter&, const typename M::Params&)>
constexpr Translation For(std::string_view method) {
  return {M::kInfo.name, method, [](JsonWriter& writer, const Raw& params) {
            write(writer, Decode<typename M::Params>(params.text).value_or(typename M::Params()));
          }};
}

void WritePath(JsonWriter& writer, const protocol::FileRead& file) {
  writer.Member("path", file.path);
}

void WriteFile(JsonWriter& writer, const protocol::FileWrite& file) {
  writer.Member("path", file.path).Member("content", file.text);
}

void WriteTerminal(JsonWriter& writer, const protocol::TerminalRef& terminal) {
  writer.Member("terminalId", terminal.terminal_id);
}

void WriteCommand(JsonWriter& writer, const protocol::TerminalOpen& open) {
  writer.Member("command", open.command).Key("args").BeginArray();
  for (const std::string& argument : open.args) writer.String(argument);
  writer.EndArray().Key("env").BeginArray();
  for (const std::string& variable : open.environment) {
    const std::size_t sign = std::min(variable.find('='), variable.size());
    writer.BeginObject().Member("name", std::string_view(variable).substr(0, sign));
    writer.Member("value", std::string_view(variable).substr(std::min(sign + 1, variable.size())));
    writer.EndObject();
  }
  writer.EndArray().Member("cwd", open.cwd).Member("outputByteLimit", open.max_bytes);
}

constexpr auto kTranslations = std::to_array<Translation>({
    For<method::FileRead, WritePath>("fs/read_text_file"),
    For<method::FileWrite, WriteFile>("fs/write_text_file"),
    For<method::TerminalAwait, WriteTerminal>("terminal/wait_for_exit"),
    For<method::TerminalKill, WriteTerminal>("terminal/kill"),
    For<method::TerminalOpen, WriteCommand>("terminal/create"),
    For<method::TerminalRelease, WriteTerminal>("terminal/release"),
    For<method::TerminalText, WriteTerminal>("terminal/output"),
});
static_assert(std::ranges::equal(kTranslations, protocol::ClientMethods::kNames, {},
                                 &Translation::service),
              "everything that a host may ask");

/// The client's answer, as the host has it. What has the same members there goes on as it is.
Result<Raw> AnswerOf(std::string_view asked, const Response& response) {
  if (response.error) return Fail(Code::kIo, *response.error);
  const JsonView result(response.result.text);
  Raw answer{""};
  JsonWriter writer(answer.text);
  const bool is_file = asked == method::FileRead::kInfo.name;
  if (is_file || asked == method::TerminalText::kInfo.name) {
    const std::optional<std::string> text = result[is_file ? "content" : "output"].String();
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
  found->write(writer, params);
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
