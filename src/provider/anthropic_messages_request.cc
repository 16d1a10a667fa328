// Requests in the dialect of Anthropic's Messages.
#include <algorithm>
#include <array>
#include <ranges>

#include "json/view.h"
#include "json/writer.h"
#include "provider/dialect.h"
#include "provider/replay.h"

namespace stet::provider::anthropic_messages {
namespace {

constexpr std::string_view kCacheMark = R"(,"cache_control":{"type":"ephemeral"})";
constexpr std::size_t kMarkedMessages = 2;
constexpr std::int64_t kMinBudget = 1024;
constexpr std::int64_t kAnyModelsMaxTokens = 4096;  // Every model gives that many.

bool Blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::int64_t MaxTokens(const Model& model, const Request& request) {
  const std::int64_t wanted = MaxOutput(model, request.max_tokens);
  return wanted > 0 ? wanted : kAnyModelsMaxTokens;
}

/// The nearest effort that the wire has. Some models refuse to be told not to think, but none
/// refuses a low effort.
std::optional<std::string_view> WireEffort(std::string_view effort) {
  if (effort == "none" || effort == "minimal") return "low";
  for (const std::string_view name : {"low", "medium", "high", "xhigh", "max"}) {
    if (effort == name) return name;
  }
  return std::nullopt;
}

std::int64_t BudgetOf(std::string_view effort) {
  if (effort == "low") return 4096;
  if (effort == "medium") return 12288;
  if (effort == "high") return 32768;
  return effort == "xhigh" || effort == "max" ? 65536 : 0;
}

/// Whether a block is reasoning that can be proved to be the model's own.
bool IsProvenReasoning(const protocol::Block& block) {
  if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
    return !thinking->signature.value_or("").empty();
  const auto* redacted = std::get_if<protocol::RedactedThinkingBlock>(&block);
  return redacted != nullptr && JsonView(redacted->data.text).is_string();
}

/// With a budget the server wants the turn that the last calls belong to, which reaches back to
/// what the user said before them, to begin with reasoning. What another model wrote has none.
bool MayHaveBudget(const Model& model, const Request& request) {
  bool in_calls = false;
  for (auto entry = request.entries.rbegin(); entry != request.entries.rend(); ++entry) {
    if (std::holds_alternative<UserInput>(*entry) && in_calls) return false;
    const auto* turn = std::get_if<AssistantTurn>(&*entry);
    if (turn == nullptr) continue;
    const ReplayBlocks blocks(model, *turn);
    if (blocks.empty()) continue;
    if (std::ranges::any_of(blocks.all(), IsProvenReasoning)) return true;
    const bool calls = std::ranges::any_of(blocks.all(), [](const protocol::Block& block) {
      return std::holds_alternative<protocol::ToolCallBlock>(block);
    });
    if (!in_calls && !calls) return true;
    in_calls = true;
  }
  return !in_calls;
}

/// 0: no budget.
std::int64_t ThinkingBudget(const Model& model, const Request& request) {
  if (model.thinking != Thinking::kBudget) return 0;
  const std::int64_t wanted = BudgetOf(EffortFor(model, request.effort));
  const std::int64_t budget = std::min(wanted, MaxTokens(model, request) - 1);
  return budget >= kMinBudget && MayHaveBudget(model, request) ? budget : 0;
}

class BodyWriter {
 public:
  BodyWriter(const Model& model, const Request& request)
      : model_(model),
        request_(request),
        ids_(model, request),
        adaptive_(model.thinking == Thinking::kAdaptive && request.effort != "none"),
        budget_(ThinkingBudget(model, request)) {}

  Status Write(WireRequest& wire) && {
    json_.BeginObject();
    WriteSettings();
    WriteOutputConfig();
    WriteSystem();
    WriteTools();
    RETURN_IF_ERROR(WriteMessages());
    json_.EndObject();
    if (request_.cache) InsertMarks();
    wire.parts = parts_.TakeParts();
    wire.body = std::move(body_);
    return {};
  }

 private:
  void WriteSettings() {
    json_.Member("model", model_.id);
    json_.Member("max_tokens", MaxTokens(model_, request_));
    json_.Member("stream", true);
    parts_.Begin();
    if (adaptive_) {
      json_.Key("thinking").BeginObject();
      json_.Member("type", "adaptive").Member("display", "summarized").EndObject();
      parts_.End(PartKind::kThinking);
    } else if (budget_ > 0) {
      json_.Key("thinking").BeginObject();
      json_.Member("type", "enabled").Member("budget_tokens", budget_).EndObject();
      parts_.End(PartKind::kThinking);
    }
    if (!request_.stop_sequences.empty()) {
      json_.Key("stop_sequences").BeginArray();
      for (const std::string& sequence : request_.stop_sequences) json_.String(sequence);
      json_.EndArray();
    }
    if (!request_.user.empty() && !model_.quirks.no_metadata)
      json_.Key("metadata").BeginObject().Member("user_id", request_.user).EndObject();
  }

  void WriteOutputConfig() {
    std::optional<std::string_view> effort;
    if (model_.thinking == Thinking::kAdaptive || model_.thinking == Thinking::kEffort)
      effort = WireEffort(EffortFor(model_, request_.effort));
    const bool schema = request_.output && !model_.quirks.no_json_schema;
    if (!effort && !schema) return;
    json_.Key("output_config").BeginObject();
    parts_.Begin();
    if (effort) {
      json_.Member("effort", *effort);
      parts_.End(PartKind::kEffort);
    }
    if (schema) {
      parts_.Begin();
      json_.Key("format").BeginObject().Member("type", "json_schema");
      json_.Member("schema", request_.output->schema).EndObject();
      parts_.End(PartKind::kOutput);
    }
    json_.EndObject();
  }

  void WriteSystem() {
    if (std::ranges::all_of(request_.system, Blank)) return;
    json_.Key("system").BeginArray();
    for (const std::string& section : request_.system) {
      if (Blank(section)) continue;
      parts_.Begin();
      WriteText(section);
      EndBlock(PartKind::kSystem);
    }
    marks_.push_back(LastBrace());
    json_.EndArray();
  }

  void WriteTools() {
    if (request_.tools.empty() || model_.quirks.no_tools) return;
    json_.Key("tools").BeginArray();
    for (const ToolSpec& tool : request_.tools) {
      parts_.Begin();
      json_.BeginObject().Member("name", tool.name).Member("description", tool.description);
      json_.Member("input_schema", tool.schema).EndObject();
      EndBlock(PartKind::kTool);
    }
    marks_.push_back(LastBrace());
    json_.EndArray();
    if (model_.quirks.no_tool_choice) return;
    // The server takes no other choice from a model that thinks.
    const bool thinks = adaptive_ || budget_ > 0;
    ToolChoice::Kind kind = request_.tool_choice.kind;
    if (thinks && kind != ToolChoice::Kind::kNone) kind = ToolChoice::Kind::kAuto;
    constexpr std::array<std::string_view, 4> kNames = {"auto", "none", "any", "tool"};
    parts_.Begin();
    json_.Key("tool_choice").BeginObject();
    json_.Member("type", kNames[static_cast<std::size_t>(kind)]);
    if (kind == ToolChoice::Kind::kNamed) json_.Member("name", request_.tool_choice.name);
    json_.EndObject();
    parts_.End(PartKind::kChoice);
  }

  Status WriteMessages() {
    json_.Key("messages").BeginArray();
    for (const Entry& entry : request_.entries)
      RETURN_IF_ERROR(std::visit([&](const auto& one) { return WriteEntry(one); }, entry));
    EndMessage();
    json_.EndArray();
    const std::size_t marked = std::min(user_ends_.size(), kMarkedMessages);
    marks_.insert(marks_.end(), user_ends_.end() - static_cast<std::ptrdiff_t>(marked),
                  user_ends_.end());
    return {};
  }

  Status WriteEntry(const UserInput& input) {
    for (const protocol::Block& block : input.blocks) {
      if (!IsContent(block)) continue;
      BeginBlock("user");
      RETURN_IF_ERROR(WriteContent(block));
      EndBlock(PartKind::kMessage);
      user_ends_.back() = LastBrace();
    }
    return {};
  }

  Status WriteEntry(const AssistantTurn& turn) {
    const ReplayBlocks blocks(model_, turn);
    for (const protocol::Block& block : blocks.all()) WriteReplay(block);
    return {};
  }

  Status WriteEntry(const ToolResult& result) {
    const bool empty = std::ranges::none_of(result.content, IsContent);
    const bool image = std::ranges::any_of(result.content, [](const protocol::Block& block) {
      return std::holds_alternative<protocol::ImageBlock>(block);
    });
    BeginBlock("user");
    json_.BeginObject().Member("type", "tool_result");
    json_.Member("tool_use_id", ids_.IdOf(result.tool_call_id)).Key("content");
    // An error must have a text and no image.
    if (empty) {
      json_.String(result.is_error ? "The tool failed and said nothing." : "");
    } else {
      json_.BeginArray();
      for (const protocol::Block& block : result.content) {
        if (IsContent(block)) RETURN_IF_ERROR(WriteContent(block));
      }
      json_.EndArray();
    }
    if (result.is_error && !image) json_.Member("is_error", true);
    json_.EndObject();
    EndBlock(PartKind::kMessage);
    user_ends_.back() = LastBrace();
    return {};
  }

  void WriteReplay(const protocol::Block& block) {
    const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block);
    const auto* redacted = std::get_if<protocol::RedactedThinkingBlock>(&block);
    const bool reasoning = thinking != nullptr || redacted != nullptr;
    if (reasoning && (IsToldNotToThink() || !IsProvenReasoning(block))) return;
    BeginBlock("assistant");
    if (thinking != nullptr) {
      json_.BeginObject().Member("type", "thinking").Member("thinking", thinking->text);
      json_.Member("signature", *thinking->signature).EndObject();
    } else if (redacted != nullptr) {
      json_.BeginObject().Member("type", "redacted_thinking");
      json_.Member("data", redacted->data).EndObject();
    } else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
      json_.BeginObject().Member("type", "tool_use");
      json_.Member("id", ids_.IdOf(call->tool_call_id)).Member("name", call->tool_name);
      json_.Key("input").Text(ArgsObject(*call)).EndObject();
    } else if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      WriteText(text->text);
    }
    EndBlock(PartKind::kMessage);
  }

  /// The server refuses reasoning before the last results then.
  [[nodiscard]] bool IsToldNotToThink() const {
    return (model_.thinking == Thinking::kBudget && budget_ == 0) ||
           (model_.thinking == Thinking::kAdaptive && !adaptive_);
  }

  /// Whether the server takes the block from a user: it refuses a text without a letter.
  static bool IsContent(const protocol::Block& block) {
    const auto* text = std::get_if<protocol::TextBlock>(&block);
    return text != nullptr ? !Blank(text->text)
                           : std::holds_alternative<protocol::ImageBlock>(block);
  }

  Status WriteContent(const protocol::Block& block) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
      WriteText(text->text);
      return {};
    }
    const auto& image = std::get<protocol::ImageBlock>(block);
    ASSIGN_OR_RETURN(const std::string data, ImageBase64(request_, image));
    json_.BeginObject().Member("type", "image").Key("source").BeginObject();
    json_.Member("type", "base64").Member("media_type", image.media_type).Member("data", data);
    json_.EndObject().EndObject();
    return {};
  }

  void WriteText(std::string_view text) {
    json_.BeginObject().Member("type", "text").Member("text", text).EndObject();
  }

  /// Messages begin with their first block, so none is empty and neighbours of one role are one.
  void BeginBlock(std::string_view role) {
    if (role_ != role) EndMessage();
    parts_.Begin();
    if (role_ == role) return;
    role_ = role;
    if (role == "user") user_ends_.push_back(0);
    json_.BeginObject().Member("role", role).Key("content").BeginArray();
  }

  void EndMessage() {
    if (!role_.empty()) json_.EndArray().EndObject();
    role_ = {};
  }

  /// Without its brace, before which a mark may come.
  void EndBlock(PartKind kind) { parts_.End(kind, 1); }

  [[nodiscard]] std::size_t LastBrace() const { return body_.size() - 1; }

  /// Which blocks are marked is known only when all are written. From the back, so that the places
  /// in front stay right.
  void InsertMarks() {
    std::ranges::sort(marks_);
    for (const std::size_t mark : std::views::reverse(marks_)) body_.insert(mark, kCacheMark);
    parts_.Marked(marks_, kCacheMark);
  }

  const Model& model_;
  const Request& request_;
  const WireIds ids_;
  const bool adaptive_;
  const std::int64_t budget_;
  std::string body_;
  JsonWriter json_{body_};
  PartWriter parts_{body_};
  std::string_view role_;               // Of the message being written; empty between messages.
  std::vector<std::size_t> user_ends_;  // The last block's closing brace in each user message.
  std::vector<std::size_t> marks_;      // Closing braces of blocks that the cache may end with.
};

}  // namespace

Result<WireRequest> Encode(const Model& model, const Request& request) {
  WireRequest wire{.url = model.base_url + "/v1/messages",
                   .headers = {{"content-type", "application/json"},
                               {"accept", "text/event-stream"},
                               {"anthropic-version", "2023-06-01"}}};
  wire.headers.insert(wire.headers.end(), model.headers.begin(), model.headers.end());
  RETURN_IF_ERROR(BodyWriter(model, request).Write(wire));
  return wire;
}

}  // namespace stet::provider::anthropic_messages
