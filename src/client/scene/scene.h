// Scene: what a face shows of a session, folded from the events and transients that it hears. Each
// fold says what it changed, so a face draws what is new and nothing else.
//
// Pure: no clock, no thread, no disk; the same news in the same order make the same scene. It takes
// whatever comes, in any order and with gaps, and never fails: what does not fit what was heard
// before is shown as it stands in the event, which is the truth. Belongs to one thread.
//
// Bounded: the oldest items are let go beyond kMaxItems or kMaxBytes. A face that wants them again
// reads the log.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "client/scene/item.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/transient.h"

namespace stet::client {

class Scene {
 public:
  static constexpr std::size_t kMaxItems = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxTasks = 1024;
  static constexpr std::size_t kMaxWriting = 64;  // Messages.
  static constexpr std::size_t kMaxEnded = 64;    // Turns that are remembered to have ended.

  /// Where the session stands: when the face comes, and again when it may have missed something
  /// that no event says. The items stay.
  SceneChanges Begin(const protocol::LiveState& state);
  /// The host has accepted what begins this turn: it runs, unless its end was heard already.
  SceneChanges Began(const std::string& turn_id);
  SceneChanges Take(const protocol::Event& event);
  SceneChanges Take(const protocol::Transient& transient);

  /// In the order in which they are shown.
  [[nodiscard]] const std::deque<SceneItem>& items() const { return items_; }
  /// Null when it was dropped or let go.
  [[nodiscard]] const SceneItem* Find(std::uint64_t number) const;
  /// The call with this id; null when it is not known any more.
  [[nodiscard]] const CallItem* FindCall(std::string_view tool_call_id) const;

  /// Empty before Begin.
  [[nodiscard]] const SceneSession& session() const { return session_; }
  [[nodiscard]] const SceneTurn& turn() const { return turn_; }
  [[nodiscard]] const SceneSettings& settings() const { return settings_; }
  [[nodiscard]] const protocol::Asks& asks() const { return asks_; }
  [[nodiscard]] const protocol::QueueItems& follow_ups() const { return follow_ups_; }
  [[nodiscard]] const protocol::QueueItems& steers() const { return steers_; }
  /// In the order of their start.
  [[nodiscard]] const std::deque<protocol::TaskRow>& tasks() const { return tasks_; }
  /// Tokens of the last request and its reply; 0: not known.
  [[nodiscard]] std::int64_t used() const { return used_; }
  /// Micro-units: what model calls cost that were heard of.
  [[nodiscard]] std::int64_t price() const { return price_; }

 private:
  void On(const protocol::Event& event, const protocol::UserMessage& message);
  void On(const protocol::Event& event, const protocol::AssistantMessage& message);
  void On(const protocol::Event& event, const protocol::ToolResult& result);
  void On(const protocol::Event& event, const protocol::HarnessItem& item);
  void On(const protocol::Event& event, const protocol::Compaction& compact);
  void On(const protocol::Event& event, const protocol::Rewind& rewind);
  void On(const protocol::Event& event, const protocol::Branch& branch);
  void On(const protocol::Event& event, const protocol::FileFact& fact);
  void On(const protocol::Event& event, const protocol::QueueUpdate& update);
  void On(const protocol::Event& event, const protocol::Task& task);
  void On(const protocol::Event& event, const protocol::SessionInfo& info);
  void On(const protocol::Event& event, const protocol::ModelCall& call);

  void On(std::int64_t ts, const protocol::MessageStart& start);
  void On(std::int64_t ts, const protocol::TextDelta& delta);
  void On(std::int64_t ts, const protocol::ThinkingDelta& delta);
  void On(std::int64_t ts, const protocol::ToolCallDelta& delta);
  void On(std::int64_t ts, const protocol::ToolExecutionStart& start);
  void On(std::int64_t ts, const protocol::ToolExecutionUpdate& update);
  void On(std::int64_t ts, const protocol::ToolExecutionEnd& end);
  void On(std::int64_t ts, const protocol::MessageCancelled& cancelled);
  void On(std::int64_t ts, const protocol::TurnStart& start);
  void On(std::int64_t ts, const protocol::TurnEnd& end);
  void On(std::int64_t ts, const protocol::RuntimeStart& start);
  void On(std::int64_t ts, const protocol::RuntimeEnd& end);
  void On(std::int64_t ts, const protocol::Wait& wait);
  void On(std::int64_t ts, const protocol::Notice& notice);
  void On(std::int64_t, const protocol::BlockEnd&) {}
  void On(std::int64_t, const Raw&) {}  // Of a newer version.

  void NoteTurn(const protocol::Event& event);
  void NoteTurn(const std::string& turn_id);
  [[nodiscard]] bool HasEnded(const std::string& turn_id) const;
  void CloseTurn();

  /// A message that is being written: its items by block, and its calls by id.
  struct Writing {
    std::map<std::int64_t, std::uint64_t> replies;
    std::map<std::string, std::uint64_t> calls;
  };

  std::uint64_t Add(std::int64_t at, std::string event_id, decltype(SceneItem::what) what);
  /// Changes the item by `alter`, which gets it as a T; nothing when it was let go.
  template <class T, class Alter>
  void Change(std::uint64_t number, const Alter& alter);
  template <class T>
  [[nodiscard]] const T* Peek(std::uint64_t number) const;
  /// Bytes that count for kMaxBytes.
  static std::size_t SizeOf(const SceneItem& item);
  void Say(SceneChange::What what, std::uint64_t item = 0, std::size_t from = 0);
  void Drop(std::uint64_t number);
  void DropAll(const Writing& writing);
  void LetGo();
  SceneChanges Finish();

  void Grow(std::int64_t ts, const std::string& event_id, std::int64_t block,
            const ReplyItem& more);
  void KeepReply(std::uint64_t number, const std::string& text);
  void KeepCall(const protocol::Event& event, Writing& writing,
                const protocol::ToolCallBlock& block);
  [[nodiscard]] bool WasShown(const protocol::HarnessItem& item) const;
  [[nodiscard]] std::uint64_t CallNumber(std::string_view tool_call_id) const;
  [[nodiscard]] bool WasCalled(std::string_view tool_call_id) const;
  void EndCall(std::uint64_t number);
  void Do(Activity activity);
  void Set(const protocol::Event& event, std::string& setting, const protocol::OptionalText& value,
           MarkerItem::Kind kind);

  std::deque<SceneItem> items_;
  std::uint64_t last_number_ = 0;
  std::size_t bytes_ = 0;                   // Of all items, about.
  std::map<std::string, Writing> writing_;  // Messages that are not in the log yet, by event id.
  std::map<std::string, std::uint64_t, std::less<>> calls_;  // Those that have not ended, by id.
  SceneChanges changes_;                                     // Of the fold under way.
  bool begun_ = false;                                       // The settings are known.
  SceneSession session_;
  SceneTurn turn_;
  std::deque<std::string> ended_;  // Turns, the last one last.
  SceneSettings settings_;
  protocol::Asks asks_;
  protocol::QueueItems follow_ups_;
  protocol::QueueItems steers_;
  std::deque<protocol::TaskRow> tasks_;
  std::int64_t used_ = 0;
  std::int64_t price_ = 0;
};

template <class T>
const T* Scene::Peek(std::uint64_t number) const {
  const SceneItem* item = Find(number);
  return item == nullptr ? nullptr : std::get_if<T>(&item->what);
}

template <class T, class Alter>
void Scene::Change(std::uint64_t number, const Alter& alter) {
  const auto found = std::ranges::lower_bound(items_, number, {}, &SceneItem::number);
  if (found == items_.end() || found->number != number) return;
  T* what = std::get_if<T>(&found->what);
  if (what == nullptr) return;
  bytes_ -= SizeOf(*found);
  alter(*what);
  bytes_ += SizeOf(*found);
}

}  // namespace stet::client
