#include "cli/model_wait.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stet::cli {
namespace {

using std::chrono::seconds;

constexpr seconds kFirst{3};
constexpr seconds kMostBetween{60};

}  // namespace

bool ModelWait::Knows(const protocol::Transient& transient) {
  const protocol::TransientPayload& what = transient.transient;
  return std::holds_alternative<protocol::TurnStart>(what) ||
         std::holds_alternative<protocol::Wait>(what) ||
         std::holds_alternative<protocol::MessageStart>(what) ||
         std::holds_alternative<protocol::RuntimeEnd>(what);
}

void ModelWait::Hear(const protocol::Transient& transient, Time now) {
  const auto* wait = std::get_if<protocol::Wait>(&transient.transient);
  const bool model = wait != nullptr && wait->who == "model";
  const bool asks = std::holds_alternative<protocol::TurnStart>(transient.transient);
  if (!Knows(transient) || (wait != nullptr && !model)) return;
  if (!asks && !model) return since_.reset();
  if (asks || !since_) {
    since_ = now;
    next_ = now + kFirst;
    why_.clear();
  }
  if (model) why_ = wait->what;
}

std::optional<std::chrono::milliseconds> ModelWait::UntilWord(Time now) const {
  if (!since_) return std::nullopt;
  // Rounded up: who sleeps for so long finds the word.
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(next_ - now));
}

std::string ModelWait::Word(Time now) {
  if (!since_ || now < next_) return "";
  const auto waited = std::chrono::duration_cast<seconds>(now - *since_);
  next_ = now + std::clamp<std::chrono::nanoseconds>(now - *since_, kFirst, kMostBetween);
  return why_.empty() ? fmt::format("waiting for the model, {} s", waited.count())
                      : fmt::format("waiting for the model ({}), {} s", why_, waited.count());
}

}  // namespace stet::cli
