// Handlers: what an event of each type is to a model. One table; the walk over the path knows no
// type.
//
//   include     it becomes a message
//   merge       its text joins the tool result before it
//   skip        the model never sees it
//   barrier     what stands above it is kept out, but for what it keeps; its head comes first
//   filter      it hides or replaces what other events say
//
// doc/format/log.md says which type is which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "context/piece.h"
#include "protocol/event.h"

namespace stet::context {

struct Skip {};

struct Barrier {
  std::vector<provider::UserInput> head;
  std::optional<std::string> keep_after;  // An event's id; absent: nothing above it is kept.
};

/// A finished turn is left out, or, with `undo`, shown again.
struct Hide {
  std::string from;  // Events' ids, both included.
  std::string through;
  bool undo = false;
};

/// What these events said becomes the text.
struct Replace {
  std::vector<std::string> events;
  std::string text;
};

using ToModel = std::variant<Skip, Piece, Barrier, Hide, Replace>;

/// What events of a type are, known without reading one.
enum class Role : std::uint8_t { kSkip, kContent, kBarrier, kFilter };

Role RoleOf(std::uint8_t type_number);
ToModel Convert(const protocol::Event& event);

}  // namespace stet::context
