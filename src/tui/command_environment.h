// CommandEnvironment: what a slash command of an interactive session works with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/device.h"
#include "client/inbox.h"
#include "client/live.h"
#include "client/scene/scene.h"
#include "client/sessions.h"
#include "face/console.h"
#include "face/waits.h"
#include "tui/live_view/live_view.h"

namespace stet::tui {

/// Something the user is asked. The prompt comes back when it is answered, or left with Escape.
struct Dialog {
  std::string id;      // What of the session it answers; empty: nothing.
  std::string prompt;  // One line; with `keys` it is broken where it is too wide.
  std::string keys;    // Answered by one of these keys; empty: by a line of text.
  std::function<void(const std::string&)> answered;
};

/// How an interactive session ends.
struct Leaving {
  int exit_code = 0;
  std::optional<std::string> next_session;  // Goes on with this one.
};

/// Everything referred to outlives it; calls come from the face's thread. A command never waits:
/// what it asks is answered in a function that Then is given, which may use it. What the session's
/// state is stands in the scene.
struct CommandEnvironment {
  client::LiveSession& session;
  client::Sessions& sessions;
  client::Device& device;
  LiveView& view;
  const face::Console& console;
  client::Inbox& inbox;
  face::Waits& waits;
  const client::Scene& scene;
  std::function<void(Dialog)> ask;
  std::function<void(std::string)> write;  // Puts a text into the prompt.
  std::function<void(Leaving)> leave;
  /// The host has accepted what begins this turn.
  std::function<void(const std::optional<std::string>& turn_id)> began;
  /// Lets the user pick one of them; nothing when none is.
  std::function<std::optional<std::string>(const std::vector<protocol::SessionSummary>&)>
      pick_session;

  /// An error as a note.
  void Complain(const Error& error) const { view.Note(error.Text(), face::Style::kRed); }

  /// The reply to a call: `next` gets the value, of a Status nothing; an error is shown instead.
  /// `what` is what the user is told to wait for.
  template <class F>
  auto Then(std::string_view what, F next) {
    return inbox.Then(
        [this, wait = waits.Begin(what), next = std::move(next)](auto answer) mutable {
          waits.End(wait);
          if (!answer) return Complain(answer.error());
          Pass(next, std::move(answer));
        });
  }

 private:
  template <class F, class T>
  static void Pass(F& next, Result<T> answer) {
    if constexpr (std::is_void_v<T>)
      next();
    else
      next(*std::move(answer));
  }
};

}  // namespace stet::tui
