#include "tool/shells.h"

#include <algorithm>

#include <fmt/format.h>

namespace stet::tool {

Shells::Shells(Ended ended, std::int64_t first_number)
    : ended_(std::make_shared<Ended>(std::move(ended))), next_number_(first_number) {}

Shells::~Shells() {
  ended_.reset();
  KillAll();
}

void Shells::KillAll() {
  for (const auto& task : tasks_) task->shell->Kill();
  for (const auto& task : tasks_) task->shell->KillAndWait();
}

void Shells::StopAll() { KillAll(); }

std::size_t Shells::running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(tasks_, [](const auto& task) { return !task->shell->how(); }));
}

std::string Shells::Describe() const {
  std::string text;
  for (const auto& task : tasks_) {
    if (task->shell->how()) continue;
    text += (text.empty() ? "Runs in the background, for BashTask: " : ", ") + task->id;
  }
  return text;
}

Result<std::string> Shells::NewTaskId() {
  if (running() >= kMaxRunning)
    return Fail(Code::kBusy, fmt::format("{} commands run in the background already. Stop one of "
                                         "them with BashTask first.",
                                         kMaxRunning));
  return fmt::format("shell-{}", next_number_++);
}

void Shells::Keep(const std::shared_ptr<ShellTask>& task) {
  ForgetOldest();
  tasks_.push_back(task);
  // Neither this object nor the task is kept alive by the shell that it belongs to.
  task->shell->OnEnd([told = std::weak_ptr(ended_), weak = std::weak_ptr(task)] {
    const auto ended = told.lock();
    const auto one = weak.lock();
    if (!ended || !one || !*ended) return;
    (*ended)({.task_id = one->id,
              .tool_call_id = one->tool_call_id,
              .how = *one->shell->how(),
              .tail = one->shell->output().Tail(ShellEnd::kMaxTailBytes)});
  });
}

void Shells::ForgetOldest() {
  const auto ended = [](const auto& task) { return task->shell->how().has_value(); };
  while (std::ranges::count_if(tasks_, ended) > static_cast<std::ptrdiff_t>(kMaxEnded))
    tasks_.erase(std::ranges::find_if(tasks_, ended));
}

Result<std::shared_ptr<ShellTask>> Shells::Find(const std::string& task_id) const {
  const auto found =
      std::ranges::find_if(tasks_, [&](const auto& task) { return task->id == task_id; });
  if (found != tasks_.end()) return *found;
  std::string ids;
  for (const auto& task : tasks_) ids += (ids.empty() ? "" : ", ") + task->id;
  return Fail(Code::kNotFound, fmt::format("There is no task {}. There {}.", task_id,
                                           ids.empty() ? "is none" : "are: " + ids));
}

}  // namespace stet::tool
