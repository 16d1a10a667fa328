// What servers want of a request's messages beside their schema: who speaks when, that every call
// has its result behind it, that nothing is empty. Written against the wire, sharing nothing with
// the code that writes requests.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "json/view.h"

namespace stet::test {

/// A request's messages, whatever the dialect.
class Spoken {
 public:
  Spoken(std::string_view api, std::string_view body) : api_(api) {
    const JsonView json(body);
    if (api == "anthropic-messages") {
      json["messages"].ForEach([&](const JsonView& message) { TakeAnthropic(message); });
    } else if (api == "openai-completions") {
      json["messages"].ForEach([&](const JsonView& message) { TakeChat(message); });
    } else if (api == "openai-responses") {
      json["input"].ForEach([&](const JsonView& item) { TakeResponses(item); });
    } else {
      json["contents"].ForEach([&](const JsonView& content) { TakeGoogle(content); });
    }
  }

  /// The first rule that is broken, with where; empty when none is.
  [[nodiscard]] std::string Broken() const {
    if (!odd_.empty()) return odd_;
    if (turns_.empty()) return "there are no messages";
    if (!turns_.front().user) return "the first message is not the user's";
    if (!turns_.back().user) return "the last message is not the user's";
    std::unordered_set<std::string> ids;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      std::string broken = turns_[i].user ? BrokenUser(i) : BrokenModel(turns_[i], ids);
      if (!broken.empty()) return fmt::format("message {}: {}", i, broken);
    }
    return "";
  }

 private:
  enum class Kind { kText, kImage, kReasoning, kCall, kResult };
  struct Part {
    Kind kind = Kind::kText;
    std::string text;  // Of a call or result: its id.
    std::string name;
  };
  struct Turn {
    bool user = false;
    std::vector<Part> parts;
  };

  [[nodiscard]] std::string BrokenUser(std::size_t at) const {
    const std::vector<std::string> calls = at == 0 ? std::vector<std::string>() : Calls(at - 1);
    const std::vector<Part>& parts = turns_[at].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (part.kind == Kind::kText && IsBlank(part.text)) return "a text says nothing";
      const bool result = part.kind == Kind::kResult;
      if (i >= calls.size() && result) return "a result without its call: " + part.text;
      if (i >= calls.size()) continue;
      if (!result) return "a call has no result directly behind it: " + calls[i];
      if (part.text != calls[i]) return fmt::format("result {} is for {}", part.text, calls[i]);
    }
    return parts.size() < calls.size() ? "a call has no result: " + calls[parts.size()] : "";
  }

  [[nodiscard]] std::string BrokenModel(const Turn& turn,
                                        std::unordered_set<std::string>& ids) const {
    for (const Part& part : turn.parts) {
      if (part.kind == Kind::kText && IsBlank(part.text)) return "a text says nothing";
      if (part.kind == Kind::kResult) return "a result of the model's";
      if (part.kind != Kind::kCall) continue;
      if (!ids.insert(part.text).second) return "two calls are named " + part.text;
      if (!IsName(part.text)) return "no id: " + part.text;
      if (!IsName(part.name)) return "no name of a tool: " + part.name;
    }
    if (turn.parts.back().kind == Kind::kReasoning) return "nothing came of the last reasoning";
    return "";
  }

  [[nodiscard]] std::vector<std::string> Calls(std::size_t at) const {
    std::vector<std::string> ids;
    for (const Part& part : turns_[at].parts) {
      if (part.kind == Kind::kCall) ids.push_back(part.text);
    }
    return ids;
  }

  [[nodiscard]] bool IsBlank(std::string_view text) const {
    return api_ == "anthropic-messages"
               ? text.find_first_not_of(" \t\r\n") == std::string_view::npos
               : text.empty();
  }

  static bool IsName(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    });
  }

  /// Neighbours of one role are one; with `alternates` there may be none.
  void Begin(bool user, bool alternates) {
    const bool same = !turns_.empty() && turns_.back().user == user;
    if (same && alternates) Odd("two messages of one role in a row");
    if (!same) turns_.push_back({.user = user, .parts = {}});
    parts_before_ = turns_.back().parts.size();
  }
  void End() {
    if (turns_.back().parts.size() == parts_before_) Odd("an empty message");
  }
  void Add(Kind kind, std::string text, std::string name = "") {
    turns_.back().parts.push_back({kind, std::move(text), std::move(name)});
  }
  void Odd(std::string_view what) {
    if (odd_.empty()) odd_ = fmt::format("message {}: {}", turns_.size(), what);
  }

  void TakeAnthropic(const JsonView& message) {
    Begin(message["role"].StringOr("") == "user", true);
    message["content"].ForEach([&](const JsonView& block) {
      const std::string type = block["type"].StringOr("");
      if (type == "text") Add(Kind::kText, block["text"].StringOr(""));
      if (type == "image") Add(Kind::kImage, "");
      if (type.ends_with("thinking")) Add(Kind::kReasoning, "");
      if (type == "tool_use")
        Add(Kind::kCall, block["id"].StringOr(""), block["name"].StringOr(""));
      if (type != "tool_result") return;
      Add(Kind::kResult, block["tool_use_id"].StringOr(""));
      block["content"].ForEach([&](const JsonView& part) {
        if (part["type"].StringOr("") == "text" && IsBlank(part["text"].StringOr("")))
          Odd("a result has a text that says nothing");
      });
    });
    End();
  }

  void TakeChat(const JsonView& message) {
    const std::string role = message["role"].StringOr("");
    if (role == "developer" || role == "system") return;
    Begin(role != "assistant", false);
    const JsonView content = message["content"];
    if (role == "tool") {
      Add(Kind::kResult, message["tool_call_id"].StringOr(""));
    } else if (content.is_string()) {
      Add(Kind::kText, content.StringOr(""));
    }
    if (role == "user") {
      content.ForEach([&](const JsonView& part) {
        if (part["type"].StringOr("") == "text") Add(Kind::kText, part["text"].StringOr(""));
        if (part["type"].StringOr("") == "image_url") Add(Kind::kImage, "");
      });
    }
    message["tool_calls"].ForEach([&](const JsonView& call) {
      Add(Kind::kCall, call["id"].StringOr(""), call["function"]["name"].StringOr(""));
    });
    End();
  }

  void TakeResponses(const JsonView& item) {
    const std::string type = item["type"].StringOr("");
    const bool user = type == "function_call_output" || item["role"].StringOr("") == "user";
    Begin(user, false);
    if (type == "function_call_output") Add(Kind::kResult, item["call_id"].StringOr(""));
    if (type == "function_call")
      Add(Kind::kCall, item["call_id"].StringOr(""), item["name"].StringOr(""));
    if (type == "reasoning") Add(Kind::kReasoning, "");
    if (type == "message") {
      if (item["content"].is_string()) Add(Kind::kText, item["content"].StringOr(""));
      item["content"].ForEach([&](const JsonView& part) {
        if (part["type"].StringOr("") == "input_text") Add(Kind::kText, part["text"].StringOr(""));
        if (part["type"].StringOr("") == "input_image") Add(Kind::kImage, "");
      });
    }
    End();
  }

  void TakeGoogle(const JsonView& content) {
    Begin(content["role"].StringOr("") == "user", true);
    content["parts"].ForEach([&](const JsonView& part) {
      if (part["text"]) Add(Kind::kText, part["text"].StringOr(""));
      if (part["inlineData"]) Add(Kind::kImage, "");
      const JsonView call = part["functionCall"];
      if (call) Add(Kind::kCall, call["id"].StringOr(""), call["name"].StringOr(""));
      const JsonView response = part["functionResponse"];
      if (response) Add(Kind::kResult, response["id"].StringOr(""));
      if (response && !IsName(response["name"].StringOr(""))) Odd("a response without a name");
    });
    End();
  }

  std::string_view api_;
  std::vector<Turn> turns_;
  std::size_t parts_before_ = 0;  // Of the message that is being taken.
  std::string odd_;               // What was wrong while it was taken.
};

/// Empty when the request keeps all rules of its dialect.
inline std::string BrokenRule(std::string_view api, std::string_view body) {
  return Spoken(api, body).Broken();
}

}  // namespace stet::test
