#include "emulator/prompt.h"

#include <algorithm>

#include "base/hash.h"
#include "json/tree.h"

namespace stet::emulator {
namespace {

using Kind = JsonReader::Kind;

constexpr std::size_t kLettersPerToken = 7;
constexpr std::size_t kDigitsPerToken = 3;
constexpr std::string_view kMark = "cache_control";

enum class Class { kSpace, kLetter, kDigit, kOther };

Class ClassOf(unsigned char c) {
  if (c <= ' ') return Class::kSpace;
  if (c >= '0' && c <= '9') return Class::kDigit;
  const auto lower = static_cast<unsigned char>(c | 0x20U);
  return c >= 0x80 || (lower >= 'a' && lower <= 'z') ? Class::kLetter : Class::kOther;
}

class Reader {
 public:
  explicit Reader(Prompt& prompt) : prompt_(prompt) {}

  /// One block of its own; `before` says what it is.
  void Block(std::string_view before, const JsonTree& value) {
    Text(before);
    Value(value, true);
    prompt_.blocks.push_back({.end = prompt_.tokens.size(), .mark = value.Find(kMark) != nullptr});
  }
  void Each(std::string_view before, const JsonTree* list) {
    if (list == nullptr) return;
    if (!list->is(Kind::kArray)) return Block(before, *list);
    for (const JsonTree& item : list->items) Block(before, item);
  }
  /// Tokens that belong to the block that follows.
  void Lead(std::string_view name, const JsonTree* value) {
    if (value == nullptr) return;
    Text(name);
    Value(*value, false);
  }

 private:
  void Add(std::string_view token) {
    prompt_.tokens.push_back(static_cast<std::uint32_t>(FastHash(token)));
  }

  void Text(std::string_view text) {
    while (!text.empty()) {
      const Class kind = ClassOf(static_cast<unsigned char>(text.front()));
      const std::size_t most = kind == Class::kLetter  ? kLettersPerToken
                               : kind == Class::kDigit ? kDigitsPerToken
                                                       : 1;
      const std::string_view start = text.substr(0, most);
      const auto other = std::ranges::find_if(
          start, [&](char c) { return ClassOf(static_cast<unsigned char>(c)) != kind; });
      const auto length = static_cast<std::size_t>(other - start.begin());
      if (kind != Class::kSpace) Add(text.substr(0, length));
      text.remove_prefix(length);
    }
  }

  /// Trees are of bounded depth.
  // NOLINTNEXTLINE(misc-no-recursion)
  void Value(const JsonTree& value, bool skip_mark) {
    switch (value.kind) {
      case Kind::kObject:
        Add("{");
        for (const JsonMember& member : value.members) {
          if (skip_mark && member.name == kMark) continue;
          Text(member.name);
          Value(member.value, false);
        }
        break;
      case Kind::kArray:
        Add("[");
        for (const JsonTree& item : value.items) Value(item, false);
        break;
      case Kind::kString:
      case Kind::kNumber: Text(value.text); break;
      case Kind::kBool: Add(value.boolean ? "true" : "false"); break;
      default: Add("null");
    }
  }

  Prompt& prompt_;
};

std::string TextAt(const JsonTree* object, std::string_view name) {
  const JsonTree* value = object == nullptr ? nullptr : object->Find(name);
  return value == nullptr ? "" : value->text;
}

/// The blocks of messages, under the name of who says them.
void ReadMessages(Reader& reader, const JsonTree* messages, std::string_view role,
                  std::string_view content) {
  if (messages == nullptr) return;
  for (const JsonTree& message : messages->items)
    reader.Each(TextAt(&message, role), message.Find(content));
}

void ReadAnthropic(Prompt& prompt, const JsonTree& body) {
  Reader reader(prompt);
  if (const JsonTree* config = body.Find("output_config")) AppendJson(prompt.scope, *config);
  reader.Each("tool", body.Find("tools"));
  reader.Each("system", body.Find("system"));
  reader.Lead("thinking", body.Find("thinking"));
  reader.Lead("choice", body.Find("tool_choice"));
  ReadMessages(reader, body.Find("messages"), "role", "content");
}

void ReadCompletions(Prompt& prompt, const JsonTree& body) {
  Reader reader(prompt);
  reader.Lead("output", body.Find("response_format"));
  reader.Each("tool", body.Find("tools"));
  reader.Each("message", body.Find("messages"));
}

void ReadResponses(Prompt& prompt, const JsonTree& body) {
  Reader reader(prompt);
  reader.Lead("output", body.Find("text"));
  reader.Each("tool", body.Find("tools"));
  reader.Each("system", body.Find("instructions"));
  reader.Each("item", body.Find("input"));
}

void ReadGoogle(Prompt& prompt, const JsonTree& body) {
  Reader reader(prompt);
  reader.Each("tool", body.Find("tools"));
  reader.Each("system", body.Find("systemInstruction"));
  ReadMessages(reader, body.Find("contents"), "role", "parts");
}

}  // namespace

Prompt ReadPrompt(Dialect dialect, std::string_view model, std::string_view body) {
  Prompt prompt;
  prompt.scope = model;
  const Result<JsonTree> tree = ParseTree(body);
  if (!tree || !tree->is(Kind::kObject)) return prompt;
  switch (dialect) {
    case Dialect::kAnthropicMessages: ReadAnthropic(prompt, *tree); break;
    case Dialect::kOpenAiCompletions: ReadCompletions(prompt, *tree); break;
    case Dialect::kOpenAiResponses: ReadResponses(prompt, *tree); break;
    case Dialect::kGoogleGenerativeAi: ReadGoogle(prompt, *tree); break;
  }
  return prompt;
}

}  // namespace stet::emulator
