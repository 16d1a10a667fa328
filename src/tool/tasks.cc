#include "tool/tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/utf8.h"

namespace stet::tool {
namespace {

bool Runs(const std::shared_ptr<BackgroundTask>& task) { return !task->end(); }

}  // namespace

Tasks::Tasks(Ended ended, std::int64_t first_number)
    : ended_(std::make_shared<Ended>(std::move(ended))), next_number_(first_number) {}

Tasks::~Tasks() {
  ended_.reset();
  StopAll();
}

void Tasks::StopAll() {
  // A copy: who is told of an end may look at the tasks.
  const auto tasks = tasks_;
  for (const auto& task : tasks) task->Kill();
  for (const auto& task : tasks) task->KillAndWait();
}

std::size_t Tasks::running() const {
  return static_cast<std::size_t>(std::ranges::count_if(tasks_, Runs));
}

std::string Tasks::Describe() const {
  constexpr std::size_t kMaxShownName = 60;
  std::string text;
  for (const auto& task : tasks_) {
    if (!Runs(task)) continue;
    const TaskFacts& facts = task->facts();
    const std::string name = FitText(facts.name, kMaxShownName);
    text += (text.empty() ? "Still runs in the background: " : ", ") + facts.id;
    if (!name.empty()) text += fmt::format(" ({})", name);
  }
  return text;
}

Result<std::string> Tasks::NewId(std::string_view kind) {
  if (running() >= kMaxRunning)
    return Fail(Code::kBusy, fmt::format("{} tasks run in the background already. Stop one of "
                                         "them first.",
                                         kMaxRunning));
  return fmt::format("{}-{}", kind, next_number_++);
}

void Tasks::Keep(const std::shared_ptr<BackgroundTask>& task) {
  ForgetOldest();
  tasks_.push_back(task);
  // Neither this object nor the task is kept alive by what the task runs.
  task->OnEnd([told = std::weak_ptr(ended_), weak = std::weak_ptr(task)] {
    const auto ended = told.lock();
    const auto one = weak.lock();
    if (ended && one && *ended) (*ended)(one);
  });
}

void Tasks::ForgetOldest() {
  while (tasks_.size() - running() > kMaxEnded)
    tasks_.erase(std::ranges::find_if_not(tasks_, Runs));
}

Result<std::shared_ptr<BackgroundTask>> Tasks::Find(std::string_view task_id) const {
  const auto found =
      std::ranges::find_if(tasks_, [&](const auto& task) { return task->facts().id == task_id; });
  if (found != tasks_.end()) return *found;
  std::string ids;
  for (const auto& task : tasks_) ids += (ids.empty() ? "" : ", ") + task->facts().id;
  return Fail(Code::kNotFound,
              ids.empty()
                  ? fmt::format("There is no task {}: nothing was left in the background.", task_id)
                  : fmt::format("There is no task {}. The tasks are: {}.", task_id, ids));
}

std::string TaskName(std::string_view text) {
  std::string name = OneLineText(ReplaceInvalidUtf8(text));
  name.resize(Utf8PrefixLength(name, Tasks::kMaxNameBytes));
  return name;
}

}  // namespace stet::tool
