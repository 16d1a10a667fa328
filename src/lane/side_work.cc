#include "lane/side_work.h"

#include "agent/session_memory.h"
#include "agent/settings.h"
#include "agent/title.h"

namespace stet::lane {
namespace {

bool IsPending(const std::optional<Pending<bool>>& done) { return done && !done->is_set(); }

}  // namespace

void SideWork::MakeTitle(std::string prompt) {
  if (bench_.auxiliary == nullptr) return;
  title_.emplace(bench_.loop);
  bench_.loop.Spawn(AskTitle(std::move(prompt)));
}

Async<void> SideWork::AskTitle(std::string prompt) {
  const Pending<bool> done = *title_;
  co_await agent::AskForTitle(bench_.log, *bench_.auxiliary, std::move(prompt), cancel_.token());
  done.Set(true);
}

void SideWork::KeepMemory() {
  if (IsPending(memory_) || bench_.auxiliary == nullptr || !bench_.settings->context.session_memory)
    return;
  memory_.emplace(bench_.loop);
  bench_.loop.Spawn(UpdateMemory());
}

Async<void> SideWork::UpdateMemory() {
  const Pending<bool> done = *memory_;
  // A message may have come since this was asked for.
  if (!turns_.working()) co_await agent::UpdateMemory(bench_, cancel_.token());
  done.Set(true);
}

bool SideWork::pending() const { return IsPending(title_) || IsPending(memory_); }

Async<void> SideWork::Stop() {
  cancel_.Cancel();
  if (title_) co_await *title_;
  if (memory_) co_await *memory_;
}

}  // namespace stet::lane
