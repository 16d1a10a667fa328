// LoopContext: the asio::io_context that a loop runs, for rpc alone, whose library needs it. It
// lives as long as its loop; what is made on it must die before.
#pragma once

#include <boost/asio/io_context.hpp>

#include "base/loop.h"

namespace stet {

class LoopContext {
 public:
  static boost::asio::io_context& Of(Loop& loop);
};

}  // namespace stet
