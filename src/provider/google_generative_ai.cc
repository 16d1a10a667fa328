// The dialect of Google's Generative Language API.
#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "json/members.h"
#include "json/writer.h"
#include "provider/dialect.h"
#include "provider/event_shape.h"
#include "provider/replay.h"

namespace stet::provider::google_generative_ai {
namespace {

// Documented: a call that has no signature, because another model made it, is not checked for one.
constexpr std::string_view kNoSignature = "skip_thought_signature_validator";

std::string_view ThinkingLevel(std::string_view effort) {
  if (effort == "none" || effort == "minimal") return "MINIMAL";
  if (effort == "low") return "LOW";
  if (effort == "medium") return "MEDIUM";
  return effort == "high" || effort == "xhigh" || effort == "max" ? "HIGH" : "";
}

/// -1: the model decides.
std::int64_t ThinkingBudget(std::string_view effort) {
  if (effort == "none") return 0;
  if (effort == "minimal") return 1024;
  if (effort == "low") return 4096;
  if (effort == "medium") return 12288;
  return effort == "high" || effort == "xhigh" || effort == "max" ? 24576 : -1;
}

class BodyWriter {
 public:
  BodyWriter(const Model& model, const Request& request)
      : model_(model), request_(request), ids_(model, request) {}

  Status Write(WireRequest& wire) && {
    json_.BeginObject();
    WriteGenerationConfig();
    WriteSystem();
    WriteTools();
    RETURN_IF_ERROR(WriteContents());
    json_.EndObject();
    wire.parts = parts_.TakeParts();
    wire.body = std::move(body_);
    return {};
  }

 private:
  void WriteGenerationConfig() {
    json_.Key("generationConfig").BeginObject();
    const std::int64_t max_tokens = MaxOutput(model_, request_.max_tokens);
    if (max_tokens > 0) json_.Member("maxOutputTokens", max_tokens);
    if (!request_.stop_sequences.empty()) {
      json_.Key("stopSequences").BeginArray();
      for (const std::string& sequence : request_.stop_sequences) json_.String(sequence);
      json_.EndArray();
    }
    if (request_.output) {
      json_.Member("responseMimeType", "application/json");
      if (!model_.quirks.no_json_schema)
        json_.Member("responseJsonSchema", request_.output->schema);
    }
    if (model_.thinking != Thinking::kNone) WriteThinkingConfig();
    json_.EndObject();
  }

  void WriteThinkingConfig() {
    const std::string effort = EffortFor(model_, request_.effort);
    json_.Key("thinkingConfig").BeginObject();
    if (model_.thinking == Thinking::kBudget) {
      const std::int64_t budget = ThinkingBudget(effort);
      // Thoughts cannot be asked of a model that is told not to think.
      if (budget != 0) json_.Member("includeThoughts", true);
      json_.Member("thinkingBudget", budget);
    } else {
      json_.Member("includeThoughts", true);
      const std::string_view level = ThinkingLevel(effort);
      if (!level.empty()) json_.Member("thinkingLevel", level);
    }
    json_.EndObject();
  }

  void WriteSystem() {
    const std::string system = JoinedSystem(request_);
    if (system.empty()) return;
    parts_.Begin();
    json_.Key("systemInstruction").BeginObject().Key("parts").BeginArray();
    json_.BeginObject().Member("text", system).EndObject().EndArray().EndObject();
    parts_.End(PartKind::kSystem);
  }

  void WriteTools() {
    if (request_.tools.empty() || model_.quirks.no_tools) return;
    if (!model_.quirks.no_tool_choice) WriteToolChoice();
    json_.Key("tools").BeginArray().BeginObject().Key("functionDeclarations").BeginArray();
    for (const ToolSpec& tool : request_.tools) {
      parts_.Begin();
      json_.BeginObject().Member("name", tool.name).Member("description", tool.description);
      json_.Member("parametersJsonSchema", tool.schema).EndObject();
      parts_.End(PartKind::kTool);
    }
    json_.EndArray().EndObject().EndArray();
  }

  void WriteToolChoice() {
    const ToolChoice& choice = request_.tool_choice;
    constexpr std::array<std::string_view, 4> kModes = {"AUTO", "NONE", "ANY", "ANY"};
    json_.Key("toolConfig").BeginObject().Key("functionCallingConfig").BeginObject();
    json_.Member("mode", kModes[static_cast<std::size_t>(choice.kind)]);
    if (choice.kind == ToolChoice::Kind::kNamed)
      json_.Key("allowedFunctionNames").BeginArray().String(choice.name).EndArray();
    json_.EndObject().EndObject();
  }

  Status WriteContents() {
    json_.Key("contents").BeginArray();
    for (const Entry& entry : request_.entries) {
      if (!std::holds_alternative<ToolResult>(entry)) RETURN_IF_ERROR(WriteResultImages());
      RETURN_IF_ERROR(std::visit([&](const auto& one) { return WriteEntry(one); }, entry));
    }
    RETURN_IF_ERROR(WriteResultImages());
    EndContent();
    json_.EndArray();
    return {};
  }

  Status WriteEntry(const UserInput& input) {
    for (const protocol::Block& block : input.blocks) {
      const auto* text = std::get_if<protocol::TextBlock>(&block);
      if (text != nullptr && !text->text.empty()) {
        BeginPart("user");
        json_.BeginObject().Member("text", text->text).EndObject();
        parts_.End(PartKind::kMessage);
      } else if (const auto* image = std::get_if<protocol::ImageBlock>(&block)) {
        RETURN_IF_ERROR(WriteImage(*image));
      }
    }
    return {};
  }

  /// Reasoning does not go back: the signatures of what came of it stand for it.
  Status WriteEntry(const AssistantTurn& turn) {
    bool first_call = true;
    const ReplayBlocks blocks(model_, turn);
    for (const protocol::Block& block : blocks.all()) {
      if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
        BeginPart("model");
        json_.BeginObject().Member("text", text->text);
        EndSigned(text->signature.value_or(""));
      } else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
        BeginPart("model");
        json_.BeginObject().Key("functionCall").BeginObject();
        json_.Member("id", ids_.IdOf(call->tool_call_id)).Member("name", call->tool_name);
        json_.Key("args").Text(ArgsObject(*call)).EndObject();
        // The server wants one on the first call of a turn only.
        const bool must = first_call && model_.thinking != Thinking::kNone;
        EndSigned(call->signature.value_or(std::string(must ? kNoSignature : "")));
        first_call = false;
      }
    }
    return {};
  }

  Status WriteEntry(const ToolResult& result) {
    BeginPart("user");
    json_.BeginObject().Key("functionResponse").BeginObject();
    json_.Member("id", ids_.IdOf(result.tool_call_id));
    json_.Member("name", ids_.ToolOf(result.tool_call_id)).Key("response").BeginObject();
    json_.Member(result.is_error ? "error" : "output", protocol::PlainText(result.content));
    json_.EndObject().EndObject().EndObject();
    parts_.End(PartKind::kMessage);
    for (const protocol::Block& block : result.content) {
      if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
        result_images_.push_back(image);
    }
    return {};
  }

  /// A turn's results must stand together, so their images come behind the last of them.
  Status WriteResultImages() {
    for (const protocol::ImageBlock* image : result_images_) RETURN_IF_ERROR(WriteImage(*image));
    result_images_.clear();
    return {};
  }

  Status WriteImage(const protocol::ImageBlock& image) {
    ASSIGN_OR_RETURN(const std::string data, ImageBase64(request_, image));
    BeginPart("user");
    json_.BeginObject().Key("inlineData").BeginObject();
    json_.Member("mimeType", image.media_type).Member("data", data).EndObject().EndObject();
    parts_.End(PartKind::kMessage);
    return {};
  }

  void EndSigned(std::string_view signature) {
    if (!signature.empty()) json_.Member("thoughtSignature", signature);
    json_.EndObject();
    parts_.End(PartKind::kMessage);
  }

  /// Contents begin with their first part, so none is empty and neighbours of one role are one.
  void BeginPart(std::string_view role) {
    if (role_ != role) EndContent();
    parts_.Begin();
    if (role_ == role) return;
    role_ = role;
    json_.BeginObject().Member("role", role).Key("parts").BeginArray();
  }

  void EndContent() {
    if (!role_.empty()) json_.EndArray().EndObject();
    role_ = {};
  }

  const Model& model_;
  const Request& request_;
  const WireIds ids_;
  std::string body_;
  JsonWriter json_{body_};
  PartWriter parts_{body_};
  std::string_view role_;  // Of the content being written; empty between contents.
  std::vector<const protocol::ImageBlock*> result_images_;  // Not written yet.
};

Failure NotJson(std::string_view data) {
  constexpr std::size_t kMaxQuote = 200;
  return {.kind = FailureKind::kGarbled,
          .message = "the server sent an event that is not a JSON object: " +
                     std::string(data.substr(0, Utf8PrefixLength(data, kMaxQuote)))};
}

std::string_view StopReason(std::string_view wire) {
  if (wire == "STOP") return stop::kEnd;
  if (wire == "MAX_TOKENS") return stop::kMaxTokens;
  for (const std::string_view refused : {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                         "SPII", "IMAGE_SAFETY", "LANGUAGE"}) {
    if (wire == refused) return stop::kRefused;
  }
  return stop::kOther;
}

/// A count of tokens; absent when it is not there.
protocol::OptionalInt Count(const JsonView& number) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const std::optional<std::int64_t> count = number.Int();
  return count ? std::optional(std::clamp<std::int64_t>(*count, 0, kMost)) : std::nullopt;
}

/// What matters of one event; of duplicates the first counts.
struct Chunk {
  JsonView candidates;
  JsonView model;
  JsonView feedback;
  JsonView error;
  JsonView usage;
};

/// Absent when it is no object.
protocol::OptionalUsage ReadUsage(const JsonView& object) {
  constexpr MemberNames<5> kMembers = {"promptTokenCount", "toolUsePromptTokenCount",
                                       "cachedContentTokenCount", "candidatesTokenCount",
                                       "thoughtsTokenCount"};
  const auto members = MembersOf(object.text(), kMembers);
  if (!members) return std::nullopt;
  const auto& [prompt, tool_prompt, cached, answer, thoughts] = *members;
  protocol::Usage usage;
  usage.cache_read = Count(cached);
  usage.reasoning = Count(thoughts);
  const std::int64_t fresh = Count(prompt).value_or(0) - usage.cache_read.value_or(0);
  usage.input = std::max<std::int64_t>(fresh, 0) + Count(tool_prompt).value_or(0);
  usage.output = Count(answer).value_or(0) + usage.reasoning.value_or(0);
  return usage;
}

/// One pass over all but the candidates, which count only when there is no error behind them. False
/// when `data` is anything but one object.
bool ReadChunk(std::string_view data, Chunk& chunk) {
  JsonReader reader(data);
  if (reader.Peek() != JsonReader::Kind::kObject || !reader.EnterObject()) return false;
  std::string_view key;
  while (reader.NextMember(&key)) {
    JsonView* view = key == "candidates"       ? &chunk.candidates
                     : key == "modelVersion"   ? &chunk.model
                     : key == "promptFeedback" ? &chunk.feedback
                     : key == "error"          ? &chunk.error
                     : key == "usageMetadata"  ? &chunk.usage
                                               : nullptr;
    std::string_view raw;
    if (!reader.Skip(&raw)) return false;
    if (view != nullptr && !view->present()) *view = JsonView(raw);
  }
  return reader.AtEnd();
}

class GenerateDecoder : public Decoder {
 public:
  explicit GenerateDecoder(ReplyBuilder& builder) : builder_(builder) {}

  void On(std::string_view event, std::string_view data) override {
    if (builder_.done()) return;
    if (shape_.Fits(event, data)) {
      builder_.Append(block_, shape_.Text());
      if (const JsonView& usage = shape_.value(1); usage.text() != usage_text_) TakeUsage(usage);
      return;
    }
    shape_.Forget();
    parts_ = 0;
    added_ = {};
    Chunk chunk;
    if (!ReadChunk(data, chunk)) {
      builder_.Fail(NotJson(data));
      return;
    }
    if (chunk.error && !chunk.error.is_null()) {
      builder_.Fail(FailureFromObject(chunk.error.text()));
      return;
    }
    builder_.Start(chunk.model.StringOr(""));
    const bool answered = OnCandidates(chunk.candidates);
    TakeUsage(chunk.usage);
    if (parts_ == 1) shape_.Learn(event, data, std::array{added_, chunk.usage});
    const std::string blocked = chunk.feedback["blockReason"].StringOr("");
    if (!answered && !blocked.empty()) {
      builder_.Fail({.kind = FailureKind::kRefused,
                     .message = "the request was blocked by a content filter: " + blocked});
    }
  }

  /// Usage may come behind the finish reason, so only the end of the body is the end.
  void Finish() override {
    if (finish_reason_.empty()) {
      builder_.Fail({.kind = FailureKind::kTruncated,
                     .message = "the reply ended before the server said that it was complete"});
      return;
    }
    builder_.Stop(StopReason(finish_reason_));
    builder_.End();
  }

 private:
  enum class Run { kNone, kText, kThinking };

  /// False when there is none. Only the first is read: more are not asked for.
  bool OnCandidates(const JsonView& candidates) {
    JsonReader reader(candidates.text());
    if (!candidates.is_array() || !reader.EnterArray() || !reader.NextElement()) return false;
    if (reader.Peek() != JsonReader::Kind::kObject) return true;
    reader.EnterObject();
    bool has_content = false;
    std::string_view key;
    std::string_view reason;
    while (reader.NextMember(&key)) {
      if (key == "content" && !std::exchange(has_content, true)) {
        OnContent(reader);
      } else if (key == "finishReason" && reason.empty()) {
        reader.Skip(&reason);
      } else {
        reader.Skip();
      }
    }
    const std::string finish = JsonView(reason).StringOr("");
    if (!finish.empty() && finish != "FINISH_REASON_UNSPECIFIED") finish_reason_ = finish;
    return true;
  }

  void OnContent(JsonReader& reader) {
    if (reader.Peek() != JsonReader::Kind::kObject) {
      reader.Skip();
      return;
    }
    reader.EnterObject();
    std::string_view key;
    while (reader.NextMember(&key)) {
      if (key == "parts" && reader.Peek() == JsonReader::Kind::kArray) {
        reader.EnterArray();
        while (!builder_.done() && reader.NextElement()) OnPart(reader);
      } else {
        reader.Skip();
      }
    }
  }

  void OnPart(JsonReader& reader) {
    constexpr MemberNames<4> kMembers = {"text", "thought", "functionCall", "thoughtSignature"};
    const auto members = ReadMembers(reader, kMembers);
    if (!members) return;
    const auto& [text, thought, call, signature] = *members;
    ++parts_;
    if (call.is_object()) {
      OnCall(call, signature);
    } else if (text.is_string() || signature.is_string()) {
      const std::string said = text.StringOr("");
      OnText(said, thought.Bool().value_or(false), signature);
      if (!said.empty() && !signature.is_string()) added_ = text;
    }
  }

  /// Parts of one kind that follow each other are one block. A signature often comes last, on a
  /// part without text.
  void OnText(const std::string& text, bool thought, const JsonView& signature) {
    const Run run = thought ? Run::kThinking : Run::kText;
    if (run != run_) {
      if (text.empty()) return;
      EndRun();
      run_ = run;
      block_ = thought ? builder_.OpenThinking() : builder_.OpenText();
    }
    builder_.Append(block_, text);
    if (const auto proof = signature.String()) builder_.SetSignature(block_, *proof);
  }

  /// A call comes whole.
  void OnCall(const JsonView& call, const JsonView& signature) {
    constexpr MemberNames<3> kMembers = {"id", "name", "args"};
    const auto members = MembersOf(call.text(), kMembers);
    if (!members) return;
    const auto& [id, name, args] = *members;
    const std::string tool = name.StringOr("");
    // A call without a tool's name could be neither run nor replayed.
    if (tool.empty()) return;
    EndRun();
    const ReplyBuilder::Handle block = builder_.OpenToolCall(tool, id.StringOr(""));
    if (!args.is_null()) builder_.AppendArgs(block, args.text());
    if (const auto proof = signature.String()) builder_.SetSignature(block, *proof);
    builder_.Close(block);
  }

  void TakeUsage(const JsonView& usage) {
    const protocol::OptionalUsage read = ReadUsage(usage);
    if (!read) return;
    usage_text_ = usage.text();
    builder_.Report(*read, !finish_reason_.empty());
  }

  void EndRun() {
    if (run_ != Run::kNone) builder_.Close(block_);
    run_ = Run::kNone;
  }

  ReplyBuilder& builder_;
  Run run_ = Run::kNone;
  ReplyBuilder::Handle block_ = 0;  // Of the run.
  std::string finish_reason_;
  std::string usage_text_;  // What was reported last.
  EventShape shape_;        // Of the last event, if all it did was to add text and report usage.
  int parts_ = 0;           // Of the event that is being read.
  JsonView added_;          // Its last text.
};

}  // namespace

Result<WireRequest> Encode(const Model& model, const Request& request) {
  WireRequest wire{
      .url = model.base_url + "/models/" + model.id + ":streamGenerateContent?alt=sse",
      .headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}}};
  wire.headers.insert(wire.headers.end(), model.headers.begin(), model.headers.end());
  RETURN_IF_ERROR(BodyWriter(model, request).Write(wire));
  return wire;
}

std::unique_ptr<Decoder> MakeDecoder(ReplyBuilder& builder) {
  return std::make_unique<GenerateDecoder>(builder);
}

}  // namespace stet::provider::google_generative_ai
