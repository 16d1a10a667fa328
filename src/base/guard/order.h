// Order: what a guard is told to run. It goes from one process to another through a file in memory,
// so that it may be of any size and stands in no list of processes.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace stet::guard {

/// No string has a NUL in it.
struct Order {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "K=V" each.
  std::string cwd;
  std::string box;            // For the maker of boxes; empty: the command is not kept in.
  bool own_processes = true;  // In a PID namespace, where the system gives one.
};

/// At its beginning, and close-on-exec.
Result<Fd> WriteOrder(const Order& order);

/// From the beginning of the file. kInvalid when it is no order.
Result<Order> ReadOrder(int fd);

}  // namespace stet::guard
