// HistoryMaker: random paths of events, as a session could have them after crashes, damage, imports
// and changes of model: calls without results, results without calls, empty and odd blocks.
// Deterministic in its random numbers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "protocol/event.h"

namespace stet::test {

/// A blob that can be read; others cannot.
inline constexpr std::string_view kGoodBlob = "good";
/// The model that is asked, by its full name; others wrote turns too.
inline constexpr std::string_view kAskedModel = "test/m";

class HistoryMaker {
 public:
  explicit HistoryMaker(Random& random) : random_(random) {}

  /// Ends where a model would be asked.
  std::vector<protocol::Event> Path() {
    path_.clear();
    open_.clear();
    filtered_ = false;
    for (std::uint64_t left = 1 + random_.Below(30); left > 0; --left) AddAny();
    if (open_.empty() || filtered_ || random_.Below(4) == 0) Add(User(Text("Go on.")));
    return std::move(path_);
  }

  /// One event of the kind that hangs on any rest point.
  protocol::Payload Message() {
    const std::uint64_t kind = random_.Below(10);
    if (kind < 3) return UserMessage();
    if (kind < 7) return AssistantMessage();
    return kind < 9 ? protocol::Payload(Item()) : Other();
  }
  protocol::Payload Result(const std::string& tool_call_id) {
    protocol::ToolResult result;
    result.tool_call_id = tool_call_id;
    result.is_error = Chance(4);
    constexpr std::array<std::string_view, 6> kOdd = {
        R"("plain text")", "null", "12", R"({"a":[1]})", "[]", R"([{"type":"later","x":1}])"};
    result.content =
        Raw{Chance(4) ? std::string(Any(kOdd)) : Encode(Blocks(1 + random_.Below(3), false))};
    return result;
  }
  /// Hides or replaces what stands there.
  protocol::Payload Filter(std::string from, std::string through) {
    if (Chance(2)) {
      protocol::ContentReplacement replacement;
      replacement.event_ids = {std::move(from), std::move(through)};
      replacement.preview = Chance(3) ? "" : "Only the beginning.";
      return replacement;
    }
    protocol::Snip snip;
    snip.from = std::move(from);
    snip.through = std::move(through);
    if (Chance(3)) snip.undo = true;
    return snip;
  }
  protocol::Payload Closing() { return User(Text("Go on.")); }

 private:
  bool Chance(std::uint64_t one_in) { return random_.Below(one_in) == 0; }
  template <class List>
  const typename List::value_type& Any(const List& list) {
    return list[random_.Below(list.size())];
  }

  void Add(protocol::Payload payload) {
    path_.emplace_back();
    path_.back().id = fmt::format("e_{}", path_.size());
    path_.back().payload = std::move(payload);
  }
  /// Of an event that stands on the path, or of none.
  std::string SomeId() { return fmt::format("e_{}", random_.Below(path_.size() + 2)); }

  void AddAny() {
    if (!open_.empty() && !Chance(5)) {
      const std::size_t which = Chance(3) ? random_.Below(open_.size()) : 0;
      Add(Result(open_[which]));
      if (!Chance(10)) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    }
    if (Chance(25)) {
      Add(Filter(SomeId(), SomeId()));
      filtered_ = true;  // No filter hides the turn that waits for its results.
      return;
    }
    if (Chance(15)) {  // Of a call that is lost, or that has its result.
      Add(Result(fmt::format("call_{}", random_.Below(calls_ + 3))));
      return;
    }
    protocol::Payload payload = Message();
    if (const auto* said = std::get_if<protocol::AssistantMessage>(&payload)) {
      open_.clear();
      for (const protocol::Block& block : said->message.blocks) {
        if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
          open_.push_back(call->tool_call_id);
      }
    } else if (!std::holds_alternative<protocol::HarnessItem>(payload)) {
      open_.clear();
    }
    Add(std::move(payload));
  }

  static protocol::Payload User(protocol::Block block) {
    protocol::UserMessage message;
    message.source = "user";
    message.message.blocks.push_back(std::move(block));
    return message;
  }
  static protocol::Block Text(std::string_view text) {
    protocol::TextBlock block;
    block.text = text;
    return block;
  }

  protocol::Payload UserMessage() {
    protocol::UserMessage message;
    message.source = "user";
    message.message.blocks = Blocks(random_.Below(3), false);
    return message;
  }

  protocol::Payload AssistantMessage() {
    protocol::AssistantMessage message;
    constexpr std::array<std::string_view, 4> kModels = {kAskedModel, kAskedModel, "other/x", ""};
    message.message.model = Any(kModels);
    if (Chance(5)) message.partial = true;
    message.message.blocks = Blocks(random_.Below(6), true);
    message.calls = protocol::CountCalls(message);
    return message;
  }

  protocol::HarnessItem Item() {
    protocol::HarnessItem item;
    item.placement = Chance(2) ? "merge" : "own";
    item.item.kind = "runtime_notice";
    item.item.content = "Something ended.";
    return item;
  }

  protocol::Payload Other() {
    if (Chance(3)) {
      protocol::CustomMessage custom;
      custom.kind = "note";
      custom.message.blocks = Blocks(random_.Below(3), false);
      return custom;
    }
    if (Chance(2)) {
      protocol::Compaction compact;
      compact.trigger = "manual";
      compact.summary = Chance(2) ? "What was said before." : "";
      compact.capsule = Raw{"{}"};
      if (Chance(2)) compact.keep_after_event_id = SomeId();
      return compact;
    }
    protocol::InternalMessage internal;
    internal.message.blocks = Blocks(1, false);
    return internal;
  }

  protocol::Blocks Blocks(std::uint64_t count, bool assistant) {
    protocol::Blocks blocks;
    for (; count > 0; --count) blocks.push_back(assistant ? ReplyBlock() : GivenBlock());
    return blocks;
  }

  /// As a user or a tool gives it; now and then what only a model should.
  protocol::Block GivenBlock() {
    const std::uint64_t kind = random_.Below(16);
    if (kind < 10) return SomeText();
    if (kind < 14) return Image();
    if (kind == 14) return Raw{R"({"type":"hologram","data":[1,2]})"};
    return Thinking();
  }

  protocol::Block ReplyBlock() {
    const std::uint64_t kind = random_.Below(16);
    if (kind < 5) return SomeText();
    if (kind < 11) return ToolCall();
    if (kind < 13) return Thinking();
    if (kind == 13) return Redacted();
    if (kind == 14) return Raw{R"({"type":"server_tool_use","id":"x"})"};
    return Image();
  }

  protocol::Block SomeText() {
    constexpr std::array<std::string_view, 9> kTexts = {"Hello.",
                                                        "",
                                                        " ",
                                                        "\n\t \r\n",
                                                        "ünï 👍 \"q\" \\",
                                                        "bad \xEF\xBF\xBD byte",
                                                        "\x01\x1F\x7F",
                                                        "<system-reminder>",
                                                        "line\nline\n"};
    protocol::TextBlock block;
    block.text = Any(kTexts);
    if (Chance(200)) block.text = std::string(20'000, 'x');
    constexpr std::array<std::string_view, 4> kSignatures = {"c2ln", "commentary", "", "[{}]"};
    if (Chance(6)) block.signature = Any(kSignatures);
    return block;
  }

  protocol::Block Image() {
    constexpr std::array<std::string_view, 6> kTypes = {"image/png",  "image/png",  "image/jpeg",
                                                        "image/webp", "image/tiff", ""};
    protocol::ImageBlock image;
    image.media_type = Any(kTypes);
    image.blob = Chance(3) ? "missing" : kGoodBlob;
    return image;
  }

  protocol::OptionalText SomeDialect() {
    constexpr std::array<std::string_view, 5> kSomeDialects = {
        "anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai",
        "esperanto"};
    if (Chance(6)) return std::nullopt;
    return std::string(Any(kSomeDialects));
  }

  std::string_view SomeSignature() {
    constexpr std::array<std::string_view, 7> kSignatures = {
        "c2lnbmVk",
        "",
        "{}",
        "[1]",
        "{broken",
        R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA=="})",
        R"({"type":"message","id":"m"})"};
    return Any(kSignatures);
  }

  protocol::Block Thinking() {
    protocol::ThinkingBlock thinking;
    thinking.text = Chance(4) ? "" : "Let me see.";
    if (!Chance(4)) thinking.signature = SomeSignature();
    thinking.dialect = SomeDialect();
    return thinking;
  }

  protocol::Block Redacted() {
    constexpr std::array<std::string_view, 5> kData = {
        R"("aGlkZGVu")", "7", "null", "{}",
        R"({"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"eA=="})"};
    protocol::RedactedThinkingBlock redacted;
    redacted.data = Raw{std::string(Any(kData))};
    redacted.dialect = SomeDialect();
    return redacted;
  }

  protocol::Block ToolCall() {
    constexpr std::array<std::string_view, 7> kNames = {
        "Read", "Read", "Bash", "", "functions.Read", "Bash<|channel|>", "ünï code"};
    constexpr std::array<std::string_view, 9> kArgs = {
        R"({"path":"a"})",       "{}",    R"({"a":{"b":[1,{"c":null}]},"a":2})", "[]", "null", "12",
        R"("{\"path\": \"cut")", R"("")", R"({"text":"\ud83d\ude00 \u0000"})"};
    // Some servers count their calls anew in every reply, or give ids that others refuse.
    constexpr std::array<std::string_view, 5> kNativeIds = {"0", "call_0", "", "toolu:1/x", "same"};
    protocol::ToolCallBlock call;
    call.tool_call_id = fmt::format("call_{}", ++calls_);
    if (!Chance(3)) call.native_id = Any(kNativeIds);
    call.tool_name = Chance(100) ? std::string(300, 'n') : std::string(Any(kNames));
    call.args = Raw{std::string(Any(kArgs))};
    if (Chance(200)) call.args = Raw{R"({"content":")" + std::string(30'000, 'y') + "\"}"};
    if (Chance(4)) call.signature = SomeSignature();
    return call;
  }

  Random& random_;
  std::vector<protocol::Event> path_;
  std::vector<std::string> open_;  // Calls of the last turn without a result.
  bool filtered_ = false;
  std::uint64_t calls_ = 0;
};

}  // namespace stet::test
