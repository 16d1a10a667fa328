#include "emulator/playbook.h"

#include <fmt/format.h>

namespace stet::emulator {
namespace {

/// How many replies a refusal explains.
constexpr std::size_t kMaxReasons = 20;

}  // namespace

void Playbook::Set(Script script) {
  auto next = std::make_shared<const Script>(std::move(script));
  const std::lock_guard lock(mutex_);
  uses_.assign(next->replies.size(), 0);
  script_ = std::move(next);
}

std::shared_ptr<const Script> Playbook::script() const {
  const std::lock_guard lock(mutex_);
  return script_;
}

Playbook::Choice Playbook::Choose(const RequestFacts& facts, std::int64_t call) {
  const std::lock_guard lock(mutex_);
  Choice choice{.script = script_};
  for (std::size_t i = 0; i < script_->replies.size(); ++i) {
    const Reply& reply = script_->replies[i];
    std::string reason =
        reply.times > 0 && uses_[i] >= reply.times ? "used up" : Mismatch(reply.when, facts, call);
    if (reason.empty()) {
      ++uses_[i];
      choice.reply = &reply;
      choice.number = static_cast<std::int64_t>(i) + 1;
      return choice;
    }
    if (i < kMaxReasons) choice.why_not += fmt::format("; reply {}: {}", i + 1, reason);
  }
  if (script_->replies.size() > kMaxReasons) choice.why_not += "; ...";
  if (script_->replies.empty()) choice.why_not = "; the script has no replies";
  return choice;
}

}  // namespace stet::emulator
