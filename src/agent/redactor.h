// Redactor: puts names in the place of secrets, in what tools give and files hold, before it is
// appended. What is not appended is in no log, no request and no export.
//
// A secret of several lines is found line by line, wherever they stand. Short ones, below
// kLeastBytes, are left: they are words. A text is gone through once, and what was put in is not
// looked at again, whatever secrets and names are. Plain data; safe from any thread.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/content.h"

namespace stet::agent {

class Redactor {
 public:
  static constexpr std::size_t kLeastBytes = 8;

  Redactor() = default;
  /// Secrets by what is put in their place, in brackets: "vault:NAME", "env:NAME".
  explicit Redactor(const std::map<std::string, std::string>& secrets);

  [[nodiscard]] bool empty() const { return needles_.empty(); }
  [[nodiscard]] std::string Clean(std::string text) const;
  void Clean(protocol::Blocks& blocks) const;

 private:
  struct Needle {
    std::string text;
    std::string name;
  };
  [[nodiscard]] const Needle* At(std::string_view text) const;

  std::vector<Needle> needles_;     // The longest first.
  std::array<bool, 256> begins_{};  // Whether one begins with that byte.
};

}  // namespace stet::agent
