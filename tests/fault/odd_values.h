// OddValues: fills any described struct with values that are hard to keep: 17-digit doubles, 1e400,
// 2^64, -0, duplicate keys, odd escapes, nested junk, text of every script, and unknown members at
// every level. What it makes is canonical: encoding, decoding and encoding it again changes
// nothing.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "base/random.h"
#include "base/utf8.h"
#include "json/describe.h"

namespace stet::fault {

class OddValues {
 public:
  explicit OddValues(std::uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  bool OneIn(std::uint64_t n) { return random_.Below(n) == 0; }

  /// Any JSON value on one line, without white space around it.
  std::string Json(int depth = 0) {
    switch (random_.Below(depth < 4 ? 8 : 5)) {
      case 0: return Pick({"true", "false", "null"});
      case 1:
      case 2: return Number();
      case 3:
      case 4: return '"' + RawText() + '"';
      case 5: return "[" + Items(depth, [&] { return Json(depth + 1); }) + "]";
      default:
        return "{" + Items(depth, [&] { return "\"" + RawKey() + "\":" + Json(depth + 1); }) + "}";
    }
  }

  /// `"key":value` with a key that no type of ours has.
  std::string UnknownMember() { return "\"x" + RawText() + "\":" + Json(); }

  template <class T>
  void Fill(T& value) {
    if constexpr (std::same_as<T, bool>) {
      value = OneIn(2);
    } else if constexpr (std::integral<T>) {
      value = static_cast<T>(OneIn(2) ? random_.Below(1000) : random_.Next());
    } else if constexpr (std::same_as<T, std::string>) {
      value = Text();
    } else if constexpr (std::same_as<T, Raw>) {
      value.text = Json();
    } else if constexpr (kIsOptional<T>) {
      if (OneIn(2)) return;
      Fill(value.emplace());
      // A null is no value of an optional: it would be kept among the unknown members.
      if constexpr (std::same_as<typename T::value_type, Raw>) {
        if (value->text == "null") value.reset();
      }
    } else if constexpr (kIsVector<T>) {
      for (std::uint64_t left = random_.Below(3); left > 0; --left) Fill(value.emplace_back());
    } else if constexpr (kIsOneOf<T>) {
      FillOneOf(value, random_.Below(std::variant_size_v<T>));
    } else {
      std::apply([&](const auto&... field) { (Fill(value.*field.member), ...); }, T::Fields());
      FillExtra(value.extra);
    }
  }

  void FillExtra(std::string& extra) {
    while (OneIn(3)) extra += (extra.empty() ? "" : ",") + UnknownMember();
  }

 private:
  template <std::size_t N>
  std::string Pick(const char* const (&choices)[N]) {
    return choices[random_.Below(N)];
  }

  std::string Number() {
    if (OneIn(2)) {
      return Pick({"-0", "0", "1e400", "-1E-400", "18446744073709551616", "-9223372036854775809",
                   "0.30000000000000004", "1.7976931348623157e+308", "5e-324",
                   "0.10000000000000001", "1E2", "100.00"});
    }
    std::string digits = std::to_string(random_.Next());
    digits.resize(std::min<std::size_t>(digits.size(), 17));
    return (OneIn(2) ? "-" : "") + std::to_string(random_.Below(10)) + "." + digits +
           (OneIn(3) ? "e-7" : "");
  }

  /// A JSON string's inside with escapes that we would not write ourselves.
  std::string RawText() {
    std::string text;
    while (!OneIn(4)) {
      text += Pick({"a", "\\/", "\\u0041", "\\ud800", "\\udc00x", "\\ud83d\\ude42", "\\u0000",
                    "\\b\\f", "世界", "🙂", "\\\"", "\\\\", "\\u00E9", "é", " ", "{\\\"seq\\\":1}",
                    ",\\\"crc\\\":\\\"0\\\"}"});
    }
    return text;
  }
  std::string RawKey() { return OneIn(3) ? Pick({"a", "b", "type", "id", "crc", ""}) : RawText(); }

  /// Valid UTF-8 of any kind.
  std::string Text() {
    std::string text;
    while (!OneIn(5)) {
      if (OneIn(3))
        AppendUtf8(text, static_cast<char32_t>(random_.Below(0x110000)));
      else
        text += Pick({"x", "\n", "\"", "\\", "\t", "plain text", "世界", "\x01", "\x7f",
                      "{\"seq\":9", "null"});
    }
    return text;
  }

  template <class Make>
  std::string Items(int depth, Make make) {
    std::string items;
    for (std::uint64_t left = random_.Below(depth == 0 ? 6 : 3); left > 0; --left) {
      if (!items.empty()) items += OneIn(6) ? " , " : ",";
      items += make();
    }
    return OneIn(9) ? " " + items + "\t" : items;
  }

  template <class OneOf, std::size_t I = 0>
  void FillOneOf(OneOf& value, std::size_t which) {
    if constexpr (I < std::variant_size_v<OneOf>) {
      if (which != I) return FillOneOf<OneOf, I + 1>(value, which);
      using T = std::variant_alternative_t<I, OneOf>;
      if constexpr (std::same_as<T, Raw>) {
        // Of a kind that we do not know, or not an object at all.
        value =
            Raw{OneIn(2) ? "{\"type\":\"hologram\"," + UnknownMember() + "}" : "[" + Json() + "]"};
      } else {
        Fill(value.template emplace<T>());
      }
    }
  }

  Random random_;
};

}  // namespace stet::fault
