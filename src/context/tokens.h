// Tokens: how many tokens a request has. What the server reported counts; between two reports the
// rest is estimated by what the last report came to.
#pragma once

#include <cstdint>
#include <optional>

namespace stet::context {

/// What a request carries.
struct Size {
  std::int64_t bytes = 0;  // Of text.
  std::int64_t images = 0;

  Size& operator+=(const Size& other) {
    bytes += other.bytes;
    images += other.images;
    return *this;
  }
  friend bool operator==(const Size&, const Size&) = default;
};

class Tokens {
 public:
  /// A server counted so many tokens in a request of that size.
  void Took(const Size& size, std::int64_t tokens);

  [[nodiscard]] std::int64_t Of(const Size& size) const;
  /// How much text a number of tokens is.
  [[nodiscard]] std::int64_t BytesOf(std::int64_t tokens) const;
  /// How far off the estimate of the last request was, in thousandths of what was reported.
  [[nodiscard]] std::optional<std::int64_t> error_permille() const { return error_; }
  [[nodiscard]] std::optional<std::int64_t> reported() const { return reported_tokens_; }

 private:
  [[nodiscard]] double Raw(const Size& size) const;

  double scale_ = 1;  // Tokens for each that the rule of thumb says.
  Size reported_size_;
  std::optional<std::int64_t> reported_tokens_;
  std::optional<std::int64_t> error_;
};

}  // namespace stet::context
