// Prompt: a model request as its server reads it: a row of tokens, cut into blocks.
//
// Written apart from the part of stet that makes requests, so that the two can be compared. The
// count is the emulator's own: a started seven letters are a token, and a started three digits,
// every other sign but white space, and the beginning of every object and array. Reading takes any
// bytes; what is no request is an empty prompt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/script.h"

namespace stet::emulator {

struct Prompt {
  struct Block {
    std::size_t end = 0;  // In tokens.
    bool mark = false;    // The cache may end here.
  };

  /// What has a cache of its own: the model and, for Anthropic, the effort and the schema.
  std::string scope;
  std::vector<std::uint32_t> tokens;  // By hash.
  std::vector<Block> blocks;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(tokens.size()); }
};

/// In the order in which servers are taken to read: tools, then the system, then the conversation.
Prompt ReadPrompt(Dialect dialect, std::string_view model, std::string_view body);

}  // namespace stet::emulator
