#include "provider/replay.h"

#include <algorithm>
#include <unordered_set>

#include "base/base64.h"
#include "json/view.h"

namespace stet::provider {
namespace {

bool Blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsReasoning(const protocol::Block& block) {
  return std::holds_alternative<protocol::ThinkingBlock>(block) ||
         std::holds_alternative<protocol::RedactedThinkingBlock>(block);
}

// Anthropic's rule for ids, and every dialect's for names of tools: all take what keeps to it.
constexpr std::size_t kMaxName = 64;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, IsPlain);
}

/// A model may call a tool that does not exist, by any name: servers take only plain ones.
std::string WireName(std::string_view name) {
  std::string plain(name.substr(0, kMaxName));
  if (IsPlainName(name)) return plain;
  std::ranges::replace_if(plain, [](char c) { return !IsPlain(c); }, '_');
  return plain.empty() ? "unnamed" : plain;
}

bool IsTakenType(std::string_view media_type) {
  return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
         media_type == "image/webp";
}

}  // namespace

ReplayBlocks::ReplayBlocks(const Model& model, const AssistantTurn& turn) {
  const bool own = turn.model == model.FullName();
  blocks_.reserve(turn.blocks.size());
  for (const protocol::Block& block : turn.blocks) {
    if (const protocol::Block* visible = Visible(model, block, own)) blocks_.push_back(visible);
  }
  while (!blocks_.empty() && IsReasoning(*blocks_.back())) blocks_.pop_back();
}

/// The block as the model may see it; null when it may not.
const protocol::Block* ReplayBlocks::Visible(const Model& model, const protocol::Block& block,
                                             bool own) {
  if (const auto* text = std::get_if<protocol::TextBlock>(&block)) {
    if (Blank(text->text)) return nullptr;
    if (own || !text->signature) return &block;
    return &changed_.emplace_back(protocol::TextBlock{.text = text->text});
  }
  if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
    if (own && IsPlainName(call->tool_name)) return &block;
    protocol::ToolCallBlock copy = *call;
    copy.tool_name = WireName(call->tool_name);
    if (!own) {
      copy.native_id.reset();
      copy.signature.reset();
    }
    return &changed_.emplace_back(std::move(copy));
  }
  const auto same_dialect = [&](const protocol::OptionalText& dialect) {
    return own && dialect == DialectName(model.dialect);
  };
  if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
    return same_dialect(thinking->dialect) ? &block : nullptr;
  if (const auto* redacted = std::get_if<protocol::RedactedThinkingBlock>(&block))
    return same_dialect(redacted->dialect) ? &block : nullptr;
  return nullptr;
}

WireIds::WireIds(const Model& model, const Request& request) {
  const std::string full_name = model.FullName();
  std::unordered_set<std::string_view> used;
  used.reserve(request.entries.size());
  calls_.reserve(request.entries.size());
  for (const Entry& entry : request.entries) {
    const auto* turn = std::get_if<AssistantTurn>(&entry);
    if (turn == nullptr) continue;
    for (const protocol::Block& block : turn->blocks) {
      const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
      if (call == nullptr) continue;
      std::string_view wire_id = call->tool_call_id;
      // Some servers count their calls anew in every reply.
      if (turn->model == full_name && call->native_id && IsPlainName(*call->native_id) &&
          used.insert(*call->native_id).second)
        wire_id = *call->native_id;
      else
        used.insert(wire_id);
      calls_.try_emplace(call->tool_call_id, wire_id, call->tool_name);
    }
  }
}

std::string_view WireIds::IdOf(std::string_view tool_call_id) const {
  const auto found = calls_.find(tool_call_id);
  return found == calls_.end() ? tool_call_id : found->second.wire_id;
}

std::string WireIds::ToolOf(std::string_view tool_call_id) const {
  const auto found = calls_.find(tool_call_id);
  return found == calls_.end() ? std::string() : WireName(found->second.tool);
}

std::string JoinedSystem(const Request& request) {
  std::string out;
  for (const std::string& section : request.system) {
    if (section.empty()) continue;
    if (!out.empty()) out += "\n\n";
    out += section;
  }
  return out;
}

Result<std::string> ImageBase64(const Request& request, const protocol::ImageBlock& image) {
  if (!IsTakenType(image.media_type)) return Fail(Code::kInvalid, "no model takes such an image");
  if (!request.read_blob) return Fail(Code::kInvalid, "the request has images but no blobs");
  ASSIGN_OR_RETURN(const std::string bytes, request.read_blob(image.blob));
  std::string out;
  AppendBase64(out, bytes);
  return out;
}

std::string ArgsObject(const protocol::ToolCallBlock& call) {
  const JsonView args(call.args.text);
  if (args.is_object()) return call.args.text;
  std::string out = "{\"malformed\":";
  AppendJsonString(out, args.StringOr(call.args.text));
  return out + "}";
}

std::string ArgsText(const protocol::ToolCallBlock& call) {
  return JsonView(call.args.text).StringOr(call.args.text);
}

}  // namespace stet::provider
