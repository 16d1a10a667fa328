#include "emulator/request_facts.h"

#include <fmt/format.h>

#include "json/view.h"

namespace stet::emulator {
namespace {

constexpr std::string_view kGoogleVerb = ":streamGenerateContent";

/// A string, or the texts of an array of parts.
std::string TextOf(const JsonView& content) {
  if (content.is_string()) return content.StringOr("");
  std::string text;
  content.ForEach([&](const JsonView& part) {
    const std::string one = part["text"].StringOr("");
    if (one.empty()) return;
    if (!text.empty()) text += '\n';
    text += one;
  });
  return text;
}

bool HasPart(const JsonView& content, std::string_view type) {
  bool has = false;
  content.ForEach([&](const JsonView& part) { has = has || part["type"].StringOr("") == type; });
  return has;
}

/// Follows the conversation: who spoke last, and what the user said.
struct Reading {
  RequestFacts& facts;

  void ModelSpoke() const { facts.has_tool_result = false; }
  void ToolAnswered() const { facts.has_tool_result = true; }
  void UserSaid(std::string text) const {
    if (!text.empty()) facts.last_user = std::move(text);
  }
};

void ReadAnthropic(const JsonView& body, const Reading& reading) {
  body["messages"].ForEach([&](const JsonView& message) {
    const std::string role = message["role"].StringOr("");
    if (role == "assistant") reading.ModelSpoke();
    if (role != "user") return;
    if (HasPart(message["content"], "tool_result")) reading.ToolAnswered();
    reading.UserSaid(TextOf(message["content"]));
  });
}

void ReadCompletions(const JsonView& body, const Reading& reading) {
  body["messages"].ForEach([&](const JsonView& message) {
    const std::string role = message["role"].StringOr("");
    if (role == "assistant") reading.ModelSpoke();
    if (role == "tool") reading.ToolAnswered();
    if (role == "user") reading.UserSaid(TextOf(message["content"]));
  });
}

void ReadResponses(const JsonView& body, const Reading& reading) {
  const JsonView input = body["input"];
  if (input.is_string()) reading.UserSaid(input.StringOr(""));
  input.ForEach([&](const JsonView& item) {
    const std::string role = item["role"].StringOr("");
    const std::string type = item["type"].StringOr("message");
    if (role == "user") return reading.UserSaid(TextOf(item["content"]));
    if (type == "function_call_output") return reading.ToolAnswered();
    if (role == "assistant" || type == "function_call" || type == "reasoning") reading.ModelSpoke();
  });
}

void ReadGoogle(const JsonView& body, const Reading& reading) {
  body["contents"].ForEach([&](const JsonView& content) {
    if (content["role"].StringOr("user") == "model") return reading.ModelSpoke();
    content["parts"].ForEach([&](const JsonView& part) {
      if (part["functionResponse"]) reading.ToolAnswered();
    });
    reading.UserSaid(TextOf(content["parts"]));
  });
}

std::string GoogleModel(std::string_view path) {
  path.remove_suffix(kGoogleVerb.size());
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string FirstOf(const JsonView& sequences) {
  if (sequences.is_string()) return sequences.StringOr("");
  std::string first;
  sequences.ForEach([&](const JsonView& one) {
    if (first.empty()) first = one.StringOr("");
  });
  return first;
}

/// Whether one of the string values of `body` contains `text`.
bool AnyStringContains(std::string_view body, std::string_view text) {
  JsonReader reader(body);
  std::vector<bool> open;  // What we are inside of, true for an object.
  std::string value;
  std::string_view key;
  do {
    switch (reader.Peek()) {
      case JsonReader::Kind::kObject: reader.EnterObject(), open.push_back(true); break;
      case JsonReader::Kind::kArray: reader.EnterArray(), open.push_back(false); break;
      case JsonReader::Kind::kString:
        if (reader.String(&value) && value.find(text) != std::string::npos) return true;
        break;
      default: reader.Skip();
    }
    // To the next value, leaving what has ended.
    while (!open.empty() && !(open.back() ? reader.NextMember(&key) : reader.NextElement())) {
      if (!reader.ok()) return false;
      open.pop_back();
    }
  } while (!open.empty() && reader.ok());
  return false;
}

}  // namespace

std::optional<Dialect> DialectAt(std::string_view path) {
  if (path.ends_with("/v1/messages")) return Dialect::kAnthropicMessages;
  if (path.ends_with("/chat/completions")) return Dialect::kOpenAiCompletions;
  if (path.ends_with("/responses")) return Dialect::kOpenAiResponses;
  if (path.ends_with(kGoogleVerb) && path.find("/models/") != std::string_view::npos) {
    return Dialect::kGoogleGenerativeAi;
  }
  return std::nullopt;
}

RequestFacts ReadFacts(Dialect dialect, std::string_view target, std::string_view body) {
  RequestFacts facts{.dialect = dialect, .body = body};
  const JsonView view(body);
  const Reading reading{facts};
  facts.model = view["model"].StringOr("");
  facts.stream = view["stream"].Bool().value_or(false);
  switch (dialect) {
    case Dialect::kAnthropicMessages:
      ReadAnthropic(view, reading);
      facts.stop_sequence = FirstOf(view["stop_sequences"]);
      break;
    case Dialect::kOpenAiCompletions:
      ReadCompletions(view, reading);
      facts.include_usage = view["stream_options"]["include_usage"].Bool().value_or(false);
      facts.stop_sequence = FirstOf(view["stop"]);
      break;
    case Dialect::kOpenAiResponses: ReadResponses(view, reading); break;
    case Dialect::kGoogleGenerativeAi: {
      ReadGoogle(view, reading);
      const std::size_t query = target.find('?');
      facts.model = GoogleModel(target.substr(0, query));
      facts.stream = query != std::string_view::npos &&
                     target.substr(query).find("alt=sse") != std::string_view::npos;
      break;
    }
  }
  return facts;
}

std::string Mismatch(const When& when, const RequestFacts& facts, std::int64_t call) {
  if (when.dialect && *when.dialect != facts.dialect) {
    return fmt::format("the dialect is {}", DialectName(facts.dialect));
  }
  if (when.model && *when.model != facts.model) return fmt::format("the model is {}", facts.model);
  if (when.call && *when.call != call) return fmt::format("this is call {}", call);
  if (when.has_tool_result && *when.has_tool_result != facts.has_tool_result) {
    return facts.has_tool_result ? "there is a tool result" : "there is no tool result";
  }
  if (when.last_user && facts.last_user.find(*when.last_user) == std::string::npos) {
    return fmt::format("the last user message has no \"{}\"", *when.last_user);
  }
  if (when.contains && !AnyStringContains(facts.body, *when.contains)) {
    return fmt::format("the request has no \"{}\"", *when.contains);
  }
  return "";
}

}  // namespace stet::emulator
