// The turn of a scene: which one runs, since when, and what it came to.
#include <algorithm>
#include <utility>

#include "client/scene/scene.h"

namespace stet::client {
namespace {

using What = SceneChange::What;

}  // namespace

SceneChanges Scene::Begin(const protocol::LiveState& state) {
  const std::string turn_id = state.turn_id.value_or("");
  const bool running = state.state != "idle";
  // What the turn before left open stays open: its results, and its end, are still to be heard.
  if (running && turn_id != turn_.turn_id) turn_ = SceneTurn();
  turn_.running = running;
  if (running) {
    turn_.turn_id = turn_id;
    std::erase(ended_, turn_id);
  }
  begun_ = true;
  session_ = {.session_id = state.session_id,
              .project = state.project,
              .cwd = state.cwd,
              .commands = state.commands};
  settings_.model = state.model;
  settings_.mode = state.mode;
  settings_.effort = state.effort;
  follow_ups_ = state.follow_ups;
  steers_ = state.steers;
  asks_ = protocol::OpenAsks(state);
  for (const What part : {What::kTurn, What::kSettings, What::kQueue, What::kAsks}) Say(part);
  return Finish();
}

SceneChanges Scene::Began(const std::string& turn_id) {
  if (turn_.running || HasEnded(turn_id)) return {};
  NoteTurn(turn_id);
  turn_.running = true;
  Say(What::kTurn);
  return Finish();
}

bool Scene::HasEnded(const std::string& turn_id) const {
  return !turn_id.empty() && std::ranges::find(ended_, turn_id) != ended_.end();
}

/// The turn is heard of, maybe for the first time: then it begins.
void Scene::NoteTurn(const std::string& turn_id) {
  if (turn_id == turn_.turn_id) return;
  turn_ = SceneTurn();
  turn_.turn_id = turn_id;
  turn_.whole = true;
}

/// A turn's first event stands in the log before the turn is told to run.
void Scene::NoteTurn(const protocol::Event& event) {
  if (!event.stamp.turn_id) return;
  const std::string& turn_id = *event.stamp.turn_id;
  if (!turn_.running && !HasEnded(turn_id)) NoteTurn(turn_id);
  if (turn_id != turn_.turn_id) return;
  const bool begins = turn_.whole || std::holds_alternative<protocol::UserMessage>(event.payload);
  if (turn_.began_at == 0 && begins) turn_.began_at = event.stamp.ts;
  turn_.heard_at = std::max(turn_.heard_at, event.stamp.ts);
}

/// Nothing of the turn goes on: what its transients left open has ended with it.
void Scene::CloseTurn() {
  turn_.running = false;
  writing_.clear();
  for (const auto& [id, number] : std::exchange(calls_, {})) EndCall(number);
}

/// Without a time of its own it is told late: something of the turn may have been missed. A turn
/// that was left and goes on is timed anew.
void Scene::On(std::int64_t ts, const protocol::RuntimeStart& start) {
  std::erase(ended_, start.turn_id);
  if (start.turn_id != turn_.turn_id) {
    NoteTurn(start.turn_id);
    turn_.whole = ts != 0;
  }
  if (ts != 0 || start.began_at) turn_.began_at = start.began_at.value_or(ts);
  turn_.running = true;
  turn_.activity = Activity();
  turn_.streamed_bytes = 0;
  Say(What::kTurn);
}

void Scene::On(std::int64_t ts, const protocol::RuntimeEnd& end) {
  if (HasEnded(end.turn_id)) return;
  if (ended_.size() == kMaxEnded) ended_.pop_front();
  ended_.push_back(end.turn_id);
  TurnItem item{.turn_id = end.turn_id, .reason = end.reason, .error = end.error.value_or("")};
  // The end of one turn may be told late, when the next one runs.
  const bool is_last = end.turn_id == turn_.turn_id || !turn_.running;
  if (end.turn_id == turn_.turn_id) {
    turn_.heard_at = std::max(turn_.heard_at, ts);
    if (turn_.began_at != 0)
      item.duration_ms = std::max<std::int64_t>(turn_.heard_at - turn_.began_at, 0);
    item.tokens_in = turn_.tokens_in;
    item.tokens_out = turn_.tokens_out;
    item.price = turn_.price;
    item.whole = turn_.whole;
  }
  if (is_last) CloseTurn();
  Add(ts, "", std::move(item));
  if (is_last) turn_ = SceneTurn();
  Say(What::kTurn);
}

}  // namespace stet::client
