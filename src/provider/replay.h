// Replay: how earlier turns go back to a model, the same for all dialects.
//
// What one model signed or hid means nothing to another: it goes back only to the model that wrote
// it. Everything here is a pure function of the request, and adding entries at the end never
// changes what was made of those before: a prefix stays a prefix.
#pragma once

#include <deque>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "provider/model.h"
#include "provider/request.h"

namespace stet::provider {

/// The blocks of an earlier turn as `model` may see them. Gone are: reasoning of another model or
/// dialect; reasoning that no text or call follows; text of white space alone; blocks of unknown
/// kinds. From another model's text and calls the signatures and native ids are gone. A tool's name
/// that no server takes is spelled so that it does.
///
/// Most are the turn's own and are not copied: `turn` must outlive what is returned.
class ReplayBlocks {
 public:
  ReplayBlocks(const Model& model, const AssistantTurn& turn);
  // What was changed is pointed at.
  ReplayBlocks(const ReplayBlocks&) = delete;
  ReplayBlocks& operator=(const ReplayBlocks&) = delete;

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  /// A range of blocks.
  [[nodiscard]] auto all() const {
    return std::views::transform(
        blocks_, [](const protocol::Block* block) -> const protocol::Block& { return *block; });
  }

 private:
  const protocol::Block* Visible(const Model& model, const protocol::Block& block, bool own);

  std::vector<const protocol::Block*> blocks_;
  std::deque<protocol::Block> changed_;
};

/// The ids of calls on the wire: the id that this model gave a call, unless an earlier call has the
/// same one; else ours.
class WireIds {
 public:
  /// `request` must outlive it.
  WireIds(const Model& model, const Request& request);

  /// `tool_call_id` itself when the request has no such call.
  [[nodiscard]] std::string_view IdOf(std::string_view tool_call_id) const;
  /// The called tool; empty when the request has no such call.
  [[nodiscard]] std::string ToolOf(std::string_view tool_call_id) const;

 private:
  struct Call {
    std::string_view wire_id;
    std::string_view tool;
  };
  std::unordered_map<std::string_view, Call> calls_;
};

/// The sections, joined by blank lines; empty ones are left out.
std::string JoinedSystem(const Request& request);

/// The image's bytes in base64. kInvalid when the request cannot read blobs, or when no model takes
/// images of this type.
Result<std::string> ImageBase64(const Request& request, const protocol::ImageBlock& image);

/// Arguments as an object, for dialects that take nothing else: what was malformed goes back as
/// {"malformed": "its text"}.
std::string ArgsObject(const protocol::ToolCallBlock& call);
/// Arguments as the text the model wrote, for dialects that take a string.
std::string ArgsText(const protocol::ToolCallBlock& call);

}  // namespace stet::provider
