// What the loop tells hooks, and what it makes of what they say. Without hooks nothing here costs
// anything.
//
// Whatever hooks add or change is in the log before it counts: findings and context at once (the
// model is told at the next step), arguments with `tool_started`. None of them is run again when a
// log is read.
#pragma once

#include <optional>
#include <string>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"
#include "hook/hooks.h"

namespace stet::agent {

[[nodiscard]] bool HooksWant(const Workbench& bench, hook::Event event,
                             std::string_view subject = "");

/// Runs the hooks of the occasion, publishes what they say to people, and appends the findings and
/// the context, which is owed to the model from then on. Fails only when the log cannot be written.
Async<Result<hook::Verdict>> FireHooks(Workbench& bench, protocol::Stamp stamp,
                                       hook::Occasion occasion, CancelToken cancel);

/// The same without waiting; nothing but what they say to people counts.
void NotifyHooks(Workbench& bench, const protocol::Stamp& stamp, hook::Occasion occasion);

/// What a hook has said, as the model is told it.
NewOwed OwedByHook(const hook::Said& said);

/// Tells people.
void PublishNotice(log::Log& log, std::string by, std::string text);

/// What a submitted prompt came to: nothing, or why it is not to be answered. Then the message,
/// which is the leaf, is hidden from the model.
Async<Result<std::optional<std::string>>> SubmitPrompt(Workbench& bench, protocol::Stamp stamp,
                                                       std::string prompt, CancelToken cancel);

/// False: hooks do not want it. What they say of it is added to `focus`, which outlives the task.
Async<Result<bool>> BeforeCompaction(Workbench& bench, protocol::Stamp stamp, std::string trigger,
                                     std::string& focus, CancelToken cancel);
Async<Status> AfterCompaction(Workbench& bench, protocol::Stamp stamp, std::string trigger,
                              std::string summary, CancelToken cancel);

/// Asks `model` a hook's prompt. Log and model must outlive the task.
Async<Result<std::string>> AskHookPrompt(log::Log& log, provider::Provider& model,
                                         std::string prompt, CancelToken cancel);

}  // namespace stet::agent
