// LineCutter: cuts bytes that come in any pieces into lines. Memory is bounded by the longest line.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stet {

class LineCutter {
 public:
  /// What is kept of a line that is too long.
  static constexpr std::size_t kHead = 4096;

  /// A line of more bytes is dropped.
  explicit LineCutter(std::size_t max_line) : max_line_(max_line) {}

  /// Gets each line without its end; nothing in place of one that was too long.
  using Use = std::function<void(std::optional<std::string_view>)>;

  void Feed(std::string_view bytes, const Use& use);
  /// The input has ended: what is left is a line, too.
  void Finish(const Use& use);
  /// The line that comes now has more bytes than one may have.
  [[nodiscard]] bool too_long() const { return too_long_; }
  /// How it begins, or how the one began that Use just got nothing of.
  [[nodiscard]] std::string_view head() const {
    return too_long_ ? std::string_view(line_) : std::string_view();
  }

 private:
  void Keep(std::string_view bytes);
  void End(const Use& use);

  std::size_t max_line_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace stet
