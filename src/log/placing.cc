#include "log/placing.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet::log {
namespace {

std::vector<OpenCall> CallsOf(const protocol::AssistantMessage& message) {
  std::vector<OpenCall> calls;
  for (const protocol::Block& block : message.message.blocks) {
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
      calls.push_back({call->tool_call_id, static_cast<std::int64_t>(calls.size())});
    }
  }
  return calls;
}

}  // namespace

Status Placing::Place(protocol::Event& event) {
  event.parent_id = leaf_id;
  if (protocol::PlaceOf(event.payload) != protocol::Place::kTree) return {};
  if (auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    const auto call = std::ranges::find(open, result->tool_call_id, &OpenCall::tool_call_id);
    if (call == open.end()) {
      return Fail(
          Code::kConflict,
          fmt::format("call {} is not open here: it has its result already, or was never made",
                      result->tool_call_id));
    }
    result->call_index = call->call_index;
    open.erase(call);
  } else {
    if (!open.empty()) {
      return Fail(Code::kBusy, fmt::format("{} call(s) wait for their result, {} first",
                                           open.size(), open.front().tool_call_id));
    }
    if (auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload)) {
      open = CallsOf(*assistant);
      assistant->calls = static_cast<std::int64_t>(open.size());
    }
  }
  leaf_id = event.id;
  return {};
}

}  // namespace stet::log
