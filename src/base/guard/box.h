// Box: what keeps a command in. A guard knows nothing of boxes: the program hands it a maker of
// them (BecomeGuardIfAsked), and what the maker is given came with the order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::guard {

class Box {
 public:
  /// In the guard's process, when all processes of the command have ended.
  virtual ~Box() = default;

  /// Whether the command's processes and mounts may be in a user namespace of their own where the
  /// system gives us no other.
  [[nodiscard]] virtual bool MayHaveUserNamespace() const = 0;

  /// In the guard's process, which stays outside, before there is a process for the command.
  virtual Status Prepare() = 0;

  /// In the process that is to be the command, with its descriptors, folder and environment.
  /// `command` may become one that does the rest.
  virtual Status Enter(std::vector<std::string>& command) = 0;
};

using BoxMaker = Result<std::unique_ptr<Box>> (*)(std::string_view order);

}  // namespace stet::guard
