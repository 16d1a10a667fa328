// Redactor: puts names in the place of secrets, in what tools give and files hold, before it is
// appended. What is not appended is in no log, no request and no export.
//
// A secret of several lines is found line by line, wherever they stand. Short ones, below
// kLeastBytes, are left: they are words. Plain data; safe from any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/content.h"

namespace stet::agent {

class Redactor {
 public:
  static constexpr std::size_t kLeastBytes = 6;

  Redactor() = default;
  /// Secrets by their names.
  explicit Redactor(const std::map<std::string, std::string>& secrets);

  [[nodiscard]] bool empty() const { return needles_.empty(); }
  /// Each becomes "[vault:NAME]".
  [[nodiscard]] std::string Clean(std::string text) const;
  void Clean(protocol::Blocks& blocks) const;

 private:
  struct Needle {
    std::string text;
    std::string name;
  };
  std::vector<Needle> needles_;  // The longest first.
};

}  // namespace stet::agent
