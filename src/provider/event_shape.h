// EventShape: knows an event again that is like an earlier one but for a few values. The deltas of
// a reply come by the thousand and differ in their text and perhaps in a counter: comparing the
// rest costs a fraction of reading it.
//
// An event that fits is the earlier one with other values of the same kinds in the loose places,
// byte for byte, so it is as valid. Handling it may repeat what the earlier event did, with the new
// values, as long as no other event came between. A decoder therefore forgets the shape before it
// reads anything in another way. Nothing here fails; memory is bounded by kMaxBytes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "json/view.h"

namespace stet::provider {

class EventShape {
 public:
  static constexpr std::size_t kMaxLoose = 3;
  /// A larger event is not remembered.
  static constexpr std::size_t kMaxBytes = 4096;

  /// Remembers an event by its name and `data`, which must be valid JSON. `loose` are at most
  /// kMaxLoose values in it, none inside another, in any order. The first must be a string, else
  /// nothing is remembered; of the others those that are absent do not count.
  void Learn(std::string_view event, std::string_view data, std::span<const JsonView> loose);
  void Forget() { data_.clear(); }

  /// Whether this event has the shape that was learned last. False when there is none.
  [[nodiscard]] bool Fits(std::string_view event, std::string_view data);

  // Of the event that fitted last; valid as long as its data, and until the next call of Fits.

  /// The first loose value, unescaped.
  [[nodiscard]] std::string_view Text();
  /// A loose value by its place in Learn's `loose`; absent when it was.
  [[nodiscard]] const JsonView& value(std::size_t place) const { return values_[place]; }

 private:
  struct Gap {
    std::size_t begin = 0;  // In data_.
    std::size_t end = 0;
    JsonReader::Kind kind = JsonReader::Kind::kEnd;
    std::size_t place = 0;
  };

  std::string event_;
  std::string data_;  // Empty: there is no shape.
  std::array<Gap, kMaxLoose> gaps_;
  std::size_t gap_count_ = 0;
  std::array<JsonView, kMaxLoose> values_;
  std::string text_;
};

}  // namespace stet::provider
