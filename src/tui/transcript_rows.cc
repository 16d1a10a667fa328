#include "tui/transcript_rows.h"

#include <string_view>

namespace stet::tui {
namespace {

constexpr std::size_t kAnyRows = 24;

std::string_view Words(client::Transcript::How how) {
  if (how == client::Transcript::How::kMore)
    return "much has happened since: what is between is left out (`stet sessions show` has it all)";
  return "the session was moved to another place since: what is above is not on its path any more; "
         "it stands here:";
}

}  // namespace

void ShowEvents(const client::Transcript::Rest& rest, client::Scene& scene, LiveView& view) {
  if (rest.how != client::Transcript::How::kGoesOn)
    view.Note(Words(rest.how), face::Style::kYellow);
  for (const protocol::Event& event : rest.events) {
    // The change that a call made is shown when it is made.
    if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload))
      view.MarkShown(result->tool_call_id);
    view.Apply(scene.Take(event));
  }
}

void ShowKept(client::Transcript& transcript, face::Console& console) {
  client::Transcript::Rest rest;
  rest.events = transcript.ShowKept(kShownEvents);
  if (rest.events.empty()) return;
  Screen screen(console.columns(), kAnyRows);
  client::Scene scene;
  LiveView view(screen, console, SystemClock(), scene);
  ShowEvents(rest, scene, view);
  screen.EndLine();
  // Ignoring the error on purpose: a terminal that is gone is noticed by what follows.
  (void)console.Print(screen.Take() + "\n");
}

}  // namespace stet::tui
