// What a lane tells hooks of its session: that it begins and ends.
#include "agent/hooks.h"
#include "host/lane.h"

namespace stet::host {

void Lane::OpenHooks() {
  if (setup_.hooks.empty()) return;
  hook::Asker ask;
  if (auxiliary_) {
    ask = [this](std::string prompt, CancelToken cancel) {
      return agent::AskHookPrompt(*setup_.log, *auxiliary_, std::move(prompt), std::move(cancel));
    };
  }
  hook::Surroundings around{.loop = setup_.loop,
                            .http = &setup_.models.http(),
                            .ask = std::move(ask),
                            .project = setup_.workspace.project,
                            .secret_variables = setup_.secret_variables};
  hooks_ = std::make_unique<hook::Hooks>(std::move(setup_.hooks), std::move(around));
  bench_.hooks = hooks_.get();
  started_.emplace(setup_.loop);
  setup_.loop.Spawn(TellStart());
}

/// What hooks add is told to the model with the first message.
Task<void> Lane::TellStart() {
  const Pending<bool> started = *started_;
  hook::Occasion occasion =
      hook::OnSessionStart(setup_.fresh ? "startup" : "resume", bench_.model->model().FullName());
  const protocol::Stamp stamp;
  // Ignoring the error on purpose: the next append of a turn meets it as well.
  (void)co_await agent::FireHooks(bench_, stamp, std::move(occasion), title_cancel_.token());
  started.Set(true);
}

Task<void> Lane::AwaitStart() {
  if (!started_) co_return;
  const Pending<bool> started = *std::exchange(started_, std::nullopt);
  co_await started;
}

Task<void> Lane::TellEnd() {
  if (!hooks_) co_return;
  co_await AwaitStart();
  hook::Occasion occasion = hook::OnSessionEnd("other");
  const protocol::Stamp stamp;
  const CancelToken never;
  // Ignoring the error on purpose: closing the log meets it as well.
  (void)co_await agent::FireHooks(bench_, stamp, std::move(occasion), never);
  co_await hooks_->Finish();
}

}  // namespace stet::host
