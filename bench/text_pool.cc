#include "bench/text_pool.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/utf8.h"

namespace stet::bench {
namespace {

constexpr std::array<std::string_view, 40> kWords = {"the",
                                                     "session",
                                                     "log",
                                                     "event",
                                                     "index",
                                                     "flush",
                                                     "parser",
                                                     "returns",
                                                     "because",
                                                     "reader",
                                                     "never",
                                                     "offset",
                                                     "buffer",
                                                     "recover",
                                                     "std::string",
                                                     "const",
                                                     "auto",
                                                     "if (!ok)",
                                                     "return {};",
                                                     "// why",
                                                     "\"quoted\"",
                                                     "C:\\path",
                                                     "/usr/include",
                                                     "\t\t",
                                                     "{\"a\": 1.5e3}",
                                                     "size_t",
                                                     "0x7f",
                                                     "template <class T>",
                                                     "世界",
                                                     "日志文件",
                                                     "データ構造",
                                                     "세션을 다시 엽니다",
                                                     "漢字かな交じり文",
                                                     "🙂",
                                                     "é",
                                                     "naïve",
                                                     "error: expected ';' before '}' token",
                                                     "test/fault/crash_test.cc:42:",
                                                     "-- installing",
                                                     "warning:"};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

TextPool::TextPool(std::uint64_t seed) {
  Random random(seed);
  text_.reserve(kBytes + 64);
  while (text_.size() < kBytes) {
    text_ += kWords[random.Below(kWords.size())];
    text_ += random.Below(12) == 0 ? '\n' : ' ';
  }
}

std::string_view TextPool::Take(Random& random, std::size_t bytes) const {
  bytes = std::min(bytes, kBytes / 2);
  std::size_t at = random.Below(text_.size() - bytes);
  while (at < text_.size() && IsContinuation(text_[at])) ++at;
  const std::string_view rest = std::string_view(text_).substr(at);
  return rest.substr(0, Utf8PrefixLength(rest, bytes));
}

std::string TextPool::Binary(Random& random, std::size_t bytes) {
  std::string out = "\xff\xfe\x80 not UTF-8 ";
  while (out.size() < bytes) out += static_cast<char>(random.Below(256));
  return out;
}

std::size_t SkewedSize(Random& random, std::size_t least, std::size_t most) {
  const std::size_t ratio = std::max<std::size_t>(1, most / std::max<std::size_t>(least, 1));
  const std::size_t base = least << random.Below(static_cast<std::uint64_t>(std::bit_width(ratio)));
  return std::min(most, base + random.Below(base + 1));
}

}  // namespace stet::bench
