// Hooks: what a user wants run, asked or told when something happens in a session
// (doc/format/hooks.md).
//
// All hooks of one occasion run side by side; what they say is taken in the order they were
// declared in, and a denial wins. One that fails, hangs or talks nonsense is told of and counts for
// nothing. Nothing here waits on the loop's thread. Belongs to the session's lane, on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/environment.h"
#include "base/loop.h"
#include "config/hook_settings.h"
#include "hook/event.h"
#include "hook/matcher.h"
#include "hook/output.h"

namespace stet::net {
class HttpClient;
}

namespace stet::hook {

/// A hook with its matcher ready.
struct Hook {
  Event event = Event::kStop;
  Matcher matcher;
  config::HookSettings settings;
  std::string by;  // "hook:PreToolUse/2".
};

/// kInvalid names the matcher that is wrong. `source` is the file they are from; numbers go on
/// behind those of `hooks`.
Status AddHooks(const config::HookList& list, const std::string& source, std::vector<Hook>& hooks);

/// Answers a prompt: what the model said, or why it said nothing.
using Asker = std::function<Async<Result<std::string>>(std::string prompt, CancelToken cancel)>;

/// What hooks need to run. Everything referred to outlives the hooks.
struct Surroundings {
  Loop& loop;
  net::HttpClient* http = nullptr;
  Asker ask;            // Empty: there is no model for prompts.
  std::string project;  // Where commands run.
  Variables variables;  // That they get: no keys.
};

class Hooks {
 public:
  Hooks(std::vector<Hook> hooks, Surroundings surroundings);

  /// Whether any of them is meant. Cheap.
  [[nodiscard]] bool Wants(Event event, std::string_view subject) const;

  /// Runs those that are meant to their end, or to their timeouts. What is cancelled counts for
  /// nothing.
  Async<Verdict> Run(Moment moment, Occasion occasion, CancelToken cancel);

  /// Starts them and returns at once; what they say goes to `told`, unless they were stopped.
  void Notify(Moment moment, Occasion occasion, std::function<void(const Verdict&)> told);
  /// Lets what Notify started end, soon: what still runs then is stopped. Notify does nothing
  /// afterwards.
  Async<void> Finish();

 private:
  struct Round;

  [[nodiscard]] std::vector<const Hook*> Meant(Event event, std::string_view subject) const;
  Async<void> RunOne(const Hook& hook, std::shared_ptr<const std::string> input,
                     std::shared_ptr<Round> round, std::size_t slot);
  Async<void> RunNotified(Moment moment, Occasion occasion,
                          std::function<void(const Verdict&)> told);
  Async<Outcome> Ask(const Hook& hook, const std::string& input, CancelToken cancel);

  std::vector<Hook> hooks_;
  Surroundings around_;
  CancelSource finishing_;
  std::size_t notified_ = 0;  // Rounds that Notify started and that still run.
  std::optional<Pending<bool>> none_left_;
};

}  // namespace stet::hook
