// The kinds of hooks: a command, an address, a prompt. Each is given the input and has so much
// time; how it went is an Outcome, whatever happens.
#pragma once

#include <chrono>
#include <string>

#include "base/async.h"
#include "base/cancel.h"
#include "hook/hooks.h"

namespace stet::hook {

/// `hook`, `around` and what they refer to outlive the tasks.
Async<Outcome> RunCommand(const Hook& hook, const Surroundings& around, std::string input,
                          CancelToken cancel);
Async<Outcome> RunHttp(const Hook& hook, const Surroundings& around, std::string input,
                       CancelToken cancel);
Async<Outcome> RunPrompt(const Hook& hook, const Surroundings& around, std::string input,
                         CancelToken cancel);

/// How long a hook may take.
std::chrono::milliseconds TimeoutOf(const Hook& hook);

/// What a model answered to a prompt: {"ok": true | false, "reason": TEXT}, perhaps with words
/// around it, or what any hook may say.
Result<Output> ReadPromptReply(Event event, std::string_view reply);

}  // namespace stet::hook
