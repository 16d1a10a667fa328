// Desk: what a command of an interactive session works with.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/live_view.h"
#include "cli/terminal.h"
#include "client/device.h"
#include "client/live.h"
#include "client/sessions.h"

namespace stet::cli {

/// Something the user is asked. The prompt comes back when it is answered, or left with Escape.
struct Dialog {
  std::string id;      // What of the session it answers; empty: nothing.
  std::string prompt;  // One line.
  std::string keys;    // Answered by one of these keys; empty: by a line of text.
  std::function<void(const std::string&)> answered;
};

/// How an interactive session ends.
struct Leaving {
  int exit_code = 0;
  std::optional<std::string> next_session;  // Goes on with this one.
};

/// Everything referred to outlives it; calls come from the face's thread.
struct Desk {
  client::LiveSession& session;
  client::Sessions& sessions;
  client::Device& device;
  LiveView& view;
  const Terminal& terminal;
  std::function<void(Dialog)> ask;
  std::function<void(std::string)> write;  // Puts a text into the prompt.
  std::function<void(Leaving)> leave;
  std::function<Result<std::optional<std::string>>()> pick_session;

  /// An error as a note.
  void Complain(const Error& error) const { view.Note(error.Text(), Style::kRed); }
};

}  // namespace stet::cli
