// Args: the arguments of a call, by name. They were checked against the tool's schema before; what
// is missing or of another kind is absent. A view over the Raw, which must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/view.h"

namespace stet::tool {

class Args {
 public:
  explicit Args(const Raw& raw) : object_(raw.text) {}
  explicit Args(JsonView object) : object_(object) {}

  [[nodiscard]] JsonView Get(std::string_view name) const { return object_[name]; }
  [[nodiscard]] std::optional<std::string> Text(std::string_view name) const {
    return object_[name].String();
  }
  /// Also of numbers such as 12.0 and 1e3, which a schema's "integer" lets pass.
  [[nodiscard]] std::optional<std::int64_t> Int(std::string_view name) const;
  /// False when absent.
  [[nodiscard]] bool Flag(std::string_view name) const {
    return object_[name].Bool().value_or(false);
  }

 private:
  JsonView object_;
};

/// How many results a search gives: `head_limit`, within bounds.
inline constexpr std::int64_t kDefaultHeadLimit = 200;
std::int64_t HeadLimit(const Args& args);

/// How long a call waits for a command at most: the bound of `wait_time`.
inline constexpr std::int64_t kMaxWaitS = 600;

}  // namespace stet::tool
