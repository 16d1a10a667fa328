// Request: what a model is asked, in no dialect. A value; building it sends nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "protocol/content.h"
#include "protocol/tool_spec.h"

namespace stet::provider {

using protocol::ToolSpec;

struct UserInput {
  protocol::Blocks blocks;  // Text and images.
};

struct AssistantTurn {
  protocol::Blocks blocks;
  /// Model::FullName() of who wrote it. Signatures and hidden reasoning go back only to that model.
  std::string model;
};

struct ToolResult {
  std::string tool_call_id;
  protocol::Blocks content;  // Text and images.
  bool is_error = false;
};

/// The results of one assistant turn follow it directly, in the order of its calls.
using Entry = std::variant<UserInput, AssistantTurn, ToolResult>;

struct ToolChoice {
  enum class Kind { kAuto, kNone, kAny, kNamed };
  Kind kind = Kind::kAuto;
  std::string name;
};

struct OutputSchema {
  std::string name;
  Raw schema;
};

/// The bytes of a blob that an image block names.
using BlobReader = std::function<Result<std::string>(const std::string& blob)>;

struct Request {
  std::vector<std::string> system;  // Sections, in order; the last one changes most often.
  protocol::ToolSpecs tools;        // Sent in this order.
  std::vector<Entry> entries;
  ToolChoice tool_choice;
  std::optional<OutputSchema> output;
  std::optional<std::string> effort;       // none, minimal, low, medium, high, xhigh, max.
  std::optional<std::int64_t> max_tokens;  // The model's own limit when absent.
  std::vector<std::string> stop_sequences;
  bool cache = true;      // Marks what stays the same, where the dialect has marks for that.
  std::string cache_key;  // The session: requests of one key share a prefix. May be empty.
  std::string user;       // Opaque; tells users of one key apart. May be empty.
  BlobReader read_blob;   // Needed only when there are images.
};

}  // namespace stet::provider
