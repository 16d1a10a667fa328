// What the two wires of OpenAI have in common: how a request is dressed, and how the small parts of
// a reply are read. For openai_completions*.cc and openai_responses*.cc only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/view.h"
#include "provider/dialect.h"

namespace stet::provider::openai {

/// The dialect's headers, then the model's own.
Headers RequestHeaders(const Model& model);

/// The most tokens of the reply; 0 when neither the request nor the model sets a limit.
std::int64_t MaxTokens(const Model& model, const Request& request);

/// "data:image/png;base64,...". Fails when the blob cannot be read.
Result<std::string> DataUrl(const Request& request, const protocol::ImageBlock& image);

/// A result's text. The wires have no mark for an error, so the text says it.
std::string ResultText(const ToolResult& result);

bool HasImages(const protocol::Blocks& blocks);

/// Fails the reply when `data` is neither JSON nor blank. For data that is no object.
void RefuseUnlessJson(std::string_view data, ReplyBuilder& builder);

/// The reply's failure when the body ended too early.
Failure BrokenOff();

/// A call's arguments as text, whether the server sends them as a string or as an object.
std::string ArgumentsOf(const JsonView& arguments);

/// Tokens as these wires count them: `input` includes what was read from a cache or written to
/// one, `output` includes `reasoning` unless `total` shows that it stands beside it.
struct Tokens {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::optional<std::int64_t> cache_read;
  std::optional<std::int64_t> cache_write;
  std::optional<std::int64_t> reasoning;
  std::optional<std::int64_t> total;
};

/// Each token counted once. Counts that contradict each other are cut so that none is negative.
protocol::Usage UsageOf(const Tokens& tokens);

template <class Struct>
struct Wanted {
  std::string_view name;
  JsonView Struct::* member;
};

/// Reads the value at `reader` and fills `out` with its wanted members; of duplicates the first
/// counts. False when it is no object or a damaged one.
template <class Struct, std::size_t N>
bool ReadMembers(JsonReader& reader, const std::array<Wanted<Struct>, N>& wanted, Struct& out) {
  if (reader.Peek() != JsonReader::Kind::kObject) {
    reader.Skip();
    return false;
  }
  reader.EnterObject();
  std::string_view key;
  while (reader.NextMember(&key)) {
    const auto* want = std::ranges::find(wanted, key, &Wanted<Struct>::name);
    std::string_view raw;
    if (!reader.Skip(&raw)) return false;
    if (want != wanted.end() && !(out.*want->member).present()) out.*want->member = JsonView(raw);
  }
  return reader.ok();
}

/// The same for a value of its own.
template <class Struct, std::size_t N>
bool ReadMembers(const JsonView& object, const std::array<Wanted<Struct>, N>& wanted, Struct& out) {
  JsonReader reader(object.text());
  return ReadMembers(reader, wanted, out) && reader.AtEnd();
}

}  // namespace stet::provider::openai
