// WithValue: calls a function with what a result holds, which may be nothing.
#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"

namespace stet::acp {

/// `f(first..., *result)`, or `f(first...)` when the result holds no value. The result is no error.
template <class F, class T, class... First>
auto WithValue(F& f, Result<T>&& result, First&... first) {
  if constexpr (std::is_void_v<T>)
    return f(first...);
  else
    return f(first..., *std::move(result));
}

}  // namespace stet::acp
