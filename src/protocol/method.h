// Method: what one request of the wire is: its name, parameters, reply, right and errors.
//
// A method is a type: `Params` and `Reply` are described structs, `kInfo` the rest. A MethodList
// names all methods of one kind; the side that answers brings a handler for each, the side that
// asks encodes and decodes by these types alone. protocol/methods.h has the lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/result.h"
#include "json/describe.h"

namespace stet::protocol {

/// What every right is called.
namespace right {
inline constexpr std::string_view kView = "view";
inline constexpr std::string_view kSend = "send";
inline constexpr std::string_view kApprove = "approve";
inline constexpr std::string_view kAdmin = "admin";
}  // namespace right

/// A set of codes.
class Errors {
 public:
  constexpr Errors() = default;
  constexpr Errors(std::initializer_list<Code> codes) {
    for (const Code code : codes) bits_ |= Bit(code);
  }
  [[nodiscard]] constexpr bool Has(Code code) const { return (bits_ & Bit(code)) != 0; }
  friend constexpr Errors operator|(Errors a, Errors b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr std::uint32_t Bit(Code code) {
    return std::uint32_t{1} << static_cast<unsigned>(code);
  }
  std::uint32_t bits_ = 0;
};

/// What any request may fail with: its params do not fit, the right is missing, too many are being
/// answered, the answer is larger than a frame, the disk fails, the host leaves.
inline constexpr Errors kAnyErrors = {Code::kInvalid, Code::kDenied, Code::kBusy,
                                      Code::kFull,    Code::kIo,     Code::kUnavailable};

/// A method's name over HTTP; none without a path.
struct HttpName {
  std::string_view verb = {};
  std::string_view path = {};  // "{id}" stands for the session's id.
  int status = 200;            // When it was done.
};

struct MethodInfo {
  std::string_view name;
  std::string_view right;
  std::string_view help;  // One sentence.
  Errors errors = {};     // Beside kAnyErrors.
  /// Asking twice is as asking once: asked again when the line breaks before the answer.
  bool repeatable = false;
  HttpName http = {};
};

/// What a method is made of beside its kInfo.
template <Described P, Described R>
struct Takes {
  using Params = P;
  using Reply = R;
};

template <class M>
concept IsMethod = Described<typename M::Params> && Described<typename M::Reply> && requires {
  { M::kInfo } -> std::convertible_to<MethodInfo>;
};

template <IsMethod... M>
struct MethodList {
  static constexpr std::size_t kSize = sizeof...(M);
  static constexpr std::array<std::string_view, kSize> kNames = {M::kInfo.name...};
  static_assert(std::ranges::is_sorted(kNames), "a list is in the order of its names");
  static_assert(std::ranges::adjacent_find(kNames) == kNames.end(), "each name stands once");

  /// Calls `visit.template operator()<M>()` for each, in order.
  template <class Visit>
  static constexpr void ForEach(Visit visit) {
    (visit.template operator()<M>(), ...);
  }
};

}  // namespace stet::protocol
