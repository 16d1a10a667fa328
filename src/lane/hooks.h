// LaneHooks: what a lane has to do with hooks and extensions: it opens them, and tells them that
// the session begins and ends.
//
// Owned by the lane. What they add goes to the log through agent/hooks and agent/extensions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "hook/extension/extensions.h"
#include "hook/hooks.h"
#include "log/log.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

struct LaneSetup;

class LaneHooks {
 public:
  /// `bench` outlives it.
  explicit LaneHooks(agent::Workbench& bench) : bench_(bench) {}

  /// Starts the extensions; their tools join the session's. Of two tools with one name the one that
  /// was added first stays.
  Status OpenExtensions(LaneSetup& setup);
  /// Hooks are told of the session, unless it was only asleep. From here on the lane must be closed
  /// before it is destroyed.
  void OpenHooks(LaneSetup& setup);

  /// Ends when hooks have heard that the session begins: what they add is owed by then.
  Async<void> AwaitStart();
  /// Whether they are being told so.
  [[nodiscard]] bool starting() const { return started_ && !started_->is_set(); }
  /// Ends what runs for the start and for commands.
  void Cancel() { cancel_.Cancel(); }
  /// The session ends, or only `sleeps`, of which hooks are not told.
  Async<void> TellEnd(bool sleeps);

  /// Of the extensions.
  [[nodiscard]] std::vector<std::string> Commands() const;
  /// kNotFound when there is none of that name.
  Async<Result<hook::CommandReply>> RunCommand(std::string name, std::string text);

 private:
  Async<void> TellStart(std::string how, Pending<bool> started);

  agent::Workbench& bench_;
  std::unique_ptr<hook::Hooks> hooks_;            // Null when there are none.
  std::unique_ptr<hook::Extensions> extensions_;  // Null when there are none.
  log::Subscription heard_;                       // By extensions.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  CancelSource cancel_;
  std::optional<Pending<bool>> started_;  // While hooks are told that the session begins.
};

}  // namespace stet::lane
