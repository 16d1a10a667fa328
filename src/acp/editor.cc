#include "acp/editor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "json/view.h"
#include "json/writer.h"
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
Result<Raw> AnswerOf(std::string_view asked, const Result<Raw>& said) {
  // What the client itself says is no more than that it did not work.
  if (!said && said.error().code == Code::kInvalid) return Fail(Code::kIo, said.error().message);
  if (!said) return std::unexpected(said.error());
  const JsonView result(said->text);
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
  return result.is_object() ? *said : Raw{"{}"};
}

Error Gone() { return {Code::kUnavailable, "the client has gone"}; }

}  // namespace

client::Services::Done Editor::Open::Take(std::uint64_t number) {
  const std::lock_guard lock(mutex);
  const auto found = done.find(number);
  if (found == done.end()) return nullptr;
  Done taken = std::move(found->second);
  done.erase(found);
  return taken;
}

void Editor::Ask(const std::string& method, const Raw& params, Done done) {
  const auto* found = std::ranges::find(kTranslations, method, &Translation::service);
  if (found == kTranslations.end())
    return done(Fail(Code::kUnsupported, fmt::format("the client knows no {}", method)));
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(open_->mutex);
    if (!open_->ended && open_->done.size() < kMaxOpen) {
      number = ++open_->last;
      open_->done.emplace(number, done);
    }
  }
  if (number == 0) return done(std::unexpected(Gone()));
  Raw written{""};
  JsonWriter writer(written.text);
  writer.BeginObject().Member("sessionId", session_id_);
  found->write(writer, params);
  writer.EndObject();
  line_.Ask(found->method, written, [open = open_, number, method](const Result<Raw>& said) {
    if (const Done waits = open->Take(number)) waits(AnswerOf(method, said));
  });
}

void Editor::End() {
  std::map<std::uint64_t, Done> left;
  {
    const std::lock_guard lock(open_->mutex);
    open_->ended = true;
    left = std::exchange(open_->done, {});
  }
  for (const auto& [number, done] : left) done(std::unexpected(Gone()));
}

}  // namespace stet::acp
