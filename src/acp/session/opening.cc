// How a session is opened: attached, looked at, its history told, and the client answered.
#include <algorithm>

#include <fmt/format.h>

#include "acp/options.h"
#include "acp/session/answers.h"
#include "acp/session/session.h"
#include "base/fs.h"
#include "base/utf8.h"

namespace stet::acp {
namespace {

/// A larger file is not shown as what it was before.
constexpr std::size_t kMaxFileText = std::size_t{1} << 20;

std::optional<std::string> FileText(const std::string& path) {
  const Result<FileStat> stat = StatFile(path);
  if (!stat || !stat->is_file) return std::nullopt;
  Result<std::string> text = ReadFile(path, kMaxFileText);
  if (!text || !IsValidUtf8(*text)) return std::nullopt;
  return *std::move(text);
}

}  // namespace

void Session::Open(Asked asked, const protocol::Attach& attach, Opening opening) {
  if (opening_) return Wait({.asked = std::move(asked), .perform = nullptr, .opening = opening});
  if (life_ == Life::kClosing || life_ == Life::kOver) return asked.Refuse(NotOpen());
  opening_.emplace(std::move(asked), opening);
  if (life_ == Life::kOpen) return Prepare();
  made_ = !attach.session_id;
  setup_.attach(attach, {inbox_.Watcher(), editor_},
                Step([this](Result<std::unique_ptr<client::LiveSession>> hold) {
                  if (!hold) return FailOpening(hold.error());
                  Attached(*std::move(hold));
                }));
}

void Session::Attached(std::unique_ptr<client::LiveSession> hold) {
  hold_ = std::move(hold);
  life_ = Life::kOpen;
  if (ending_) return FailOpening({Code::kCancelled, "the connection has ended"});
  hold_->State(Step([this](const Result<protocol::LiveState>& state) {
    if (!state) return FailOpening(state.error());
    Identify(*state);
  }));
}

void Session::Identify(const protocol::LiveState& state) {
  if (state.session_id != setup_.session_id)  // The beginning of an id is none.
    return FailOpening({Code::kNotFound, fmt::format("there is no session {}", setup_.session_id)});
  state_ = state;
  AskModels();
}

/// Without the list only the model in use can be chosen.
void Session::AskModels() {
  setup_.models.List(Step([this](Result<protocol::ModelList> models) {
    if (models) models_ = *std::move(models);
    AskCost();
  }));
}

void Session::AskCost() {
  updates_.emplace(MakeSources());
  if (made_) return Prepare();
  setup_.sessions->Cost(setup_.session_id, Step([this](const Result<protocol::CostReport>& cost) {
                          if (cost) cost_ = cost->total.price;
                          Prepare();
                        }));
}

/// The history is told before anything else; what happens meanwhile waits in the inbox.
void Session::Prepare() {
  if (opening_->opening == Opening::kLoad)
    Replay();
  else
    Describe();
}

Updates::Sources Session::MakeSources() {
  return {.cwd = state_.cwd,
          .compactions = setup_.client.compactions,
          .blob = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = blobs_.find(name);
            if (found == blobs_.end()) return std::nullopt;
            return found->second;
          },
          .file_text = FileText};
}

void Session::Replay() {
  const auto history = std::make_shared<History>(
      [wake = aside_.Each<bool>([this](bool) { TellHistory(); })] { wake(true); });
  replaying_.emplace(Updates(MakeSources()), history, std::nullopt);
  setup_.history->Events(
      setup_.session_id, std::nullopt,
      [history](const protocol::Event& event) { return history->Put(event); },
      Step([this](const Status& read) {
        replaying_->read = read;
        TellHistory();
      }));
}

/// As much as is there, and as the client takes now.
void Session::TellHistory() {
  if (!opening_) return;
  while (replaying_ && fetching_ == 0 && setup_.output.has_room()) {
    const std::optional<protocol::Event> event = replaying_->history->Take();
    if (!event) {
      if (replaying_->read) FinishReplay();
      return;
    }
    const Updates::List blobs = replaying_->updates.BlobsOf(*event);
    if (blobs.empty()) {
      TellPast(*event);
      continue;
    }
    Fetch(blobs, [this, event = *event] {
      if (!replaying_) return;
      TellPast(event);
      TellHistory();
    });
  }
}

void Session::TellPast(const protocol::Event& event) {
  told_seq_ = std::max(told_seq_, event.seq);
  TellAll(replaying_->updates.Replay(event));
}

void Session::FinishReplay() {
  Replaying told = *std::move(replaying_);
  replaying_.reset();
  if (!*told.read) {
    // It stays open; only its history could not be told.
    opening_->asked.Refuse(told.read->error());
    opening_.reset();
    return DoLater();
  }
  updates_.emplace(std::move(told.updates));
  Describe();
}

void Session::Describe() {
  hold_->State(Step([this](Result<protocol::LiveState> state) {
    if (!state) return FailOpening(state.error());
    state_ = *std::move(state);
    window_ = state_.context_window;
    OpeningNow done = *std::move(opening_);
    opening_.reset();
    done.asked.Answer(Described(state_, done.opening == Opening::kNew));
    TellAfterOpening();
    DoLater();
  }));
}

void Session::TellAfterOpening() {
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "available_commands_update");
  WriteCommands(writer.Key("availableCommands"), state_.commands);
  writer.EndObject();
  Tell(update);
  for (const std::string& note : state_.notes) TellNotice("warning", note);
  TellUsage();
  AskOpen(state_);
}

std::string Session::Described(const protocol::LiveState& state, bool with_id) const {
  std::string result;
  JsonWriter writer(result);
  writer.BeginObject();
  if (with_id) writer.Member("sessionId", setup_.session_id);
  WriteModes(writer.Key("modes"), state);
  WriteOptions(writer.Key("configOptions"), state, models_);
  writer.EndObject();
  return result;
}

/// What waits behind the opening fails with it: the session is not open.
void Session::FailOpening(const Error& error) {
  opening_->asked.Refuse(error);
  opening_.reset();
  if (replaying_) replaying_->history->End();
  replaying_.reset();
  if (hold_)
    BeginClose([this](const Status&) { GetOver(); });
  else
    GetOver();
  DoLater();
}

}  // namespace stet::acp
