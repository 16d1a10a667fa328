#include "hook/extension/reply.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/view.h"

namespace stet::hook {
namespace {

constexpr std::size_t kMaxToolText = 100'000;
constexpr std::size_t kMaxText = 32'768;
constexpr std::size_t kMaxOperations = 64;
constexpr std::size_t kMaxEvents = 256;

std::unexpected<Error> Wrong(std::string_view what) {
  return Fail(Code::kInvalid, fmt::format("its answer is wrong: {}", what));
}

Result<std::string> TextOf(const JsonView& value, std::string_view name, std::size_t max_bytes) {
  if (!value || value.is_null()) return std::string();
  if (!value.is_string()) return Wrong(fmt::format("{} must be a text", name));
  std::string text = ReplaceInvalidUtf8(value.StringOr(""));
  if (text.size() <= max_bytes) return text;
  const std::size_t whole = text.size();
  text.resize(Utf8PrefixLength(text, max_bytes));
  return fmt::format("{}\n[{} more bytes were left out]", text, whole - text.size());
}

Result<std::string> IdOf(const JsonView& value) {
  constexpr std::size_t kMaxId = 128;
  std::string id = value.StringOr("");
  if (id.empty() || id.size() > kMaxId) return Wrong("an event is named by its id");
  return id;
}

Result<ContextOperation> ReadOperation(const JsonView& one) {
  ContextOperation operation;
  const std::string op = one["op"].StringOr("");
  if (op == "hide") {
    operation.kind = ContextOperation::Kind::kHide;
    for (const char* end : {"from", "through"}) {
      ASSIGN_OR_RETURN(std::string id, IdOf(one[end]));
      operation.events.push_back(std::move(id));
    }
    return operation;
  }
  ASSIGN_OR_RETURN(operation.text, TextOf(one["text"], "text", kMaxText));
  if (op == "append") {
    if (operation.text.find_first_not_of(" \t\r\n") == std::string::npos)
      return Wrong("append needs a text");
    return operation;
  }
  if (op != "replace") return Wrong("op must be replace, hide or append");
  operation.kind = ContextOperation::Kind::kReplace;
  Status status;
  one["events"].ForEach([&](const JsonView& event) {
    Result<std::string> id = IdOf(event);
    if (!id)
      status = std::unexpected(id.error());
    else if (operation.events.size() < kMaxEvents)
      operation.events.push_back(*std::move(id));
    else
      status = Wrong("events has too many");
  });
  RETURN_IF_ERROR(status);
  if (operation.events.empty()) return Wrong("replace needs events");
  return operation;
}

}  // namespace

Result<tool::Outcome> ReadToolReply(const Raw& reply) {
  const JsonView object(reply.text);
  if (!object.is_object() || !object["content"].is_string())
    return Wrong("a tool answers with {content, isError?}");
  ASSIGN_OR_RETURN(const std::string text, TextOf(object["content"], "content", kMaxToolText));
  tool::Outcome outcome = tool::Say(text);
  outcome.is_error = object["isError"].Bool().value_or(false);
  return outcome;
}

Result<CommandReply> ReadCommandReply(const Raw& reply) {
  const JsonView object(reply.text);
  CommandReply read;
  if (object.is_null()) return read;
  if (!object.is_object()) return Wrong("a command answers with {text?, prompt?}");
  ASSIGN_OR_RETURN(read.text, TextOf(object["text"], "text", kMaxText));
  ASSIGN_OR_RETURN(read.prompt, TextOf(object["prompt"], "prompt", kMaxText));
  return read;
}

Result<std::vector<ContextOperation>> ReadOperations(const Raw& reply) {
  std::vector<ContextOperation> operations;
  const JsonView list = JsonView(reply.text)["operations"];
  if (list && !list.is_array() && !list.is_null()) return Wrong("operations must be a list");
  Status status;
  list.ForEach([&](const JsonView& one) {
    if (!status) return;
    Result<ContextOperation> operation = ReadOperation(one);
    if (!operation)
      status = std::unexpected(operation.error());
    else if (operations.size() < kMaxOperations)
      operations.push_back(*std::move(operation));
    else
      status = Wrong("operations has too many");
  });
  RETURN_IF_ERROR(status);
  return operations;
}

}  // namespace stet::hook
