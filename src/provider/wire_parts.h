// WireParts: a request's body, cut where a server's cache may cut it.
//
// A part is a range of the body, without the mark that may stand behind it: a mark that moves is no
// difference. Parts come in the order in which the server builds its prompt of them, whatever their
// order in the JSON; what is in no part is not in the prompt, or is the same in every request.
// Plain values; nothing here fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stet::provider {

/// In the order of the prompt.
enum class PartKind : std::uint8_t {
  kEffort,    // Named effort, where each one has a cache of its own.
  kOutput,    // The schema of the answer, where the model is shown it.
  kTool,      // One tool.
  kSystem,    // One section, or all of them as one text.
  kThinking,  // How to think, where that is a part of the conversation.
  kChoice,    // Which tool to call, where that is.
  kMessage,   // A block, message or item of the conversation.
};

struct WirePart {
  PartKind kind = PartKind::kMessage;
  bool mark = false;  // A cache mark stands behind it.
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const WirePart&, const WirePart&) = default;
};

/// Notes the parts while a body is written.
class PartWriter {
 public:
  /// `body` must outlive the writer.
  explicit PartWriter(const std::string& body) : body_(body) {}

  /// What is written from now on belongs to the next part.
  void Begin() { begin_ = body_.size(); }
  /// The part ends `tail` bytes before the end of what is written: where a mark may come.
  void End(PartKind kind, std::size_t tail = 0) {
    const bool comma = begin_ < body_.size() && body_[begin_] == ',';
    parts_.push_back(
        {.kind = kind, .begin = begin_ + (comma ? 1U : 0U), .end = body_.size() - tail});
  }

  /// `text` was put into the body at `places`, which are ends of parts, in rising order.
  void Marked(std::span<const std::size_t> places, std::string_view text) {
    for (WirePart& part : parts_) {
      const auto before = std::ranges::lower_bound(places, part.begin) - places.begin();
      part.mark = std::ranges::binary_search(places, part.end);
      part.begin += static_cast<std::size_t>(before) * text.size();
      part.end += static_cast<std::size_t>(before) * text.size();
    }
  }

  /// In the order of the prompt.
  std::vector<WirePart> TakeParts() {
    // All but the messages, which are written last.
    const auto messages = std::ranges::find(parts_, PartKind::kMessage, &WirePart::kind);
    std::stable_sort(parts_.begin(), messages, [](const WirePart& one, const WirePart& other) {
      return one.kind < other.kind;
    });
    return std::move(parts_);
  }

 private:
  const std::string& body_;
  std::size_t begin_ = 0;
  std::vector<WirePart> parts_;
};

}  // namespace stet::provider
