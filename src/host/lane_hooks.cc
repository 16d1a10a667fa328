// What a lane has to do with hooks and extensions: it opens them, and tells them that the session
// begins and ends.
#include <algorithm>

#include <fmt/format.h>

#include "agent/extensions.h"
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
                            .variables = setup_.variables};
  hooks_ = std::make_unique<hook::Hooks>(std::move(setup_.hooks), std::move(around));
  bench_.hooks = hooks_.get();
  if (setup_.woken) return;
  started_.emplace(setup_.loop);
  setup_.loop.Spawn(TellStart());
}

/// Their tools join the session's; of two tools with one name the one that was added first stays.
Status Lane::OpenExtensions() {
  if (setup_.extensions.empty()) return {};
  const hook::ExtensionSession session{.loop = setup_.loop,
                                       .session_id = setup_.log->header().session_id,
                                       .project = setup_.workspace.project,
                                       .variables = setup_.variables};
  extensions_ = std::make_unique<hook::Extensions>(std::move(setup_.extensions), session,
                                                   agent::HostOf(bench_));
  bench_.extensions = extensions_.get();
  tool::ToolSource source{.name = "an extension"};
  source.tools = extensions_->MakeTools();
  RETURN_IF_ERROR(tools_.box().Add(std::move(source)));
  heard_ = setup_.log->Subscribe(
      [this, alive = std::weak_ptr<bool>(alive_)](const log::Published& what) {
        if (what.event == nullptr) return;
        for (const std::string& name : agent::NamesOf(*what.event)) {
          if (!extensions_->Hears(name)) continue;
          // From the loop: the log must not be called from here.
          setup_.loop.Post([this, alive, name, line = Raw{std::string(what.line)}] {
            if (!alive.expired()) extensions_->Tell(name, line);
          });
        }
      });
  extensions_->Tell("session_start", Raw{"{}"});
  return {};
}

Async<Result<std::string>> Lane::RunCommand(std::string name, std::string text,
                                            std::string client_id) {
  if (!extensions_) co_return Fail(Code::kNotFound, fmt::format("there is no /{}", name));
  const Result<hook::CommandReply> reply =
      co_await extensions_->RunCommand(std::move(name), std::move(text), title_cancel_.token());
  if (!reply) co_return std::unexpected(reply.error());
  if (!reply->prompt.empty()) {
    protocol::Send send;
    send.how = "send";
    send.text = reply->prompt;
    CO_RETURN_IF_ERROR(Send(send, client_id));
  }
  co_return reply->text;
}

/// What hooks add is told to the model with the first message.
Async<void> Lane::TellStart() {
  const Pending<bool> started = *started_;
  hook::Occasion occasion =
      hook::OnSessionStart(setup_.fresh ? "startup" : "resume", bench_.model->model().FullName());
  const protocol::Stamp stamp;
  // Ignoring the error on purpose: the next append of a turn meets it as well.
  (void)co_await agent::FireHooks(bench_, stamp, std::move(occasion), title_cancel_.token());
  started.Set(true);
}

Async<void> Lane::AwaitStart() {
  if (!started_) co_return;
  const Pending<bool> started = *std::exchange(started_, std::nullopt);
  co_await started;
}

Async<void> Lane::TellEnd(bool sleeps) {
  co_await AwaitStart();
  if (extensions_) {
    extensions_->Tell("session_end", Raw{"{}"});
    heard_ = log::Subscription();
    co_await extensions_->Close();
  }
  if (!hooks_ || sleeps) co_return;
  hook::Occasion occasion = hook::OnSessionEnd("other");
  const protocol::Stamp stamp;
  const CancelToken never;
  // Ignoring the error on purpose: closing the log meets it as well.
  (void)co_await agent::FireHooks(bench_, stamp, std::move(occasion), never);
  co_await hooks_->Finish();
}

}  // namespace stet::host
