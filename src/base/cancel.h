// CancelSource and CancelToken: one side asks to stop, any number of others notice.
//
// Cancelling is final and happens once. Tokens are cheap to copy and may outlive their source; all
// of this is safe from any thread. Callbacks run outside the internal mutex, one after the other,
// in the thread that cancels; they must be short, must not throw and must not wait. Nothing here
// fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace stet {

class CancelState;

/// Keeps a callback registered. When it is destroyed the callback has finished or will never run; a
/// callback may destroy its own registration. Do not destroy one while holding a mutex that its
/// callback takes.
class [[nodiscard]] CancelRegistration {
 public:
  CancelRegistration() = default;
  CancelRegistration(CancelRegistration&& other) noexcept;
  CancelRegistration& operator=(CancelRegistration&& other) noexcept;
  ~CancelRegistration() { reset(); }

  void reset();

 private:
  friend class CancelToken;
  CancelRegistration(std::shared_ptr<CancelState> state, std::uint64_t id)
      : state_(std::move(state)), id_(id) {}

  std::shared_ptr<CancelState> state_;
  std::uint64_t id_ = 0;
};

class CancelToken {
 public:
  /// Never cancels.
  CancelToken() = default;

  [[nodiscard]] bool cancelled() const;

  /// False for the default token: a caller that waits need not listen to it.
  [[nodiscard]] bool can_cancel() const { return state_ != nullptr; }

  /// Runs `callback` once when cancelled: at once, in this thread, if that is so already.
  CancelRegistration OnCancel(std::function<void()> callback) const;

 private:
  friend class CancelSource;
  explicit CancelToken(std::shared_ptr<CancelState> state) : state_(std::move(state)) {}

  std::shared_ptr<CancelState> state_;
};

class CancelSource {
 public:
  CancelSource();

  /// Cancelled as well when `parent` is; its tokens keep hearing the parent after the source is
  /// gone.
  explicit CancelSource(const CancelToken& parent);

  CancelSource(CancelSource&&) noexcept = default;
  CancelSource& operator=(CancelSource&&) noexcept = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  /// Returns after the callbacks have run, unless another call is already running them.
  void Cancel();

  [[nodiscard]] bool cancelled() const { return token().cancelled(); }
  [[nodiscard]] CancelToken token() const { return CancelToken(state_); }

 private:
  std::shared_ptr<CancelState> state_;
};

}  // namespace stet
