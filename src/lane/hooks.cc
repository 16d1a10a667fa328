#include "lane/hooks.h"

#include <fmt/format.h>

#include "agent/extensions.h"
#include "agent/hooks.h"
#include "agent/session_tools.h"
#include "lane/setup.h"
#include "provider/provider.h"

namespace stet::lane {

void LaneHooks::OpenHooks(LaneSetup& setup) {
  if (setup.hooks.empty()) return;
  hook::Asker ask;
  if (bench_.auxiliary != nullptr) {
    ask = [this](std::string prompt, CancelToken cancel) {
      return agent::AskHookPrompt(bench_.log, *bench_.auxiliary, std::move(prompt),
                                  std::move(cancel));
    };
  }
  hook::Surroundings around{.loop = bench_.loop,
                            .http = &setup.models.http(),
                            .ask = std::move(ask),
                            .project = bench_.workspace.project,
                            .variables = setup.variables};
  hooks_ = std::make_unique<hook::Hooks>(std::move(setup.hooks), std::move(around));
  bench_.hooks = hooks_.get();
  if (setup.woken) return;
  started_.emplace(bench_.loop);
  bench_.loop.Spawn(TellStart(setup.fresh ? "startup" : "resume", *started_));
}

Status LaneHooks::OpenExtensions(LaneSetup& setup) {
  if (setup.extensions.empty()) return {};
  const hook::ExtensionSession session{.loop = bench_.loop,
                                       .session_id = bench_.log.header().session_id,
                                       .project = bench_.workspace.project,
                                       .variables = setup.variables};
  extensions_ = std::make_unique<hook::Extensions>(std::move(setup.extensions), session,
                                                   agent::HostOf(bench_));
  bench_.extensions = extensions_.get();
  tool::ToolSource source{.name = "an extension"};
  source.tools = extensions_->MakeTools();
  RETURN_IF_ERROR(bench_.tools.box().Add(std::move(source)));
  heard_ =
      bench_.log.Subscribe([this, alive = std::weak_ptr<bool>(alive_)](const log::Published& what) {
        if (what.event == nullptr) return;
        for (const std::string& name : agent::NamesOf(*what.event)) {
          if (!extensions_->Hears(name)) continue;
          // From the loop: the log must not be called from here.
          bench_.loop.Post([this, alive, name, line = Raw{std::string(what.line)}] {
            if (!alive.expired()) extensions_->Tell(name, line);
          });
        }
      });
  extensions_->Tell("session_start", Raw{"{}"});
  return {};
}

/// What hooks add is told to the model with the first message.
Async<void> LaneHooks::TellStart(std::string how, Pending<bool> started) {
  hook::Occasion occasion = hook::OnSessionStart(how, bench_.model->model().FullName());
  const protocol::Stamp stamp;
  // Ignoring the error on purpose: the next append of a turn meets it as well.
  (void)co_await agent::FireHooks(bench_, stamp, std::move(occasion), cancel_.token());
  started.Set(true);
}

Async<void> LaneHooks::AwaitStart() {
  if (!started_) co_return;
  const Pending<bool> started = *std::exchange(started_, std::nullopt);
  co_await started;
}

Async<void> LaneHooks::TellEnd(bool sleeps) {
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

std::vector<std::string> LaneHooks::Commands() const {
  std::vector<std::string> names;
  if (!extensions_) return names;
  for (const hook::ExtensionCommand& command : extensions_->commands())
    names.push_back(command.name);
  return names;
}

Async<Result<hook::CommandReply>> LaneHooks::RunCommand(std::string name, std::string text) {
  if (!extensions_) co_return Fail(Code::kNotFound, fmt::format("there is no /{}", name));
  co_return co_await extensions_->RunCommand(std::move(name), std::move(text), cancel_.token());
}

}  // namespace stet::lane
