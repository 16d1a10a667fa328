#include "run/bounded.h"

#include "base/utf8.h"
#include "json/tree.h"

namespace stet::run {

std::string Bounded(std::string text) {
  if (text.size() > kMaxText) text.resize(Utf8PrefixLength(text, kMaxText));
  return text;
}

protocol::OptionalRaw Bounded(const protocol::OptionalRaw& raw) {
  if (!raw || raw->text.size() > kMaxRaw || !IsValidUtf8(raw->text)) return std::nullopt;
  if (raw->text == "null") return std::nullopt;  // Said of an optional member, it says nothing.
  if (!ParseTree(raw->text, {.depth = kMaxRawDepth, .values = kMaxRaw})) return std::nullopt;
  return raw;
}

}  // namespace stet::run
